//! Where the line that names a heredoc goes on, and where the heredoc's text ends.
//!
//! The parser and a shell part where that line holds something that the next one continues (a substitution, a
//! backslash), or where the text has a line that is almost the delimiter. Then what one takes for
//! text the other runs. So both places are found a second time, and what differs is not understood.

use std::rc::Rc;

use shuck_ast::{
    Command, CompoundCommand, FunctionDef, Heredoc, RedirectTarget, Span, Stmt, StmtSeq,
};
use shuck_parser::parser::Parser;

use super::Walker;
use super::frame::Frame;
use super::marks::{ByteContext, marks_from};
use super::nested::ends_in_backslash;
use crate::limits;

impl Walker<'_> {
    /// Says so where a shell may read another text, and so run other lines, than the parser.
    pub(super) fn doubt_heredoc(&mut self, heredoc: &Heredoc) {
        if check_reading(&self.frame.source, heredoc).is_none() {
            let span = self.source_range(heredoc.delimiter.span);
            self.emit_unseen("a heredoc that may end elsewhere", span);
        }
    }

    /// The text of a heredoc that the parser takes for a quoted one and a shell does not: the second of a line. As a
    /// heredoc that stands alone.
    pub(super) fn expands_after_all(&self, heredoc: &Heredoc) -> Option<String> {
        let name = self.slice(heredoc.delimiter.span);
        let quoted = name.contains(['\'', '"', '\\', '$', '`']) || heredoc.body.mode.expands();
        let body = self.slice(heredoc.body.span);
        let runs = !quoted && memchr::memchr2(b'$', b'`', body.as_bytes()).is_some();
        runs.then(|| format!("<<{name}\n{}\n{name}\n", body.trim_end_matches('\n')))
    }

    /// Walks what such a text runs.
    pub(super) fn visit_reread(&mut self, text: &str, span: Span) {
        let read = Parser::new(text).parse();
        let range = self.source_range(span);
        let bodies = read.file.body.stmts.iter().flat_map(|stmt| stmt.redirects.iter());
        let bodies: Vec<_> = bodies.filter_map(|redirect| redirect.heredoc()).collect();
        let enter = |frame: &mut Frame| {
            frame.fixed = Some(range);
            frame.source = Rc::from(text);
        };
        self.in_frame(enter, |w| bodies.iter().for_each(|heredoc| w.visit_heredoc(&heredoc.body)));
        if !read.is_ok() || bodies.is_empty() {
            self.emit_unseen("a heredoc that may end elsewhere", span);
        }
    }

    /// The same of all in a function: nobody may call it, and what stands behind it runs.
    pub(super) fn doubt_heredocs_in(&mut self, function: &FunctionDef) {
        let text = self.slice(function.span);
        if operator_positions(text).next().is_none() {
            return;
        }
        let mut read = marks_from(text, 0);
        let quoted: Vec<usize> = read
            .by_ref()
            .filter(|(_, byte, place)| *byte == b'<' && *place == ByteContext::Quoted)
            .map(|(at, ..)| at)
            .collect();
        let quoted = |at: &usize| read.is_closed() && quoted.binary_search(at).is_ok();
        let written =
            operator_positions(text).filter(|at| !is_shift(text, *at) && !quoted(at)).count();
        let found = statement_heredocs(&function.body);
        for heredoc in &found {
            self.doubt_heredoc(heredoc);
        }
        if found.len() < written {
            let span = self.source_range(function.body.span);
            self.emit_unseen("a heredoc in a substitution of a function", span);
        }
    }
}

/// None where the parser's reading may not be a shell's.
fn check_reading(source: &str, heredoc: &Heredoc) -> Option<()> {
    let span = heredoc.delimiter.span;
    let (start, end) = (span.start.offset(), span.end.offset());
    let operator = source.get(..start)?.trim_end_matches([' ', '\t']);
    let operator = operator.strip_suffix('-').unwrap_or(operator).strip_suffix("<<")?.len();
    let word = parse_delimiter(source.get(start..end)?)
        .filter(|word| *word == heredoc.delimiter.cooked)?;
    let line = line_end(source, end)?;
    // As often as heredocs stand in the line.
    if !limits::spend_steps((source.len() - end) / 8) {
        return None;
    }
    if line == source.len() {
        return Some(());
    }
    // The texts of those that stand before it in the line come first.
    let head = source[..operator].rfind('\n').map_or(0, |at| at + 1);
    let mut body = line + 1;
    for at in operator_positions(&source[head..operator]) {
        let rest = &source[head + at + 2..];
        let strip = rest.starts_with('-');
        let rest = rest.strip_prefix('-').unwrap_or(rest).trim_start_matches([' ', '\t']);
        let raw = rest.split([' ', '\t', ';', '&', '|', '<', '>', ')', '\n']).next()?;
        let end = find_terminator(
            source,
            body,
            &parse_delimiter(raw)?,
            strip,
            raw.contains(['\'', '"', '\\']),
        )?;
        body = next_line(source, end);
    }
    let quoted = source[start..end].contains(['\'', '"', '\\']);
    let own = heredoc.body.span;
    let ends = find_terminator(source, body, &word, heredoc.delimiter.strip_tabs, quoted)?;
    (own.start.offset() == body && own.end.offset() == ends).then_some(())
}

/// Where `<<` stands, and not `<<<`.
fn operator_positions(text: &str) -> impl Iterator<Item = usize> + '_ {
    let bytes = text.as_bytes();
    let other = |at: Option<usize>| at.and_then(|at| bytes.get(at)) == Some(&b'<');
    text.match_indices("<<").map(|(at, _)| at).filter(move |at| {
        let own = *at;
        !other(own.checked_sub(1)) && !other(Some(own + 2))
    })
}

/// Does it stand in arithmetic, `$((1 << 2))`?
fn is_shift(text: &str, at: usize) -> bool {
    let line = text[..at].rfind('\n').map_or(0, |end| end + 1);
    let opens = text[line..at].rfind("((").map(|open| &text[line + open..at]);
    let closes = text[at..].split('\n').next().is_some_and(|rest| rest.contains("))"));
    opens.is_some_and(|inside| !inside.contains("))")) && closes
}

/// The word without its quotes, where every shell takes it for the same.
fn parse_delimiter(raw: &str) -> Option<String> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-.+:/@%,=!".contains(c);
    let mut word = String::new();
    let mut chars = raw.chars();
    while let Some(c) = chars.next() {
        match c {
            '\'' | '"' => loop {
                match chars.next()? {
                    end if end == c => break,
                    '$' | '`' | '\\' | '\n' | '\r' if c == '"' => return None,
                    '\n' | '\r' => return None,
                    inner => word.push(inner),
                }
            },
            '\\' => word.push(chars.next().filter(|c| c.is_ascii_alphanumeric())?),
            c if plain(c) => word.push(c),
            _ => return None,
        }
    }
    Some(word)
}

/// The end of the command line from `at` on; None where a newline stands in a substitution.
fn line_end(source: &str, at: usize) -> Option<usize> {
    let mut marks = marks_from(source, at);
    let newline =
        marks.by_ref().find(|(_, byte, place)| *byte == b'\n' && *place != ByteContext::Quoted);
    let end = match newline {
        Some((at, _, ByteContext::Bare)) if marks.is_closed() => at,
        None if marks.is_closed() => source.len(),
        _ => return None,
    };
    // In a substitution a continued line may end it as well.
    let line = &source[at..end];
    (!line.contains("\\\n") || !line.contains(['(', '{', '`'])).then_some(end)
}

/// Where the line of the delimiter begins, from `at` on, or the end of the source; None where shells are at odds.
fn find_terminator(
    source: &str,
    at: usize,
    word: &str,
    strip: bool,
    quoted: bool,
) -> Option<usize> {
    let mut at = at;
    // What the lines before this one continue to.
    let mut continued: Option<String> = None;
    while at < source.len() {
        let end = source[at..].find('\n').map_or(source.len(), |len| at + len);
        let raw = &source[at..end];
        let line = if strip { raw.trim_start_matches('\t') } else { raw };
        let goes_on = !quoted && ends_in_backslash(line);
        let whole = continued.take().map(|text| text + line.strip_suffix('\\').unwrap_or(line));
        match whole {
            // Shells put such lines together before they look for the delimiter, or after it.
            Some(text) if line == word || text == word => return None,
            None if line == word => return Some(at),
            _ => {}
        }
        if goes_on {
            continued = Some(whole.unwrap_or_else(|| line[..line.len() - 1].to_string()));
        }
        at = end + 1;
    }
    Some(source.len())
}

fn next_line(source: &str, at: usize) -> usize {
    source[at..].find('\n').map_or(source.len(), |len| at + len + 1)
}

/// Every heredoc of the statement, but those in substitutions.
fn statement_heredocs(stmt: &Stmt) -> Vec<&Heredoc> {
    let mut found = Vec::new();
    let mut open = vec![stmt];
    while let Some(stmt) = open.pop() {
        found.extend(stmt.redirects.iter().filter_map(|redirect| match &redirect.target {
            RedirectTarget::Heredoc(heredoc) => Some(&**heredoc),
            RedirectTarget::Word(_) => None,
        }));
        match &stmt.command {
            Command::Binary(binary) => open.extend([&*binary.left, &*binary.right]),
            Command::Function(function) => open.push(&function.body),
            Command::AnonymousFunction(function) => open.push(&function.body),
            Command::Compound(CompoundCommand::Time(time)) => open.extend(time.command.as_deref()),
            Command::Compound(CompoundCommand::Coproc(coproc)) => open.push(&coproc.body),
            Command::Compound(compound) => {
                open.extend(
                    compound_lists(compound).into_iter().flat_map(|list| list.stmts.iter()),
                );
            }
            Command::Simple(_) | Command::Builtin(_) | Command::Decl(_) => {}
        }
    }
    found
}

fn compound_lists(compound: &CompoundCommand) -> Vec<&StmtSeq> {
    match compound {
        CompoundCommand::Subshell(seq) | CompoundCommand::BraceGroup(seq) => vec![seq],
        CompoundCommand::If(c) => {
            let elif = c.elif_branches.iter().flat_map(|(condition, body)| [condition, body]);
            let own = [&c.condition, &c.then_branch];
            own.into_iter().chain(elif).chain(&c.else_branch).collect()
        }
        CompoundCommand::For(c) => vec![&c.body],
        CompoundCommand::Foreach(c) => vec![&c.body],
        CompoundCommand::Select(c) => vec![&c.body],
        CompoundCommand::Repeat(c) => vec![&c.body],
        CompoundCommand::ArithmeticFor(c) => vec![&c.body],
        CompoundCommand::While(c) => vec![&c.condition, &c.body],
        CompoundCommand::Until(c) => vec![&c.condition, &c.body],
        CompoundCommand::Case(c) => c.cases.iter().map(|item| &item.body).collect(),
        CompoundCommand::Always(c) => vec![&c.body, &c.always_body],
        _ => Vec::new(),
    }
}
