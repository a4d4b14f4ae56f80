//! Where `${...}` ends, as shells read it. The parser counts the braces of an operand and takes its apostrophes for quotes
//! of their own: in a string it may so take the end of the string, and commands behind it, for text.

use super::marks::marks_from;
use crate::limits;

/// Where shells end a parameter, against where the parser does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ends {
    /// All of them there.
    There,
    /// One of them so that braces and plain letters stand beside it: `"${x:-{}}"`.
    BesideBrace,
    /// One of them elsewhere, or nobody knows.
    Elsewhere,
}

/// Where the parameter ends that the text begins with: the parser says behind so many bytes.
pub fn compare_ends(text: &str, parsed: usize, in_string: bool) -> Ends {
    let readings = match in_string {
        true => [Reading::Bash, Reading::ZshString],
        false => [Reading::Bash, Reading::ZshBare],
    };
    // `${${x:t}%.*}` is zsh's alone, and nobody knows what it is.
    let nested = text.starts_with("${${");
    let plain = |c: char| match nested {
        true => !c.is_whitespace() && !"\"'`\\$;&|<>()".contains(c),
        false => matches!(c, '{' | '}' | ',') || c.is_alphanumeric(),
    };
    let compare = |reading| {
        let end = parameter_end(text, reading);
        if !limits::spend_steps(end.unwrap_or(text.len())) {
            return Ends::Elsewhere;
        }
        match end {
            Ok(end) if end == parsed => Ends::There,
            Ok(end) => match text.get(end.min(parsed)..end.max(parsed)) {
                Some(between) if between.chars().all(plain) => Ends::BesideBrace,
                _ => Ends::Elsewhere,
            },
            Err(Unended::Open) => Ends::There,
            Err(Unended::Unsure) => Ends::Elsewhere,
        }
    };
    readings.into_iter().map(compare).max().unwrap_or(Ends::There)
}

/// Who reads an operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reading {
    /// bash: apostrophes quote, and braces are letters.
    Bash,
    /// zsh in a string, and `sh` there: apostrophes are letters as well.
    ZshString,
    /// zsh elsewhere: apostrophes quote, and braces are counted.
    ZshBare,
}

/// Why a parameter has no end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unended {
    /// The text ends in it: a fault, and the shell runs none of the command.
    Open,
    /// What stands in it was not followed.
    Unsure,
}

/// The end of the parameter that the text begins with, behind its `}`.
fn parameter_end(text: &str, reading: Reading) -> Result<usize, Unended> {
    inner_end(text, 0, reading, 0)
}

fn inner_end(text: &str, start: usize, reading: Reading, depth: usize) -> Result<usize, Unended> {
    let bytes = text.as_bytes();
    let mut at = start + "${".len();
    let mut quoted = false;
    let mut open = 0_usize;
    if depth >= limits::OPEN {
        return Err(Unended::Unsure);
    }
    loop {
        match *bytes.get(at).ok_or(Unended::Open)? {
            b'\\' => at += 1,
            b'$' => {
                at += 1;
                match bytes.get(at) {
                    Some(b'{') => at = inner_end(text, at - 1, reading, depth + 1)? - 1,
                    Some(b'(') => at = substitution_end(text, at).ok_or(Unended::Unsure)?,
                    // `$$` is the number of the process.
                    Some(b'$') => {}
                    _ => continue,
                }
            }
            b'"' => quoted = !quoted,
            b'\'' if !quoted && reading != Reading::ZshString => {
                let inner = &bytes[at + 1..];
                let end = inner.iter().position(|byte| *byte == b'\'').ok_or(Unended::Open)?;
                at += 1 + end;
            }
            b'`' => at = substitution_end(text, at).ok_or(Unended::Unsure)?,
            b'{' if !quoted && reading == Reading::ZshBare => open += 1,
            b'}' if !quoted && open > 0 => open -= 1,
            b'}' if !quoted => return Ok(at + 1),
            _ => {}
        }
        at += 1;
    }
}

/// The last byte of the substitution that opens here.
fn substitution_end(text: &str, at: usize) -> Option<usize> {
    let mut marks = marks_from(text, at);
    loop {
        let (at, ..) = marks.next()?;
        if marks.is_closed() {
            return Some(at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Reading, Unended, parameter_end};

    #[test]
    fn a_parameter_ends_where_shells_end_it() {
        for (text, bash, zsh) in [
            ("${x}", "${x}", "${x}"),
            ("${x-{}\"; rm y; echo \"}\"", "${x-{}", "${x-{}"),
            ("${x-{a,${y}}\"; rm z; \"}\"", "${x-{a,${y}}", "${x-{a,${y}}"),
            ("${x:-{}}", "${x:-{}", "${x:-{}"),
            ("${x-\"}\"}\"", "${x-\"}\"}", "${x-\"}\"}"),
            ("${x-\\}}\"", "${x-\\}}", "${x-\\}}"),
            ("${x-$(echo })}\"", "${x-$(echo })}", "${x-$(echo })}"),
            ("${x-`echo }`}\"", "${x-`echo }`}", "${x-`echo }`}"),
            ("${x#'}\"; rm y; echo \"'}\"", "${x#'}\"; rm y; echo \"'}", "${x#'}"),
            ("${x-${y-{}}\"", "${x-${y-{}}", "${x-${y-{}}"),
            ("${x-$${}\"}", "${x-$${}", "${x-$${}"),
            ("${x-$}\"}", "${x-$}", "${x-$}"),
        ] {
            let end = |reading| parameter_end(text, reading).map(|end| &text[..end]);
            assert_eq!(end(Reading::Bash), Ok(bash), "{text}");
            assert_eq!(end(Reading::ZshString), Ok(zsh), "{text}");
        }
        assert_eq!(parameter_end("${x-{a} b} c}", Reading::ZshBare), Ok("${x-{a} b}".len()));
        for (open, why) in [
            ("${x", Unended::Open),
            ("${x-{", Unended::Open),
            ("${x-\"}", Unended::Open),
            ("${x-'}", Unended::Open),
            ("${x-\\", Unended::Open),
            ("${x-$(}", Unended::Unsure),
            ("${x-$(a # b)}", Unended::Unsure),
        ] {
            assert_eq!(parameter_end(open, Reading::Bash), Err(why), "{open}");
        }
    }
}
