//! How much work expansions that stand in each other make for the parser, told before it is asked.
//!
//! Where a `$(` in a `${` does not end, the parser takes it for letters and reads on behind it: what follows is read
//! once more. So the work doubles with each level. This reads in the same way, but counts its steps and gives up.

use memchr::memmem;

use crate::limits;

/// The expansion for which the parser needs more than so many steps, with all in front of it.
pub(super) fn takes_more_steps(text: &str, most: usize) -> Option<usize> {
    let text = text.as_bytes();
    let mut reader = Reader { text, left: most };
    let mut at = 0;
    // Whether a quote or a comment is around it is not known here: each may be an expansion.
    while let Some(next) = memmem::find(&text[at..], b"${") {
        let inner = at + next + 2;
        at = reader.read_parameter(inner, Around::default(), 1).unwrap_or(inner);
        if reader.left == 0 {
            return Some(inner - 2);
        }
    }
    None
}

/// So deep in one command does the parser read a parameter that does not end as letters; below that all does not end.
const RETRIED: usize = 4;

/// What is around a place.
#[derive(Clone, Copy, Default)]
struct Around {
    /// Parameters and commands: so deep is this reader's own stack.
    all: usize,
    /// Parameters whose text is read several times: with a part, an index or a pattern in it.
    parts: usize,
}

/// What brackets are around.
#[derive(Clone, Copy, PartialEq)]
enum Brackets {
    /// `$(...)`
    Command,
    /// `$((...))`
    Arithmetic,
}

struct Reader<'t> {
    text: &'t [u8],
    /// The steps that may still be taken.
    left: usize,
}

impl Reader<'_> {
    /// The byte at a place, for as many steps as the parser takes there. By experiment they grow with the third power
    /// of the parameters that are read several times.
    fn read_byte(&mut self, at: usize, around: Around) -> Option<u8> {
        let steps = 1 + 16 * around.parts.saturating_sub(1).pow(3);
        self.left = self.left.saturating_sub(steps);
        self.text.get(at).copied().filter(|_| self.left > 0 && around.all <= limits::OPEN)
    }

    fn begins(&self, at: usize, sign: &[u8]) -> bool {
        self.text[at..].starts_with(sign)
    }

    /// Is the parameter whose text begins here one that is read several times: `${x/a/b}`, `${x:1:2}`, `${x[1]}`?
    fn has_parts(&self, at: usize) -> bool {
        let name = |byte: &u8| byte.is_ascii_alphanumeric() || b"_@*#?!".contains(byte);
        let text = &self.text[at..];
        match &text[text.iter().position(|byte| !name(byte)).unwrap_or(text.len())..] {
            [b'/' | b'[' | b'^' | b',', ..] => true,
            [b':', behind, ..] => !b"-=+?".contains(behind),
            _ => false,
        }
    }

    /// The end of a parameter whose text begins here: behind its `}`. None = it does not end. `inside` = which one it is
    /// in its command, from 1.
    fn read_parameter(&mut self, mut at: usize, around: Around, inside: usize) -> Option<usize> {
        let around =
            Around { all: around.all + 1, parts: around.parts + usize::from(self.has_parts(at)) };
        let mut quote = None;
        loop {
            let byte = self.read_byte(at, around)?;
            let literal = matches!(quote, Some(b'\'' | b'`'));
            let next = match byte {
                b'\\' if quote != Some(b'\'') => Some(at + 2),
                b'$' if !literal && self.begins(at, b"${") => {
                    let end = self.read_parameter(at + 2, around, inside + 1);
                    if end.is_none() && inside >= RETRIED {
                        return None;
                    }
                    end
                }
                b'$' if !literal && self.begins(at, b"$((") => {
                    self.read_brackets(at + 3, around, Brackets::Arithmetic)
                }
                b'$' if !literal && self.begins(at, b"$(") => {
                    self.read_brackets(at + 2, around, Brackets::Command)
                }
                b'<' | b'>' if quote.is_none() && self.text.get(at + 1) == Some(&b'(') => {
                    self.read_brackets(at + 2, around, Brackets::Command)
                }
                b'}' if quote.is_none() => return Some(at + 1),
                b'\'' | b'"' | b'`' if quote.is_none() => {
                    quote = Some(byte);
                    None
                }
                byte if quote == Some(byte) => {
                    quote = None;
                    None
                }
                _ => None,
            };
            // What does not end is letters.
            at = next.unwrap_or(at + 1);
        }
    }

    /// The end of what stands in brackets: behind its `)`. None = it does not end, or what could hide its end is in it.
    fn read_brackets(&mut self, mut at: usize, around: Around, sort: Brackets) -> Option<usize> {
        let around = Around { all: around.all + 1, ..around };
        let command = sort == Brackets::Command;
        let (mut quoted, mut open) = (false, if command { 1 } else { 2 });
        loop {
            let inner = match self.read_byte(at, around)? {
                b'$' if self.begins(at, b"${") => Some(self.read_parameter(at + 2, around, 1)),
                b'$' if self.begins(at, b"$((") && !command => {
                    Some(self.read_brackets(at + 3, around, Brackets::Arithmetic))
                }
                b'$' if self.begins(at, b"$(") && !self.begins(at, b"$((") => {
                    Some(self.read_brackets(at + 2, around, Brackets::Command))
                }
                _ => None,
            };
            match inner {
                Some(Some(end)) => at = end,
                // In arithmetic what does not end is letters as well.
                Some(None) if command => return None,
                _ => at = self.read_sign(at, around, command, &mut quoted, &mut open)?,
            }
            if open == 0 {
                return Some(at);
            }
        }
    }

    /// The place behind a sign in brackets.
    fn read_sign(
        &mut self,
        at: usize,
        around: Around,
        command: bool,
        quoted: &mut bool,
        open: &mut usize,
    ) -> Option<usize> {
        match self.text[at] {
            b'\\' => return Some(at + 2),
            b'"' => *quoted = !*quoted,
            _ if *quoted => {}
            b'\'' | b'`' => return self.skip_quoted(at, around),
            // Comments, documents and the patterns of `case` hold brackets of their own.
            b'#' if command && matches!(self.text[at - 1], b' ' | b'\t' | b'\n' | b';' | b'(') => {
                return None;
            }
            b'<' if command && self.begins(at, b"<<") => return None,
            b'c' if command && self.begins(at, b"case") => return None,
            b'(' => *open += 1,
            b')' => *open -= 1,
            _ => {}
        }
        Some(at + 1)
    }

    /// Behind the quote that ends what the one at this place begins.
    fn skip_quoted(&mut self, from: usize, around: Around) -> Option<usize> {
        let quote = self.text[from];
        let mut at = from + 1;
        loop {
            at = match self.read_byte(at, around)? {
                b'\\' if quote == b'`' => at + 2,
                byte if byte == quote => return Some(at + 1),
                _ => at + 1,
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::EXPANSION_STEPS as MOST;

    /// The text is told by itself and behind the beginning of a document.
    fn assert_told(text: &str, document: &str) {
        for text in [text, &format!("{document}{text}")] {
            assert!(takes_more_steps(text, MOST).is_some(), "{text:?}");
        }
    }

    #[test]
    fn what_the_parser_would_read_for_seconds_is_told() {
        for one in [
            "${x/$(echo ",
            "${x/<(cat ",
            "${x:-$(rm -r c",
            "${x#\"$(a ",
            "${x/$(echo ')' ",
            "${x/$(echo \")\" ",
            "${x/$(echo `)` ",
            "${x/$(case x in a) ",
            "${x/$(a # )\n",
            "${x/$(a <<E\n)\nE\n",
            "${x/$(a \\) ",
            "${x/'}'$(a ",
            "'${x/'$(a ",
        ] {
            assert_told(&one.repeat(14), "cat <<'E'\nit's\n");
        }
        for one in ["${x/a/", "${x:1:", "${x[", "${x/a/${y[$(a)]:-"] {
            assert!(takes_more_steps(&one.repeat(60), MOST).is_some(), "{one:?}");
            assert!(
                takes_more_steps(&format!("{}{}", one.repeat(60), "}".repeat(60)), MOST).is_some()
            );
            let wide = format!("{one}{}", "a".repeat(4000));
            assert!(takes_more_steps(&wide.repeat(8), MOST).is_some(), "{one:?}");
        }
        for one in [
            "a=(${x",
            "${x:-\"",
            "${(f)x:-\"${y:-a",
            "${x:-x=1; \"#",
            "a=(${x#$((",
            "$(($(echo ${x",
        ] {
            assert_told(&one.repeat(60), "cat <<E\n");
            assert_told(&format!("{}\nE", one.repeat(60)), "cat <<E\n");
        }
    }

    #[test]
    fn what_people_write_is_read() {
        for one in [
            "${x:-$(git config ${y:-$(pwd)/${z%.*}} \"it's\")} ",
            "\"${1:?\"usage: $(basename \"$0\")\"}\"\n",
            "sed 's/\\${x}/$(y)/' z\n",
            "`${a ? 'x' : \"it's\"} ${b.map(c => `<li>${c}</li>`)}`\n",
            "$(\"#a\").html(`${$(b).text()}`);\n",
            "${x//\\$(a)/b}",
            "${{ github.event.inputs.x }}\n",
        ] {
            assert_eq!(takes_more_steps(&one.repeat(200), MOST), None, "{one:?}");
        }
        // What does not end is read again and again, but there are few of them.
        let text = "if line.startswith('${'): name = line[2:]\n".repeat(10);
        let text = format!("{text}{}", "x = f(y)\n".repeat(100));
        assert_eq!(takes_more_steps(&text, MOST), None);
    }
}
