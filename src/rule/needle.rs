//! What every path that a pattern names has in common, as one short text: so that a rule is only read where
//! it could matter. Shared with the build, which writes it for the shipped rules.

/// Where the paths begin (`/etc`, `~/.ssh`, `./.git`; with `/.` behind it: that directory itself),
/// and behind a `*` what stands somewhere in them. Patterns that hold at any depth begin nowhere:
/// `*.pem`. What is on a drive is told by its colon.
pub fn path_needle(pattern: &str) -> String {
    let mut parts = pattern.split('/');
    let first = parts.next().unwrap_or_default();
    if first.ends_with(':') {
        return "*:".into();
    }
    let plain = |part: &str| !part.contains(['*', '?', '[', '\\']);
    let based = matches!(first, "" | "~" | ".");
    let mut start = if based { first.to_string() } else { String::new() };
    let mut rest: Vec<&str> = if based { parts.collect() } else { pattern.split('/').collect() };
    let itself = rest.last() == Some(&".");
    rest.retain(|part| !matches!(*part, "" | "."));
    if based {
        let leading = rest.iter().take_while(|part| plain(part)).count();
        for part in rest.drain(..leading) {
            start.push('/');
            start.push_str(part);
        }
        if rest.is_empty() {
            return if itself { start + "/." } else { start };
        }
    }
    // A directory that is touched as a whole may be the pattern's parent: its name has to do.
    let named = rest.last().is_some_and(|last| plain(last));
    if !based && named && rest.len() > 1 && !rest.contains(&"**") {
        rest.pop();
    }
    let run = rest
        .iter()
        .filter(|part| !part.contains('\\'))
        .flat_map(|part| around_brackets(part))
        .flat_map(|part| part.split(['*', '?']))
        .max_by_key(|run| run.len())
        .unwrap_or_default();
    format!("{start}*{run}")
}

/// What stands before the first bracket of a part, and behind the last: whatever the brackets hold, that is text.
fn around_brackets(part: &str) -> [&str; 2] {
    let (before, rest) = part.split_once('[').unwrap_or((part, ""));
    [before, rest.rsplit_once(']').map_or("", |(_, behind)| behind)]
}

/// Needles, one behind the other: of each how long its beginning is, and what stands behind its `*`, as an ASCII character,
/// then both. What begins so begins with less of it as well.
pub fn pack_needles<'n>(needles: impl IntoIterator<Item = &'n str>) -> String {
    let mut out = String::new();
    for needle in needles {
        let (start, run) = needle.split_once('*').unwrap_or((needle, ""));
        let parts = [start, run].map(cut_part);
        out.extend(parts.iter().map(|part| char::from(part.len() as u8)));
        parts.iter().for_each(|part| out.push_str(part));
    }
    out
}

/// As much of it as is packed. A cut leaves no `/.` at its end, which would say that nothing below is meant.
fn cut_part(part: &str) -> &str {
    match part.floor_char_boundary(i8::MAX as usize) {
        end if end < part.len() => part[..end].trim_end_matches("/."),
        _ => part,
    }
}

/// Each with its two parts; None for what is damaged.
pub fn unpack_needles(packed: &str) -> impl Iterator<Item = Option<(&[u8], &[u8])>> {
    let mut rest = packed.as_bytes();
    std::iter::from_fn(move || {
        let read = (!rest.is_empty()).then(|| split_needle(rest))?;
        rest = read.map_or(&[], |(_, left)| left);
        Some(read.map(|(needle, _)| needle))
    })
}

/// The first needle, and what follows it.
type First<'t> = ((&'t [u8], &'t [u8]), &'t [u8]);

fn split_needle(packed: &[u8]) -> Option<First<'_>> {
    let ([start, run], rest) = packed.split_first_chunk()?;
    let (start, rest) = rest.split_at_checked(usize::from(*start))?;
    let (run, rest) = rest.split_at_checked(usize::from(*run))?;
    Some(((start, run), rest))
}
