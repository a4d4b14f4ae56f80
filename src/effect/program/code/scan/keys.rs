//! Loops over the lines of a file of which only the names in front of a `=` are used.

use super::*;

/// What is called on a line: its part before the first `=`.
const KEYS: &[&str] = &["split(=)[0]", "split(=,1)[0]", "partition(=)[0]", "startswith("];
/// What the lines come from.
const OPENING: &[&str] = &[
    "open",
    "Path",
    "pathlib",
    "read",
    "read_text",
    "readlines",
    "split",
    "splitlines",
    "strip",
    "encoding",
];

/// Where the loop's list ends, if nothing but the names of its lines is used; the cursor stands at its `for`.
pub(super) fn keys_only(c: &Cursor) -> Option<usize> {
    let text = |at: usize| c.tokens.get(at).map_or("", |token| token.text.as_ref());
    let variable = text(c.at + 1);
    let (from, mut depth) = (c.at + 3, 0);
    let ends = |token: &Token| {
        match token.kind {
            TokenKind::Open => depth += 1,
            TokenKind::Close => depth -= 1,
            _ => {}
        }
        depth < 0 || depth == 0 && matches!(token.text.as_ref(), ":" | "if")
    };
    let end = from + c.tokens.get(from..)?.iter().position(ends)?;
    let opens = |token: &Token| match token.kind {
        TokenKind::Name => OPENING.contains(&token.text.as_ref()),
        _ => token.text != ":=",
    };
    let known = |at: usize| {
        let after: String = (at + 1..at + 16).map(text).collect();
        let after = after.trim_start_matches(".strip()");
        let before = text(at - 1);
        let tested = !after.starts_with(['.', '[', '('])
            && (matches!(before, "if" | "not" | "and" | "or")
                || before == "in" && c.tokens[at - 2].kind == TokenKind::Text);
        let keys = after
            .strip_prefix('.')
            .is_some_and(|after| KEYS.iter().any(|key| after.starts_with(key)));
        tested || keys || before == "."
    };
    let uses = |at: &usize| c.tokens[*at].kind == TokenKind::Name && text(*at) == variable;
    (text(c.at + 2) == "in"
        && c.tokens[from..end].iter().all(opens)
        && (0..c.tokens.len()).filter(uses).all(|at| at == c.at + 1 || known(at)))
    .then_some(end)
}
