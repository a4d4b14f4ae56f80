//! Command lines of hook entries, as far as a look at their words tells which program they start.

/// The name that own entries are known by.
pub const PROGRAM: &str = "hookctl";

/// Does the word stand in front of a program: a variable's assignment, or `exec`?
pub fn is_assignment(word: &str) -> bool {
    let name = word.split_once('=').map(|(name, _)| name);
    word == "exec"
        || name.is_some_and(|name| {
            !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
        })
}

/// Is that program hookctl, wherever it lies?
pub fn is_own_program(command: &str) -> bool {
    let name = command.rsplit(['/', '\\']).next().unwrap_or_default();
    name == PROGRAM || name.eq_ignore_ascii_case("hookctl.exe")
}

/// Does the command line start hookctl, as a POSIX shell or as Windows reads it?
pub fn starts_own_program(line: &str) -> bool {
    [line.to_string(), line.replace('\\', "/")].iter().any(|line| {
        let words = split_words(line);
        let mut words = words.iter().skip_while(|word| *word == "&" || is_assignment(word));
        words.next().is_some_and(|word| is_own_program(word))
    })
}

/// The words of a simple command line, quotes taken off.
pub fn split_words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (Some('"') | None, '\\') => {
                word.get_or_insert_default().extend(chars.next());
            }
            (None, '"' | '\'') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, c) if c.is_whitespace() => words.extend(word.take()),
            (_, c) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

/// What a command line tells a shell beside its first simple call: from the first operator on that is in no quotes. Where
/// errors go is no matter.
pub fn shell_tail(line: &str) -> Option<&str> {
    // PowerShell's sign of a call.
    let start = line.len() - line.trim_start().trim_start_matches('&').len();
    let mut quote = None;
    let mut before = ' ';
    let mut chars = line[start..].char_indices();
    while let Some((at, c)) = chars.next() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (Some('"') | None, '\\') => {
                chars.next();
            }
            (None, '"' | '\'') => quote = Some(c),
            (None, '>') if before == '2' => {
                // `2>&1` and `2>>`: what stands behind is a part of it.
                let rest = line[start + at..].trim_start_matches('>');
                let skip =
                    line[start + at..].len() - rest.len() - 1 + usize::from(rest.starts_with('&'));
                for _ in 0..skip {
                    chars.next();
                }
            }
            (None, ';' | '|' | '&' | '<' | '>' | '\n') => {
                let tail = line[start + at..].trim();
                return (!tail.is_empty()).then_some(tail);
            }
            _ => {}
        }
        before = c;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_behind_a_call_is_found() {
        for (line, tail) in [
            ("hookctl hook --timeout 30", None),
            ("hookctl hook --timeout 30; exit 0", Some("; exit 0")),
            ("hookctl hook || true", Some("|| true")),
            ("hookctl hook > /dev/null", Some("> /dev/null")),
            ("hookctl hook &", Some("&")),
            ("hookctl hook\nexit 0", Some("exit 0")),
            ("hookctl hook 2>/dev/null", None),
            ("hookctl hook 2>>log 2>&1", None),
            ("hookctl hook 2>log; exit 0", Some("; exit 0")),
            ("'/a;b/hookctl' hook --state \"/x|y\"", None),
            ("/a\\;b/hookctl hook", None),
            ("& 'C:/x y/hookctl.exe' hook", None),
        ] {
            assert_eq!(shell_tail(line), tail, "{line}");
        }
    }
}
