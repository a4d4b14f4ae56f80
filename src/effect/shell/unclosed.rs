//! A quote that is open at the end of the text: a second, small reader that answers only where there
//! is no other reading.
//!
//! bash reads a command whole before it runs any of it. Where a quote opens in the first line, in
//! front of which every character is plain, and no quote of its kind follows, bash reaches the end of the
//! text inside of it, reports the fault and has run nothing.

/// The quote that does not end, if bash surely runs nothing of this text because of it.
pub fn unclosed_quote(text: &str) -> Option<char> {
    let mut rest = text;
    loop {
        // Nothing here opens, ends or comments anything, or takes a text from the next lines.
        let plain = |c: char| c.is_alphanumeric() || " \t-_./:,@%+=;&|".contains(c);
        let at = rest.find(|c| !plain(c))?;
        let quote = match rest.as_bytes()[at] {
            b'\'' => '\'',
            b'"' => '"',
            _ => return None,
        };
        let inner = &rest[at + 1..];
        match inner.find(quote) {
            None => return Some(quote),
            // A closed string, if nothing in it can hold a quote of its own.
            Some(end) => {
                let string = &inner[..end];
                if string.contains('\n') || quote == '"' && string.contains(['\\', '$', '`', '!']) {
                    return None;
                }
                rest = &inner[end + 1..];
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::unclosed_quote;

    #[test]
    fn an_open_quote_has_no_other_reading() {
        for open in [
            "echo 'x",
            "echo \"x",
            "a 'b' \"c\" 'd; rm x\nrm y",
            "git commit -m \"$(cat <<'EOF'\nx\nEOF\n)",
            "rm -rf x; echo \"it's",
            "echo \"a\"b\"",
        ] {
            assert!(unclosed_quote(open).is_some(), "{open}");
        }
        for other in [
            "echo 'x'",
            "rm x\necho 'y",
            "rm x # it's",
            "rm x #\"",
            "cat <<'E\nE\nrm x",
            "cat <<E 'x\nE",
            "echo $'x",
            "echo $'a\\'b' 'x",
            "echo \\'x",
            "echo \\\"x",
            "echo \"a$(b \"c",
            "echo \"a\\\" 'b",
            "echo \"a`b\" 'c",
            "echo $(rm x 'y",
            "echo `rm x` 'y",
            "echo ${x:-'y",
            "(rm x) 'y",
            "{ rm x; } 'y",
            "echo x > 'y",
            "[[ x ]] 'y",
            "echo !\"x",
            "echo 'a\nb' 'c",
            "echo 'a'\nrm 'b",
            "",
            "ls",
        ] {
            assert_eq!(unclosed_quote(other), None, "{other}");
        }
    }
}
