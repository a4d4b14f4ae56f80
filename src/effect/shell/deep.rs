//! What the parser would take too long or too deep a stack for, told from the text before it is parsed.
//!
//! The parser counts how deep most things nest, and gives up; what it does not count is counted here. Quotes,
//! comments and heredocs are not known yet, so all counts are of more than there is.

use super::reread::takes_more_steps;
use crate::limits;

/// Why a text is not parsed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct TooDeep {
    pub(super) why: &'static str,
    /// The byte at which that is seen.
    at: usize,
}

/// Why the text is not parsed, where it is not.
pub(super) fn why_not(text: &str) -> Option<TooDeep> {
    let bytes = text.as_bytes();
    let told = |why| move |at| TooDeep { why, at };
    deepest_bracket(bytes)
        .map(told("brackets nested deeper than 64"))
        .or_else(|| last_of_chain(bytes).map(told("more than 200 brackets in one word")))
        .or_else(|| deep_words(text).map(told("commands nested deeper than 64")))
        .or_else(|| {
            takes_more_steps(text, limits::EXPANSION_STEPS)
                .map(told("expansions that stand too deep in each other"))
        })
}

/// So many lines are left out of a text that is not parsed as a whole.
const LEFT_OUT: usize = 4;

/// The parts of a text that can be parsed, where it cannot as a whole: without the lines at which that ends.
pub(super) fn readable_parts(text: &str) -> Vec<&str> {
    let (mut parts, mut rest) = (Vec::new(), text);
    for _ in 0..=LEFT_OUT {
        let Some(TooDeep { at, .. }) = why_not(rest) else {
            parts.push(rest);
            break;
        };
        let line = rest[..at].rfind('\n').map_or(0, |end| end + 1);
        parts.push(&rest[..line]);
        let Some((_, behind)) = rest[line..].split_once('\n') else { break };
        rest = behind;
    }
    parts.retain(|part| !part.trim().is_empty());
    parts
}

/// The lines of a text that hold so many words, and how many they hold: a command is three more, a substitution five.
/// What stands behind a `#` at the beginning of a line is a quarter.
pub(super) fn first_words(text: &str, most: usize) -> (usize, usize) {
    let (mut quarters, mut line, mut noted, mut before) = (0, 0, false, b'\n');
    for (at, byte) in text.bytes().enumerate() {
        let blank = matches!(before, b' ' | b'\t' | b'\n');
        quarters += match byte {
            b'\n' => {
                noted = false;
                line = at + 1;
                if before == byte { 0 } else { 8 }
            }
            b' ' | b'\t' => 0,
            b'#' if line == at => {
                noted = true;
                1
            }
            b';' | b'|' | b'&' | b'<' | b'>' | b'`' if before != byte => 8,
            b'(' if before == b'$' => 16,
            _ if noted => usize::from(blank),
            b'$' => 2 + if blank { 4 } else { 0 },
            _ if blank => 4,
            _ => 0,
        };
        before = byte;
        if quarters > 4 * most {
            let end = if line > 0 { line } else { at };
            return (text.floor_char_boundary(end), most);
        }
    }
    (text.len(), quarters.div_ceil(4))
}

/// Is there a word that may put what follows into a command of its own? A search for each of them
/// would cost more than most texts.
fn opens_run(bytes: &[u8]) -> bool {
    bytes.windows(2).enumerate().any(|(at, pair)| match pair {
        [b'(', b')' | b' '] | [b'\\', b'\n'] => true,
        [b't', b'i'] => bytes[at..].starts_with(b"time"),
        [b'c', b'o'] => bytes[at..].starts_with(b"coproc"),
        [b'f', b'u'] => bytes[at..].starts_with(b"function"),
        _ => false,
    })
}

/// The bracket that is open inside of too many others, quotes ignored: more than the parser's recursion has.
fn deepest_bracket(text: &[u8]) -> Option<usize> {
    let mut open = 0_usize;
    text.iter().position(|byte| {
        match byte {
            b'(' | b'{' | b'[' => open += 1,
            b')' | b'}' | b']' => open = open.saturating_sub(1),
            _ => {}
        }
        open > limits::OPEN
    })
}

/// The bracket that follows too many others with nothing between them that ends a word: `a(b)c(d)`.
fn last_of_chain(text: &[u8]) -> Option<usize> {
    memchr::memchr(b'(', text)?;
    let (mut behind, mut here) = (false, 0);
    text.iter().position(|byte| {
        match byte {
            b')' => behind = true,
            b'(' if behind => {
                behind = false;
                here += 1;
            }
            b' ' | b'\t' | b'\n' | b';' | b'|' | b'&' | b'<' | b'>' if behind => {
                behind = false;
                here = 0;
            }
            _ => {}
        }
        here > limits::CHAIN
    })
}

/// The line with which too many words stand one inside the other's command. A text of joined lines is one.
fn deep_words(text: &str) -> Option<usize> {
    if !opens_run(text.as_bytes()) {
        return None;
    }
    let joined = text.contains("\\\n").then(|| text.replace("\\\n", ""));
    let mut run = NestingWalk { armed: true, ..NestingWalk::default() };
    let mut at = 0;
    for line in joined.as_deref().unwrap_or(text).split_inclusive('\n') {
        run.read_line(line);
        if run.most > limits::RUN || run.all > limits::RUNS {
            return Some(if joined.is_some() { 0 } else { at });
        }
        at += line.len();
    }
    None
}

/// A walk over the words of a text.
#[derive(Default)]
struct NestingWalk {
    /// A command may begin here.
    armed: bool,
    /// The last word stands where a command begins: `()` makes it a function's name.
    head: bool,
    /// The last thing was a bracket that closes: a command ends here, or a case begins.
    closed: bool,
    /// How many words are around what comes.
    around: usize,
    /// The most of them, and all that were inside others.
    most: usize,
    all: usize,
    /// A name or a file follows, and then goes on what was before.
    named: bool,
}

impl NestingWalk {
    fn read_line(&mut self, line: &str) {
        for word in line.split_whitespace() {
            if word.starts_with('#') {
                break;
            }
            for piece in word.split_inclusive(['(', ')', '{', '}', ';', '|', '&', '`']) {
                self.read_piece(piece);
            }
        }
        // A word with nothing behind it takes the next line.
        if !self.armed || self.closed {
            self.around = 0;
        }
        self.armed = true;
    }

    fn read_piece(&mut self, piece: &str) {
        let end = piece.as_bytes().last().copied().unwrap_or_default();
        let bare = piece.trim_end_matches(['(', ')', '{', '}', ';', '|', '&', '`']);
        self.head &= bare.is_empty();
        self.closed = false;
        match bare {
            "" => {}
            _ if std::mem::take(&mut self.named) => self.armed = true,
            "time" | "coproc" if self.armed => self.enter_word(),
            "function" if self.armed => {
                self.enter_word();
                self.named = true;
            }
            "time" | "coproc" | "function" | "!" | "then" | "do" | "else" | "if" | "elif"
            | "while" | "until" => self.armed = true,
            _ if bare.starts_with('-') && self.armed => {}
            // A redirection, and maybe its file.
            _ if bare.contains(['<', '>']) => self.named = bare.ends_with(['<', '>']),
            _ => {
                self.head = self.armed;
                self.armed = false;
            }
        }
        match end {
            b';' | b'&' => (self.around, self.armed, self.named) = (0, true, false),
            // `f()`: what stands between is nothing.
            b')' if bare.is_empty() && std::mem::take(&mut self.head) => {
                self.enter_word();
                self.armed = true;
            }
            b'(' if bare.is_empty() => {}
            b'(' => self.armed = bare.ends_with(['$', '<', '>', '=']),
            b'{' | b'|' => self.armed = true,
            b')' | b'}' | b'`' => (self.armed, self.closed) = (true, true),
            _ => {}
        }
    }

    fn enter_word(&mut self) {
        self.all += usize::from(self.around > 0);
        self.around += 1;
        self.most = self.most.max(self.around);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nests_without_the_parsers_count_is_counted() {
        for one in [
            "time ",
            "time\n",
            "time #x\n",
            "time \\\n",
            "ti\\\nme ",
            "time -p ",
            "time -p\n",
            "! time ",
            "time ! ",
            "time >x ",
            "time > x ",
            "time a|",
            "time a | ",
            "time time|",
            "coproc ",
            "coproc\n",
            "coproc a|",
            "coproc a | ",
            "f() ",
            "f()\n",
            "f ()\n",
            "f ( ) ",
            "f( )\n",
            "function f\n",
            "function f ",
            "function f() ",
            "f() time ",
            "time f() ",
            "if time ",
            "then time ",
            "time\n\n",
            "f() #x\n",
        ] {
            assert!(why_not(&one.repeat(400)).is_some(), "{one:?}");
            assert!(why_not(&format!("echo $({}a)", one.repeat(400))).is_some(), "{one:?}");
        }
        for one in
            ["(a)", "a(b)", "(a b)", "(a b)x", "(a;b)", "(a\n)", "[a](b)", "(#i)", "^(a)", "{a}(b)"]
        {
            assert!(why_not(&one.repeat(400)).is_some(), "{one:?}");
        }
    }

    #[test]
    fn the_lines_around_one_that_is_too_deep_are_read() {
        let deep = format!("echo {}\n", "{".repeat(80));
        assert_eq!(readable_parts(&format!("a\nb\n{deep}c\n")), ["a\nb\n", "c\n"]);
        assert_eq!(readable_parts(&format!("{deep}{deep}c")), ["c"]);
        assert_eq!(readable_parts(&format!("a\n{deep}")), ["a\n"]);
        assert_eq!(readable_parts(deep.trim()), [""; 0]);
        assert_eq!(readable_parts(&deep.repeat(9)), [""; 0]);
    }

    #[test]
    fn a_text_is_cut_behind_a_line() {
        let words = |text: &str, most| first_words(text, most);
        assert_eq!(words("", 10), (0, 0));
        assert_eq!(words("rm a b\n", 10), (7, 5));
        assert_eq!(words(&"rm a b\n".repeat(9), 20).0, 28);
        assert_eq!(words(&"# a note of words\n".repeat(9), 40).0, 162);
        assert_eq!(words(&"\u{e9} ".repeat(99), 20).0 % 3, 0);
        for one in ["a ", "a\n", "a;", "$(a) ", "$a ", "a|", "`a` ", "#a\n", "#a a a "] {
            assert!(words(&one.repeat(20_000), 1000).0 < 20_000, "{one}");
        }
    }

    #[test]
    fn what_people_write_is_not() {
        for one in [
            "time make; ",
            "time make\n",
            "time make &\n",
            "from time to time it takes more time\n",
            "f() { a; }\n",
            "f() {\n a\n}\n",
            "function f {\n a\n}\n",
            "foo(a).bar(b).baz(c);\n",
            "$(a) ",
            "\"$(a)\" \"$(b)\"\n",
            "def f():\n    return g()\n\n",
            "(cd a && make)\n",
            "if f(a) {\n g();\n}\n",
            "time (a)\n",
            "f() { time a; }\n",
            "timeout 5 a\n",
            "case a in\n a) time b;;\nesac\n",
            "x = f()\nprint(x)\n",
        ] {
            assert_eq!(why_not(&one.repeat(200)), None, "{one:?}");
        }
    }
}
