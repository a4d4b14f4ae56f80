//! Filters of lists: which of the paths that lines hold are left, and in which column of a line a path stands.

use super::Feed;
use super::listing;
use crate::effect::program::listed::Search;
use crate::effect::program::parse_arguments;
use crate::effect::program::table::Program;
use crate::effect::value::Value;

/// Lines of several columns, of which some are paths: `grep -n`, `git status -s`.
#[derive(Debug, Clone)]
pub struct Columns {
    /// What stands between the columns.
    pub sign: Sign,
    /// Those that are paths, counted from one.
    pub at: &'static [usize],
    /// What each of the paths is.
    pub path: Value,
}

/// What stands between columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sign {
    Colon,
    Blank,
    Tab,
}

impl Sign {
    fn of(text: &str) -> Option<Sign> {
        match text {
            ":" => Some(Sign::Colon),
            " " => Some(Sign::Blank),
            "\t" | "\\t" => Some(Sign::Tab),
            _ => None,
        }
    }

    fn stands_in(self, text: &str) -> bool {
        match self {
            Sign::Colon => text.contains(':'),
            Sign::Blank => text.contains(char::is_whitespace),
            Sign::Tab => text.contains('\t'),
        }
    }
}

/// A column, counted from one.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Column {
    At(usize),
    Last,
}

/// What a filter leaves of the lines that it lets through.
enum Left {
    Whole,
    Column(Sign, Column),
    /// What stands from that character on.
    From(usize),
}

/// What a program prints that is handed paths.
pub enum Handed {
    /// Some of them.
    Paths,
    /// Nothing.
    Nothing,
    /// Lines that begin with one of them and a colon.
    Lines,
    /// Their last parts.
    Names,
}

/// Some of the lines, as they are.
pub fn some_of(fed: &Feed) -> Option<Feed> {
    match fed {
        Feed::Here => Some(Feed::Names),
        Feed::Whole(some, _) => Some(Feed::Lines(some.clone())),
        Feed::Tree(start) => Some(Feed::Lines(start.unknown_below())),
        Feed::Lines(_) | Feed::Found(..) | Feed::Names | Feed::Numbers | Feed::Columns(_) => {
            Some(fed.clone())
        }
        _ => None,
    }
}

/// What cut, awk, sed, tr and `grep -o` leave of a list.
pub fn filtered(name: &str, args: &[Value], fed: &Feed, own: &'static [Program]) -> Option<Feed> {
    let some = some_of(fed)?;
    let left = left_by(name, args, own)?;
    let path = match &some {
        Feed::Lines(path) | Feed::Found(path, _) => path.text().or(path.prefix())?,
        _ => "",
    };
    match (left, &some) {
        // Between its parts stands something else: all of it goes on.
        (Left::Whole, _) if name == "tr" => Some(fed.clone()),
        (Left::Whole, _) => Some(some),
        (Left::Column(sign, Column::At(1)), Feed::Lines(_) | Feed::Found(..)) => {
            (!sign.stands_in(path)).then_some(some)
        }
        (Left::Column(sign, column), Feed::Columns(columns)) => {
            let same = sign == columns.sign || sign == Sign::Blank && columns.sign == Sign::Tab;
            let meant = match column {
                Column::At(at) => columns.at.contains(&at),
                Column::Last => columns.sign != Sign::Colon,
            };
            (same && meant).then(|| Feed::Lines(columns.path.clone()))
        }
        // Two letters and a blank stand before the path.
        (Left::From(4), Feed::Columns(columns)) if columns.sign == Sign::Blank => {
            Some(Feed::Lines(columns.path.clone()))
        }
        // `./x` becomes `x`.
        (Left::From(3), Feed::Lines(_) | Feed::Found(..)) if path == "./" => Some(some),
        _ => None,
    }
}

fn left_by(name: &str, args: &[Value], own: &'static [Program]) -> Option<Left> {
    let parsed = parse_arguments(name, args, own);
    let known = parsed.options.iter().all(|option| option.spec.is_some());
    let operands: Option<Vec<&str>> =
        parsed.operands.iter().map(|at| args[*at].plain_text()).collect();
    let operands = operands.filter(|_| known)?;
    let value = |name: &str| parsed.find_option(name).map(|o| o.value.as_ref()?.plain_text());
    let only = |names: &[&str]| {
        parsed.options.iter().all(|option| names.iter().any(|name| option.is_option(name)))
    };
    match (name, &operands[..]) {
        ("cut", []) if only(&["-d", "-f", "-s", "-z"]) => {
            let sign = Sign::of(value("-d").unwrap_or(Some("\t"))?)?;
            Some(Left::Column(sign, Column::At(value("-f")??.parse().ok()?)))
        }
        ("cut", []) if only(&["-b", "-c"]) => {
            let from = value("-c").or_else(|| value("-b"))??;
            Some(Left::From(from.strip_suffix('-')?.parse().ok()?))
        }
        ("awk", [program]) if only(&["-F"]) => {
            left_by_awk(program, Sign::of(value("-F").unwrap_or(Some(" "))?))
        }
        ("sed", [script]) if only(&["-n", "-E", "-r"]) => {
            left_by_sed(script, parsed.find_option("-n").is_some())
        }
        ("tr", [from, to]) if parsed.options.is_empty() => {
            (is_separator(from) && is_separator(to)).then_some(Left::Whole)
        }
        ("tr", ["\\r"]) if only(&["-d"]) => Some(Left::Whole),
        ("grep" | "egrep" | "rg", ["^[^:]*" | "^[^:]+"]) if only(&["-o", "-E", "-P"]) => {
            parsed.find_option("-o").map(|_| Left::Column(Sign::Colon, Column::At(1)))
        }
        _ => None,
    }
}

fn is_separator(set: &str) -> bool {
    matches!(set, "\\n" | "\\0" | "\\000" | " " | "\n" | "[:space:]")
}

/// sed's scripts that choose lines, or cut a line where columns of lists end.
fn left_by_sed(script: &str, quiet: bool) -> Option<Left> {
    let script = script.trim();
    let address = |text: &str| {
        let lines = text.bytes().all(|b| b.is_ascii_digit() || b",$".contains(&b));
        let inner = text.strip_prefix('/').and_then(|text| text.strip_suffix('/'));
        lines || inner.is_some_and(|inner| !inner.contains(['/', '\n', ';']))
    };
    let chosen = match quiet {
        true => script.strip_suffix('p'),
        false => script.strip_suffix('d').or_else(|| script.strip_suffix('q')),
    };
    if let Some(chosen) = chosen {
        let chosen = chosen.trim_end_matches(['!', ' ']);
        return (!chosen.is_empty() && address(chosen)).then_some(Left::Whole);
    }
    let sign = script.strip_prefix('s')?.chars().next()?;
    let mut parts = script[1..].split(sign).skip(1);
    let (from, to, flags) = (parts.next()?, parts.next()?, parts.next()?);
    if parts.next().is_some() || !to.is_empty() || !matches!(flags, "" | "g") || quiet {
        return None;
    }
    match from {
        // `./x` becomes `x`, which is the same.
        "^\\./" | "^./" | "^[.]/" => Some(Left::Whole),
        "^..." | "^.. " | "^...." if flags.is_empty() => Some(Left::From(from.len())),
        ":.*" | ":.*$" => Some(Left::Column(Sign::Colon, Column::At(1))),
        _ => None,
    }
}

/// One rule of awk that prints a line or a column of it, where its pattern does nothing but ask.
fn left_by_awk(program: &str, sign: Option<Sign>) -> Option<Left> {
    let program = program.trim();
    let (pattern, action) = match program.strip_suffix('}') {
        Some(rest) => rest.split_once('{')?,
        None => (program, "print"),
    };
    if program.contains(['\n', '{', '}']) && action.contains(['{', '}', '\n'])
        || !pattern.split("&&").all(|part| only_asks(part.trim()))
        || pattern.trim().is_empty() && !program.starts_with('{')
    {
        return None;
    }
    let action: String = action.split_whitespace().collect::<Vec<_>>().join(" ");
    let action = action.trim_end_matches([';', ' ']);
    match action {
        "print" | "print $0" => return Some(Left::Whole),
        "print substr($0,4)" | "print substr($0, 4)" => return Some(Left::From(4)),
        _ => {}
    }
    let column = match action.strip_prefix("print $")? {
        "NF" => Column::Last,
        number => Column::At(number.parse().ok()?),
    };
    Some(Left::Column(sign?, column))
}

/// `/x/`, `!/x/`, `$1 == "M"`, `NR > 1`, `!seen[$0]++`
fn only_asks(pattern: &str) -> bool {
    let regex = |text: &str| {
        let inner = text.strip_prefix('/').and_then(|text| text.strip_suffix('/'));
        inner.is_some_and(|inner| !inner.contains('/'))
    };
    let word = |text: &str| text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    let seen = pattern.strip_prefix('!').and_then(|text| text.strip_suffix("]++"));
    let field = |text: &str| {
        let text = text.trim();
        text.strip_prefix('$').is_some_and(|name| !name.is_empty() && word(name))
            || matches!(text, "NR" | "NF" | "FNR")
    };
    let text = |text: &str| {
        let text = text.trim();
        let quoted = text.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
        regex(text) || word(text) || quoted.is_some_and(|inner| !inner.contains('"'))
    };
    if let Some((name, of)) = seen.and_then(|text| text.split_once('[')) {
        return word(name) && field(of);
    }
    let asked = ["!~", "==", "!=", ">=", "<=", "~", ">", "<"]
        .iter()
        .find_map(|sign| pattern.split_once(sign));
    match asked {
        _ if pattern.is_empty() || regex(pattern.trim_start_matches('!').trim()) => true,
        Some((left, right)) => field(left) && text(right),
        None => field(pattern),
    }
}

/// What a program prints that is handed paths, by xargs at its end or where `token` stands.
pub fn handed_on(words: &[Value], token: Option<&str>, own: &'static [Program]) -> Option<Handed> {
    let (first, args) = words.split_first()?;
    let name = first.plain_text()?.rsplit('/').next()?;
    if args.iter().any(|arg| arg.text().is_none()) {
        return None;
    }
    // Nothing else than what is handed on.
    let sole = |paths: &[&Value]| match token {
        Some(token) => matches!(paths, [one] if one.plain_text() == Some(token)),
        None => paths.is_empty(),
    };
    let paths: Vec<&Value> = args.iter().filter(|a| !a.known_start().starts_with('-')).collect();
    let options = args.iter().map(Value::known_start).filter(|a| a.starts_with('-'));
    let only = |allowed: &[&str]| options.clone().all(|option| allowed.contains(&option));
    match name {
        "grep" | "egrep" | "fgrep" | "rg" | "ag" => {
            let search = Search::read(name, args, own)?;
            if !sole(&search.paths) || !search.is_known() {
                return None;
            }
            match () {
                () if search.is_quiet() => Some(Handed::Nothing),
                () if search.lists() => Some(Handed::Paths),
                () if search.may_begin_with_names() && search.is_numbered() => Some(Handed::Lines),
                () => None,
            }
        }
        "echo" if only(&[]) => sole(&paths).then_some(Handed::Paths),
        "printf" => match &paths[..] {
            [format, rest @ ..] if listing::prints_each(format.known_start()) => {
                sole(rest).then_some(Handed::Paths)
            }
            _ => None,
        },
        "ls" if only(&["-d", "-1", "-1d", "-d1", "-td", "-dt", "-1td"]) => {
            let itself = args.iter().any(|a| a.known_start().contains('d'));
            (itself && sole(&paths)).then_some(Handed::Paths)
        }
        "basename" if only(&["-a"]) => sole(&paths).then_some(Handed::Names),
        "test" | "[" if token.is_some() => Some(Handed::Nothing),
        _ => None,
    }
}
