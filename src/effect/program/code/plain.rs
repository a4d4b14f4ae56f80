//! Inline programs that only read what they open, compute and print: every name in them is one that is known to do no more. What
//! they open is told by effects, as of any program.
//!
//! It is a list of what is good, never of what is bad: a call, a member or a module that nobody named makes the program code.

use super::lex::{self, Lang, Token, TokenKind};
use crate::names::plain;

/// The modules that such a program may import, by the names that files of the same name would have.
pub fn modules() -> impl Iterator<Item = &'static str> {
    plain::MODULES.iter().copied().filter(|name| name.starts_with(|c: char| c.is_ascii_lowercase()))
}

/// Does the program do nothing but what its effects tell?
pub fn is_plain(lang: Lang, text: &str) -> bool {
    let words = match lang {
        Lang::Python => Words {
            called: plain::WORDS,
            members: plain::MEMBERS,
            hidden: plain::HIDDEN,
            script: false,
        },
        Lang::Js => Words {
            called: plain::SCRIPT_WORDS,
            members: plain::SCRIPT_MEMBERS,
            hidden: plain::SCRIPT_HIDDEN,
            script: true,
        },
        _ => return false,
    };
    if hides_lines(text) {
        return false;
    }
    let (tokens, good) = lex::read_tokens(lang, text);
    good && (0..tokens.len()).all(|at| words.are_kept(&tokens, at))
        && imports_known(&tokens, words.script)
}

/// Could the language read other lines, names or texts than are seen here: by line ends of its own, by an encoding that a comment
/// names, or by text in text?
fn hides_lines(text: &str) -> bool {
    let mut first = text.lines().take(2);
    let formats =
        ["f\"", "f'", "F\"", "F'", "fr\"", "fr'", "`"].iter().any(|mark| text.contains(mark));
    let mut holes = text.split('{').skip(1).map(|rest| rest.split('}').next().unwrap_or(rest));
    text.contains(['\r', '\0', '\x0b', '\x0c', '\u{85}', '\u{2028}', '\u{2029}'])
        || text.contains("\\u")
        || first.any(|line| line.contains('#') && line.contains("coding"))
        || formats && holes.any(|hole| hole.contains(['\'', '"', '\\', '`', '{']))
}

/// Words of the language behind which a bracket begins a value.
const LEADING: &[&str] = &["in", "of", "return", "typeof", "else", "const", "let", "var"];

/// What a language's programs may name.
struct Words {
    called: &'static [&'static str],
    members: &'static [&'static str],
    hidden: &'static [&'static str],
    script: bool,
}

impl Words {
    /// Is what stands there one of the things that are known?
    fn are_kept(&self, tokens: &[Token<'_>], at: usize) -> bool {
        let token = &tokens[at];
        let before = at.checked_sub(1).and_then(|at| tokens.get(at));
        match token.kind {
            TokenKind::Name => self.is_known(tokens, at),
            TokenKind::Lost => false,
            TokenKind::Op => {
                token.text.is_ascii()
                    && !token.text.contains(['@', '\\'])
                    && token.text != ":="
                    && !(token.text.starts_with('*') && is_given_to(tokens, at, "open"))
                    && !(self.script && token.text.starts_with('/'))
            }
            TokenKind::Open => before.is_none_or(|before| self.opens(tokens, at, before)),
            TokenKind::Text | TokenKind::Number | TokenKind::Close | TokenKind::End => true,
        }
    }

    fn is_known(&self, tokens: &[Token<'_>], at: usize) -> bool {
        let name = tokens[at].text.as_ref();
        let text =
            |at: Option<usize>| at.and_then(|at| tokens.get(at)).map_or("", |t| t.text.as_ref());
        let behind_dot = matches!(text(at.checked_sub(1)), "." | "?.");
        let calls = tokens.get(at + 1).is_some_and(|t| t.kind == TokenKind::Open && t.text == "(");
        if behind_dot {
            return self.members.contains(&name)
                && (!matches!(name, "load" | "loads")
                    || matches!(text(at.checked_sub(2)), "json" | "plistlib" | "tomllib"))
                && (!name.starts_with("read_") && !name.starts_with("scan_")
                    || names_a_file(tokens, at));
        }
        // Python takes letters of other widths for the plain ones.
        if !name.is_ascii() || name.starts_with("__") || self.hidden.contains(&name) {
            return false;
        }
        // A function by its name is one that others call with what they like.
        if matches!(name, "open" | "require") {
            return calls && (name == "open" || requires_description(tokens, at));
        }
        !calls || self.called.contains(&name)
    }

    /// May a bracket open behind that token? What is computed is not called, nor are members looked up by it.
    fn opens(&self, tokens: &[Token<'_>], at: usize, before: &Token<'_>) -> bool {
        let value = match before.kind {
            TokenKind::Name => !LEADING.contains(&before.text.as_ref()),
            TokenKind::Close | TokenKind::Text | TokenKind::Number => true,
            _ => false,
        };
        match tokens[at].text.as_ref() {
            _ if before.text == "?." => false,
            "(" => !value || before.kind == TokenKind::Name,
            "[" if self.script && value => {
                tokens.get(at + 1).is_some_and(|index| match index.kind {
                    TokenKind::Number => true,
                    TokenKind::Text => {
                        let word = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '$';
                        self.members.contains(&index.text.as_ref()) || !index.text.chars().all(word)
                    }
                    _ => false,
                }) && tokens.get(at + 2).is_some_and(|t| t.kind == TokenKind::Close)
            }
            // An object that is taken apart gives its members away under other names.
            "{" if self.script => before.text == "=>" || before.text == ")",
            _ => true,
        }
    }
}

/// Does it stand in the brackets of a call of that name? What is spread there says how a file is opened.
fn is_given_to(tokens: &[Token<'_>], at: usize, name: &str) -> bool {
    let mut depth = 0_usize;
    for n in (0..at).rev() {
        match tokens[n].kind {
            TokenKind::Close => depth += 1,
            TokenKind::Open if depth > 0 => depth -= 1,
            TokenKind::Open => return n > 0 && tokens[n - 1].text == name,
            _ => {}
        }
    }
    false
}

/// Is one literal path all that it reads?
fn names_a_file(tokens: &[Token<'_>], at: usize) -> bool {
    let [open, path, end] = [1, 2, 3].map(|n| tokens.get(at + n));
    open.is_some_and(|t| t.text == "(")
        && path.is_some_and(|t| {
            t.kind == TokenKind::Text && !t.text.contains([':', '~', '*', '?', '['])
        })
        && end.is_some_and(|t| matches!(t.text.as_ref(), ")" | ","))
}

/// `require('./package.json')`
fn requires_description(tokens: &[Token<'_>], at: usize) -> bool {
    let [path, end] = [2, 3].map(|n| tokens.get(at + n));
    path.is_some_and(|t| t.kind == TokenKind::Text && plain::DESCRIBED.contains(&t.text.as_ref()))
        && end.is_some_and(|t| t.text == ")")
}

/// Are all modules known, and none of them named as another?
fn imports_known(tokens: &[Token<'_>], script: bool) -> bool {
    let (mut within, mut renames) = (false, false);
    script
        || tokens.iter().all(|token| match token.kind {
            TokenKind::End => {
                (within, renames) = (false, false);
                true
            }
            TokenKind::Name if matches!(token.text.as_ref(), "import" | "from") => {
                within = true;
                true
            }
            TokenKind::Name if within && token.text == "as" => {
                renames = true;
                true
            }
            TokenKind::Name if within => {
                let known = plain::MODULES.contains(&token.text.as_ref());
                let new = std::mem::take(&mut renames);
                known != new
            }
            TokenKind::Op if within => token.text == "," || token.text == ".",
            _ => !within,
        })
}
