//! Names and numbers.

use super::*;

impl<'a> Lexer<'a> {
    pub(super) fn name(&mut self, byte: u8) -> bool {
        let lang = self.lang;
        let from = self.at;
        let sigil = match (lang, byte) {
            (Lang::Perl, b'$' | b'@' | b'%' | b'&') => {
                let next = self.peek(1);
                let name = word(next)
                    || next == b':' && self.peek(2) == b':'
                    || byte == b'$'
                        && matches!(
                            next,
                            b'$' | b'!' | b'&' | b'@' | b'/' | b',' | b'0' | b'.' | b';' | b'\\'
                        );
                if byte == b'%' && self.after_value() || !name {
                    if byte != b'&'
                        && matches!(next, b'{' | b'$')
                        && !(byte == b'%' && self.after_value())
                    {
                        // `@{...}`, `@$x`, `$$x`: the sigil says nothing.
                        self.at += 1;
                        return true;
                    }
                    if byte == b'$' && next == b'#' {
                        self.at += 2;
                        return true;
                    }
                    return false;
                }
                if byte == b'&' {
                    if self.after_value() || self.peek(1) == b'&' {
                        return false;
                    }
                    self.at += 1;
                    return true;
                }
                if !word(next) && next != b':' {
                    self.at += 2;
                    self.push(Kind::Name, &self.source[from..self.at]);
                    return true;
                }
                true
            }
            (Lang::Php, b'$') => {
                if self.peek(1) == b'$' || self.peek(1) == b'{' {
                    // A variable named by a variable.
                    self.at += 1;
                    self.push(Kind::Lost, "$$");
                    return true;
                }
                true
            }
            (Lang::Ruby, b'$' | b'@') => true,
            (Lang::Js, b'$' | b'#') => true,
            (Lang::R, b'.') => word(self.peek(1)),
            _ => false,
        };
        if !sigil && (!word(byte) || byte.is_ascii_digit()) {
            return false;
        }
        self.at += 1;
        if lang == Lang::Ruby && self.peek(0) == b'@' {
            self.at += 1;
        }
        loop {
            let next = self.peek(0);
            let more = word(next)
                || lang == Lang::Js && next == b'$'
                || lang == Lang::R && next == b'.'
                || lang == Lang::Perl && next == b':' && self.peek(1) == b':' && word(self.peek(2));
            if !more {
                break;
            }
            self.at += if next == b':' { 2 } else { 1 };
        }
        if lang == Lang::Ruby && matches!(self.peek(0), b'?' | b'!') && self.peek(1) != b'=' {
            self.at += 1;
        }
        let Some(name) = self.source.get(from..self.at) else {
            self.bad();
            return true;
        };
        let member = self.out.last().is_some_and(|t| t.kind == Kind::Op && t.text == ".");
        let next = self.peek(0);
        match lang {
            Lang::Python if name.len() <= 3 && matches!(next, b'\'' | b'"') => {
                let lower = name.to_ascii_lowercase();
                if lower.bytes().all(|b| b"rbfut".contains(&b)) {
                    self.at += 1;
                    let style = if lower.contains('r') { Style::Raw } else { Style::Plain };
                    self.python_text(next, style, lower.contains(['f', 't']));
                    return true;
                }
            }
            Lang::R
                if matches!(name, "r" | "R")
                    && matches!(next, b'"' | b'\'')
                    && self.peek(1) == b'(' =>
            {
                self.at += 2;
                let from = self.at;
                self.skip_past(if next == b'"' { ")\"" } else { ")'" });
                let to = self.at.saturating_sub(2).max(from);
                self.push(Kind::Text, self.source.get(from..to).unwrap_or_default());
                return true;
            }
            Lang::Perl if matches!(name, "__END__" | "__DATA__") => {
                self.at = self.end;
                return true;
            }
            Lang::Perl
                if !member
                    && matches!(name, "q" | "qq" | "qw" | "qx" | "m" | "qr" | "s" | "tr" | "y")
                    && self.perl_quote(name) =>
            {
                return true;
            }
            _ => {}
        }
        self.push(Kind::Name, name);
        true
    }
}
