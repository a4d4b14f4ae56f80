//! A second, small reader of quotes, substitutions and comments, to see where a shell finds the marks of its grammar. It
//! is asked where the parser is known to go on past a fault that a shell stops at.

/// Where a byte stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ByteContext {
    /// Where a mark has its meaning.
    Bare,
    /// In a string.
    Quoted,
    /// In `$(...)`, `<(...)`, `${...}` or backticks.
    Substituted,
}

/// The bytes of a text with their places; without those of comments and escaped ones.
pub struct Marks<'t> {
    text: &'t str,
    at: usize,
    /// The byte in front of it; a backslash where that one is escaped or, as the second of `$$`, opens nothing.
    before: u8,
    /// What closes what is open.
    open: Vec<u8>,
    /// The innermost string is `$'...'`, where a backslash escapes.
    ansi: bool,
    /// A `$'` or a comment in a substitution: what closes it is not sure.
    unsure: bool,
}

/// From that place on.
pub fn marks_from(text: &str, at: usize) -> Marks<'_> {
    let before = at.checked_sub(1).map_or(b' ', |at| text.as_bytes()[at]);
    Marks { text, at, before, open: Vec::new(), ansi: false, unsure: false }
}

/// Does one of these bytes stand bare in the text, or is something left open?
pub fn has_bare(text: &str, wanted: &[u8]) -> bool {
    let mut marks = marks_from(text, 0);
    let found =
        marks.by_ref().any(|(_, byte, place)| place == ByteContext::Bare && wanted.contains(&byte));
    found || !marks.is_closed()
}

impl Marks<'_> {
    /// Is all closed that was opened so far?
    pub fn is_closed(&self) -> bool {
        self.open.is_empty() && !self.unsure
    }

    fn current_context(&self) -> ByteContext {
        match self.open.iter().all(|close| matches!(close, b'"' | b'\'')) {
            _ if self.open.is_empty() => ByteContext::Bare,
            true => ByteContext::Quoted,
            false => ByteContext::Substituted,
        }
    }
}

impl Iterator for Marks<'_> {
    type Item = (usize, u8, ByteContext);

    fn next(&mut self) -> Option<Self::Item> {
        let bytes = self.text.as_bytes();
        loop {
            let place = self.current_context();
            let (at, byte) = (self.at, *bytes.get(self.at)?);
            let top = self.open.last().copied();
            let before = std::mem::replace(&mut self.before, byte);
            self.at += 1;
            if byte == b'$' && before == b'$' {
                self.before = b'\\';
            }
            let comment = byte == b'#' && top != Some(b'"') && b" \t\n;&|()".contains(&before);
            match byte {
                b'\\' if top != Some(b'\'') || self.ansi => {
                    // A line that goes on does so behind what stands in front.
                    let continued = bytes.get(self.at) == Some(&b'\n');
                    self.before = if continued { before } else { b'\\' };
                    self.at += 1;
                    continue;
                }
                close if top == Some(close) => {
                    self.ansi = false;
                    self.open.pop();
                }
                _ if top == Some(b'\'') => {}
                b'\'' if top != Some(b'"') => {
                    self.ansi = before == b'$';
                    self.unsure |= self.ansi && !self.open.is_empty();
                    self.open.push(b'\'');
                }
                b'"' | b'`' => self.open.push(byte),
                b'(' if matches!(before, b'$' | b'<' | b'>') || top == Some(b')') => {
                    self.open.push(b')');
                    return Some((at, byte, ByteContext::Substituted));
                }
                b'{' if before == b'$' => {
                    self.open.push(b'}');
                    return Some((at, byte, ByteContext::Substituted));
                }
                b'<' | b'>' if place == ByteContext::Bare && bytes.get(self.at) == Some(&b'(') => {
                    return Some((at, byte, ByteContext::Substituted));
                }
                _ if comment => {
                    self.unsure |= place != ByteContext::Bare;
                    self.at = self.text[at..].find('\n').map_or(self.text.len(), |len| at + len);
                    self.before = b'\n';
                    continue;
                }
                _ => {}
            }
            return Some((at, byte, place));
        }
    }
}
