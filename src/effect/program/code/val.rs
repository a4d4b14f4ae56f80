//! What an expression of an inline program is known to be.

use std::ops::Range;
use std::rc::Rc;

use crate::effect::value::{BLANK, Printer, Value};
use crate::limits::{self, Cap};

/// A part of a text that is known only at run time, of which it is known that it is a number.
pub const NUMBER: char = '\u{10fffd}';
/// One that a shell reads as one word, for the program quoted it.
pub const QUOTED: char = '\u{10fffc}';
/// One that names a file that was found, or something that git names: one word, and no text that somebody wrote for a shell.
pub const NAMED: char = '\u{10fffb}';
/// The mark of one of which nothing is known, as a text.
const MARK: &str = "\u{10fffe}";
/// A variable of the environment that the call does not set, as a member that no language can spell.
pub const UNSET: &str = "(unset)";
/// All of these.
pub const GAPS: [char; 4] = [BLANK, NUMBER, QUOTED, NAMED];
/// What writes into a file, as a member of its path that no language can spell.
pub const HANDLE: &str = "(handle)";

/// A value; cheap to copy.
#[derive(Debug, Clone, PartialEq)]
pub enum Val {
    /// Known only at run time.
    Unknown,
    /// What came over the network.
    Fed,
    /// What a file holds.
    Stored,
    /// A number, a function, nothing: no path and no text that could run.
    Scalar,
    /// A text, perhaps with blanks.
    Text(Rc<str>),
    /// The paths that a glob names.
    Glob(Rc<str>),
    /// A name that the program did not bind: a module, a function, with dots.
    Name(Rc<str>),
    /// An object that stands for a path.
    Path(Rc<Val>),
    /// Several values in order.
    List(u8, Rc<Vec<Val>>),
    /// Keys and values.
    Dict(u8, Rc<Vec<(String, Val)>>),
    /// One of these.
    Any(u8, Rc<Vec<Val>>),
    /// A member of a value.
    Member(Rc<(Val, String)>),
}

impl Val {
    /// A known text.
    pub fn text(text: &str) -> Val {
        if text.len() <= limits::TEXT {
            return Val::Text(text.into());
        }
        let end = text.floor_char_boundary(limits::TEXT);
        Val::Text(format!("{}{BLANK}", &text[..end]).into())
    }

    /// A name.
    pub fn name(text: &str) -> Val {
        if text.len() > limits::NAME { Val::Unknown } else { Val::Name(text.into()) }
    }

    /// An object that stands for a path: each of those that it may be.
    pub fn path(of: Val) -> Val {
        match of {
            Val::Any(_, items) | Val::List(_, items) if !items.is_empty() => {
                Val::any_of(items.iter().cloned().map(Val::path).collect())
            }
            Val::Path(_) => of,
            other => Val::Path(other.into()),
        }
    }

    /// Does it stand for a path, or for several?
    pub fn is_path(&self) -> bool {
        match self {
            Val::Path(_) => true,
            Val::Any(_, items) => items.iter().all(Val::is_path),
            _ => false,
        }
    }

    fn depth(&self) -> u8 {
        match self {
            Val::List(depth, _) | Val::Dict(depth, _) | Val::Any(depth, _) => *depth,
            Val::Path(inner) => inner.depth(),
            Val::Member(inner) => inner.0.depth().saturating_add(1),
            _ => 0,
        }
    }

    fn limit_depth(self) -> Val {
        if self.depth() >= limits::NESTED_LISTS { Val::Unknown } else { self }
    }

    /// A list.
    pub fn list(items: Vec<Val>) -> Val {
        let mut items: Vec<Val> = items.into_iter().map(Val::limit_depth).collect();
        if items.len() > limits::ELEMENTS {
            items.truncate(limits::ELEMENTS);
            items.push(Val::Unknown);
        }
        let depth = 1 + items.iter().map(Val::depth).max().unwrap_or(0);
        Val::List(depth, Rc::new(items))
    }

    /// A table.
    pub fn dict(items: Vec<(String, Val)>) -> Val {
        let mut items: Vec<_> = items.into_iter().map(|(k, v)| (k, v.limit_depth())).collect();
        if items.len() > limits::ELEMENTS {
            Cap::Keys.note_reached();
            items.truncate(limits::ELEMENTS);
        }
        let depth = 1 + items.iter().map(|(_, v)| v.depth()).max().unwrap_or(0);
        Val::Dict(depth, Rc::new(items))
    }

    /// One of several values.
    pub fn any_of(items: Vec<Val>) -> Val {
        let mut flat: Vec<Val> = Vec::new();
        for item in items {
            let item = item.limit_depth();
            let add: Vec<Val> = match &item {
                Val::Any(_, inner) => inner.to_vec(),
                _ => vec![item],
            };
            for one in add {
                if !flat.contains(&one) {
                    flat.push(one);
                }
            }
            if flat.len() > limits::ANY {
                flat.truncate(limits::ANY);
                flat.push(Val::Unknown);
                break;
            }
        }
        if flat.len() == 1
            && let Some(one) = flat.pop()
        {
            return one;
        }
        if flat.is_empty() {
            return Val::Unknown;
        }
        let depth = 1 + flat.iter().map(Val::depth).max().unwrap_or(0);
        Val::Any(depth, Rc::new(flat))
    }

    /// The alternatives.
    pub fn alternatives(&self) -> Vec<Val> {
        match self {
            Val::Any(_, items) => items.to_vec(),
            other => vec![other.clone()],
        }
    }

    /// What a loop over it yields.
    pub fn loop_element(&self) -> Val {
        match self {
            Val::List(_, items) if items.is_empty() => Val::Scalar,
            Val::List(_, items) => Val::any_of(items.to_vec()),
            Val::Any(_, items) => Val::any_of(items.iter().map(Val::loop_element).collect()),
            Val::Dict(..) => self.members("keys").loop_element(),
            Val::Glob(_) | Val::Path(_) | Val::Fed | Val::Scalar => self.clone(),
            Val::Text(text) if text.ends_with(GAPS) => self.clone(),
            // Ruby's block of an opened file.
            Val::Member(inner) if inner.1 == HANDLE => self.clone(),
            _ => Val::Unknown,
        }
    }

    /// Is it a variable of the environment that the call does not set?
    pub fn is_unset(&self) -> bool {
        matches!(self, Val::Member(inner) if inner.1 == UNSET)
    }

    /// As the key of a table: a text, or how one begins.
    pub fn as_key(&self) -> String {
        match self {
            Val::Path(inner) => inner.as_key(),
            Val::Glob(pattern) => {
                let known = pattern.find(['*', '?', '[']).unwrap_or(pattern.len());
                let dir = pattern[..known].rfind('/').map_or("./", |at| &pattern[..=at]);
                format!("{dir}{BLANK}")
            }
            other => other.to_text().map_or_else(|| BLANK.to_string(), |text| text.to_string()),
        }
    }

    /// The directory and a name in it, or deeper, where a path is only partly known.
    fn somewhere(&self) -> Option<String> {
        let key = self.as_key();
        let known = key.split(BLANK).next().unwrap_or_default();
        known.rfind('/').map(|at| known[..=at].to_string())
    }

    /// With one text in place of another, as far as that is no other directory.
    pub fn replaced(&self, old: &str, new: &str) -> Val {
        if let Val::Any(_, items) = self {
            return Val::any_of(items.iter().map(|item| item.replaced(old, new)).collect());
        }
        if let Some(text) = self.known_text() {
            return if old.is_empty() { Val::Unknown } else { Val::text(&text.replace(old, new)) };
        }
        let leads = |text: &str| {
            text.contains(['/', '\\']) && (text.starts_with('/') || !text.ends_with('/'))
                || text.contains("..")
        };
        match self.somewhere() {
            Some(dir) if !leads(new) && !leads(old) && !old.is_empty() => {
                Val::text(&format!("{}{BLANK}", dir.replace(old, new)))
            }
            _ => Val::Unknown,
        }
    }

    /// Without the end of the file's name.
    pub fn cut_end(&self) -> Val {
        match self {
            Val::Any(_, items) => Val::any_of(items.iter().map(Val::cut_end).collect()),
            Val::Path(inner) => inner.cut_end(),
            Val::Text(_) | Val::Glob(_) => match (self.known_text(), self.somewhere()) {
                (Some(text), _) => {
                    let name = text.rfind('/').map_or(0, |at| at + 1);
                    let dot = text[name..].rfind('.').filter(|at| *at > 0);
                    Val::text(&text[..dot.map_or(text.len(), |at| name + at)])
                }
                (None, Some(dir)) => Val::text(&format!("{dir}{BLANK}")),
                _ => Val::Unknown,
            },
            _ => Val::Unknown,
        }
    }

    /// What a table holds, as a list: its `keys`, its `values`, or pairs of both.
    pub fn members(&self, which: &str) -> Val {
        let Val::Dict(_, items) = self else { return Val::Unknown };
        let member = |(key, val): &(String, Val)| match which {
            "keys" => Val::text(key),
            "values" => val.clone(),
            _ => Val::list(vec![Val::text(key), val.clone()]),
        };
        Val::list(items.iter().map(member).collect())
    }

    /// Its text with blanks; None where it is no text at all.
    pub fn to_text(&self) -> Option<Rc<str>> {
        match self {
            Val::Text(text) if text.contains(GAPS) => Some(text.replace(GAPS, MARK).into()),
            Val::Text(text) => Some(text.clone()),
            Val::Path(inner) => inner.to_text(),
            Val::Unknown | Val::Fed | Val::Stored | Val::Name(_) | Val::Member(_) => {
                Some(BLANK.to_string().into())
            }
            _ => None,
        }
    }

    /// The whole text, where it is one and known.
    pub fn known_text(&self) -> Option<Rc<str>> {
        match self {
            Val::Text(text) if !text.contains(GAPS) => Some(text.clone()),
            Val::Path(inner) => inner.known_text(),
            _ => None,
        }
    }

    /// As a part of a text: what is not known of it as one of the gaps.
    pub fn part(&self) -> Rc<str> {
        match self {
            Val::Text(text) => text.clone(),
            Val::Path(inner) => inner.part(),
            Val::Scalar => NUMBER.to_string().into(),
            Val::Glob(pattern) => {
                let known = pattern.find(['*', '?', '[', '\\']).unwrap_or(pattern.len());
                // Behind a dot may be what nobody is to read: `.env*`.
                let hides = pattern[..known].rsplit('/').next().is_some_and(|n| n.starts_with('.'));
                format!("{}{}", &pattern[..known], if hides { BLANK } else { NAMED }).into()
            }
            _ => MARK.into(),
        }
    }

    /// One text behind the other.
    pub fn join(&self, other: &Val, between: &str) -> Val {
        if let (Val::List(_, a), Val::List(_, b)) = (self, other) {
            return Val::list(a.iter().chain(b.iter()).cloned().collect());
        }
        if let Val::List(_, items) = self {
            // Ruby's `list << item`, or a list that nobody knows.
            let more = if let Val::Text(_) = other { other.clone() } else { other.loop_element() };
            return Val::list(items.iter().cloned().chain([more]).collect());
        }
        if let (Val::Glob(_), Val::Glob(_), "") = (self, other, between) {
            return Val::any_of(vec![self.clone(), other.clone()]);
        }
        if *self == Val::Fed || *other == Val::Fed {
            return Val::Fed;
        }
        let mut out = Vec::new();
        for a in self.alternatives() {
            for b in other.alternatives() {
                if out.len() > limits::ANY {
                    return Val::any_of(out);
                }
                out.push(match (&a, &b) {
                    (Val::Glob(a), b) => match b.known_text() {
                        Some(b) => Val::Glob(format!("{a}{between}{b}").into()),
                        None => Val::Unknown,
                    },
                    _ => {
                        let (a, b) = (a.part(), b.part());
                        if between == "/" && b.starts_with('/') {
                            Val::Text(b)
                        } else if between == "/" && (a.ends_with('/') || a.is_empty()) {
                            Val::text(&format!("{a}{b}"))
                        } else {
                            Val::text(&format!("{a}{between}{b}"))
                        }
                    }
                });
            }
        }
        Val::any_of(out)
    }

    /// As operands of a program: every path or word that it may be.
    pub fn push_values(&self, span: &Range<usize>, out: &mut Vec<Value>) {
        if !Cap::CodeValues.admits(out.len() + 1) {
            return;
        }
        match self {
            Val::Scalar | Val::Dict(..) => {}
            Val::List(_, items) | Val::Any(_, items) => {
                for item in items.iter() {
                    item.push_values(span, out);
                }
            }
            other => out.push(other.to_value(span)),
        }
    }

    /// As one operand.
    pub fn to_value(&self, span: &Range<usize>) -> Value {
        match self {
            Val::Glob(text) => Value::glob(text.to_string(), span.clone()),
            Val::Fed => Value::printed(Printer::Stranger, span.clone()),
            other => match other.to_text() {
                Some(text) => Value::partly(&text, span.clone()),
                None => Value::unknown(span.clone()),
            },
        }
    }
}
