//! Which files an archive holds, as far as a bounded look tells: tar, also with gzip, and zip.

use crate::limits;

/// The size of a block of tar.
const BLOCK: usize = 512;

/// The names in the archive, none where that cannot be told; and whether a cap cut them short.
pub fn member_names(bytes: &[u8]) -> (Vec<String>, bool) {
    let (names, whole) = match bytes.get(..4) {
        Some([0x1f, 0x8b, ..]) => {
            decompress_gzip(bytes).map_or((Vec::new(), true), |(tar, whole)| (of_tar(&tar), whole))
        }
        Some([b'P', b'K', ..]) => (of_zip(bytes), true),
        _ => (of_tar(bytes), true),
    };
    let whole = whole && names.len() < limits::ARCHIVE_NAMES;
    (names, whole)
}

/// The content, and whether that is all of it.
fn decompress_gzip(bytes: &[u8]) -> Option<(Vec<u8>, bool)> {
    let flags = *bytes.get(3)?;
    let mut at = 10;
    if flags & 4 != 0 {
        at += 2 + usize::from(u16::from_le_bytes([*bytes.get(at)?, *bytes.get(at + 1)?]));
    }
    for _ in 0..(flags >> 3 & 1) + (flags >> 4 & 1) {
        at += bytes.get(at..)?.iter().position(|byte| *byte == 0)? + 1;
    }
    at += usize::from(flags & 2);
    let deflated = bytes.get(at..)?;
    match miniz_oxide::inflate::decompress_to_vec_with_limit(deflated, limits::ARCHIVE_CONTENT) {
        Ok(content) => Some((content, true)),
        // What came out before the limit still names files.
        Err(stopped) => Some((stopped.output, false)),
    }
}

fn of_tar(bytes: &[u8]) -> Vec<String> {
    let text = |part: &[u8]| {
        let end = part.iter().position(|byte| *byte == 0).unwrap_or(part.len());
        String::from_utf8_lossy(&part[..end]).into_owned()
    };
    let mut names = Vec::new();
    let mut long: Option<String> = None;
    let mut at = 0;
    while let Some(head) = bytes.get(at..at + BLOCK) {
        let size = text(&head[124..136]);
        let Ok(size) = usize::from_str_radix(size.trim(), 8) else { break };
        if head[0] == 0 || names.len() >= limits::ARCHIVE_NAMES {
            break;
        }
        let content = bytes.get(at + BLOCK..at + BLOCK + size).unwrap_or_default();
        match head[156] {
            b'L' => long = Some(text(content)),
            // pax: lines `27 path=NAME`.
            b'x' => {
                let own = String::from_utf8_lossy(content);
                let path = own.lines().find_map(|l| l.split_once(' ')?.1.strip_prefix("path="));
                long = path.map(str::to_string).or(long);
            }
            b'g' | b'K' => {}
            _ => {
                let (name, prefix) = (text(&head[..100]), text(&head[345..500]));
                let ustar = head[257..].starts_with(b"ustar") && !prefix.is_empty();
                let whole = if ustar { format!("{prefix}/{name}") } else { name };
                names.push(long.take().unwrap_or(whole));
            }
        }
        at += BLOCK + size.div_ceil(BLOCK) * BLOCK;
    }
    names
}

/// The names of the central directory, which stands at the end.
fn of_zip(bytes: &[u8]) -> Vec<String> {
    let short =
        |at: usize| Some(usize::from(u16::from_le_bytes([*bytes.get(at)?, *bytes.get(at + 1)?])));
    let mut names = Vec::new();
    let mut from = 0;
    while let Some(found) =
        memchr::memmem::find(bytes.get(from..).unwrap_or_default(), b"PK\x01\x02")
    {
        let at = from + found;
        let Some(len) = short(at + 28) else { break };
        let Some(name) = bytes.get(at + 46..at + 46 + len) else { break };
        names.push(String::from_utf8_lossy(name).into_owned());
        from = at + 46 + len;
        if names.len() >= limits::ARCHIVE_NAMES {
            break;
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_archive_holds_nothing() {
        for bytes in [&b""[..], b"PK", b"\x1f\x8b\x08\x00", &[0x41; 700], &[0xff; 2000]] {
            assert!(member_names(bytes).0.is_empty(), "{bytes:?}");
        }
    }
}
