//! The text of PowerShell and cmd.exe, taken apart into commands.

/// How a word is written.
#[derive(Clone, Copy, Default, PartialEq)]
pub(super) enum Quoting {
    /// It begins with no quote.
    #[default]
    None,
    /// It begins with a quote, and more follows: `"a".Trim`.
    Begins,
    /// Texts in quotes, and commas: `"a","b"`.
    Whole,
}

/// A command as it is written.
#[derive(Default)]
pub(super) struct Statement {
    /// The separators between it and the one before, ends of lines among them.
    pub(super) between: String,
    /// It is the value of that key of a hash table: `@{ key = value }`.
    pub(super) key: Option<String>,
    pub(super) words: Vec<String>,
    /// How each of the words is written.
    pub(super) quoted: Vec<Quoting>,
    /// The files that its output goes to.
    pub(super) files: Vec<String>,
    /// A bracket follows: what stands in it is a word that is known only at run time.
    pub(super) computed: bool,
}

impl Statement {
    /// The sign of `$x = y`, `$x, [int]$y = z` and `$x in y`.
    pub(super) fn assignment(&self) -> Option<usize> {
        let sign = self.words.iter().position(|word| is_assignment(word)).filter(|at| *at > 0)?;
        self.words[..sign].iter().all(|word| word.starts_with(['$', '['])).then_some(sign)
    }

    /// The one variable that it sets, as it is written.
    pub(super) fn target(&self) -> Option<&str> {
        let target =
            &self.words[self.assignment()?.checked_sub(1).filter(|before| *before == 0)?];
        Some(&target[target.rfind('$')?..])
    }
}

/// How a text comes apart.
pub(super) struct Grammar {
    ends: &'static [char],
    quotes: &'static [char],
    escape: char,
    /// `$x = y` sets a variable.
    assigns: bool,
}

pub(super) const POWERSHELL: Grammar = Grammar {
    ends: &[';', '|', '&', '{', '}', '(', ')'],
    quotes: &['"', '\''],
    escape: '`',
    assigns: true,
};
pub(super) const CMD: Grammar =
    Grammar { ends: &['&', '|', '(', ')'], quotes: &['"'], escape: '^', assigns: false };

impl Grammar {
    /// The commands of a text: between separators that do not stand in quotes.
    pub(super) fn split(&self, text: &str) -> Vec<Statement> {
        let mut out = Splitter::default();
        let mut chars = text.chars().peekable();
        let mut quote = None;
        while let Some(c) = chars.next() {
            match quote {
                // A doubled quote is one.
                Some(q) if c == q && self.assigns && chars.next_if_eq(&q).is_some() => {
                    out.word.push(q)
                }
                Some(q) if c == q => quote = None,
                Some('\'') => out.word.push(c),
                _ if c == self.escape => out.word.extend(chars.next().map(|c| match c {
                    'n' | 'r' if self.assigns => '\n',
                    't' if self.assigns => '\t',
                    c => c,
                })),
                Some(_) => out.word.push(c),
                // `${name}`
                None if c == '{' && self.assigns && out.word.ends_with('$') => {
                    out.word.push(c);
                    out.word.extend(std::iter::from_fn(|| chars.next_if(|c| *c != '}')));
                    out.word.extend(chars.next());
                }
                None if c == '=' && out.is_key() => out.end_key(),
                None if self.quotes.contains(&c) => {
                    quote = Some(c);
                    if out.word.is_empty() {
                        out.quoting = Quoting::Whole;
                    }
                }
                None if c == '=' && self.assigns && out.word.starts_with(['$', '[']) => {
                    // `$x="a"`, `$x+=1`
                    let name = out.word.trim_end_matches(['+', '-', '*', '/', '%', '?']).len();
                    let sign = out.word.split_off(name) + "=";
                    out.end_word();
                    out.word = sign;
                    out.end_word();
                }
                None if c == '>' => {
                    // `2>`, `*>`: which stream it is.
                    if out.word.chars().all(|c| c.is_ascii_digit() || c == '*') {
                        out.word.clear();
                    }
                    out.end_word();
                    while chars.next_if_eq(&'>').is_some() {}
                    // `2>&1`
                    out.into_file = chars.next_if_eq(&'&').is_none();
                    while !out.into_file && chars.next_if(char::is_ascii_digit).is_some() {}
                }
                None if c == '\n' || self.ends.contains(&c) => out.end_statement(c),
                None if c.is_whitespace() => out.end_word(),
                None => {
                    if out.quoting == Quoting::Whole && c != ',' {
                        out.quoting = Quoting::Begins;
                    }
                    out.word.push(c);
                }
            }
        }
        out.end_word();
        out.all.push(out.statement);
        out.all
    }
}

/// What was read so far.
#[derive(Default)]
struct Splitter {
    all: Vec<Statement>,
    statement: Statement,
    word: String,
    quoting: Quoting,
    /// The next word is a file that output goes to.
    into_file: bool,
    /// The brackets that are open: is it a hash table's?
    open: Vec<bool>,
}

impl Splitter {
    fn end_word(&mut self) {
        let quoting = std::mem::take(&mut self.quoting);
        if self.word.is_empty() && quoting == Quoting::None {
            return;
        }
        let word = std::mem::take(&mut self.word);
        if std::mem::take(&mut self.into_file) {
            self.statement.files.push(word);
        } else {
            self.statement.words.push(word);
            self.statement.quoted.push(quoting);
        }
    }

    /// Does what was read of the statement stand in front of the `=` of a hash table?
    fn is_key(&self) -> bool {
        self.open.last() == Some(&true)
            && self.statement.key.is_none()
            && self.statement.words.len() + usize::from(!self.word.is_empty()) == 1
    }

    fn end_key(&mut self) {
        self.end_word();
        self.statement.key = self.statement.words.pop();
        self.statement.quoted.clear();
    }

    fn end_statement(&mut self, sign: char) {
        match sign {
            '{' | '(' => self.open.push(sign == '{' && self.word.ends_with('@')),
            '}' | ')' => drop(self.open.pop()),
            _ => {}
        }
        self.end_word();
        if std::mem::take(&mut self.into_file) && sign == '(' {
            // The file is computed.
            self.statement.files.push("$()".to_string());
        }
        let Statement { words, files, key, .. } = &self.statement;
        if !words.is_empty() || !files.is_empty() || key.is_some() {
            self.statement.computed = sign == '(';
            self.all.push(std::mem::take(&mut self.statement));
        }
        self.statement.between.push(sign);
    }
}

/// `$x = y`, `$x += y`, and `$x in y` of a loop.
pub(super) fn is_assignment(word: &str) -> bool {
    matches!(word, "=" | "+=" | "-=" | "*=" | "/=" | "%=" | "??=")
        || word.eq_ignore_ascii_case("in")
}

/// The variables that stand for a block, as they are written, and for nothing else: `$x = { ... }`.
pub(super) fn block_variables(statements: &[Statement]) -> Vec<String> {
    let set = |own: &Statement| own.target().map(str::to_ascii_lowercase);
    let pairs = statements.iter().zip(statements.iter().skip(1));
    let blocks = pairs.filter(|(own, next)| {
        own.assignment().is_some_and(|sign| sign + 1 == own.words.len())
            && next.between.starts_with('{')
    });
    let once = |name: &String| {
        statements.iter().filter(|own| set(own).as_ref() == Some(name)).count() == 1
    };
    blocks.filter_map(|(own, _)| set(own)).filter(once).collect()
}

/// A hash table that a variable stands for, as the options that `@name` hands on.
pub(super) struct Table {
    /// In small letters.
    pub(super) name: String,
    pub(super) options: Vec<String>,
}

impl Table {
    /// The tables that one place sets, and that no place changes: `$x = @{ Path = "a"; Force = $true }`.
    pub(super) fn of(statements: &[Statement]) -> Vec<Table> {
        let tables = statements.iter().enumerate().filter_map(|(at, own)| {
            let sign = own.assignment().filter(|sign| own.words[sign + 1..] == ["@"])?;
            let name = own.target()?.strip_prefix('$')?.to_ascii_lowercase();
            let once = |word: &str| {
                let word = word.to_ascii_lowercase();
                let behind = word.strip_prefix('$').and_then(|word| word.strip_prefix(&name[..]));
                behind.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
            };
            let uses = statements.iter().flat_map(|own| &own.words).filter(|word| once(word));
            let plain = sign == 1 && own.words[sign] == "=" && uses.count() == 1;
            let options = plain.then(|| options_of(&statements[at + 1..]))??;
            Some(Table { name, options })
        });
        tables.collect()
    }
}

/// The options that the statements within the braces of a hash table stand for. None = it is none.
fn options_of(statements: &[Statement]) -> Option<Vec<String>> {
    let (mut depth, mut options) = (0_usize, Vec::<String>::new());
    for own in statements {
        for sign in own.between.chars() {
            match sign {
                '{' | '(' => depth += 1,
                '}' | ')' => depth = depth.checked_sub(1)?,
                _ => {}
            }
            if depth == 0 {
                return Some(options);
            }
        }
        match (&own.key, &own.words[..]) {
            (Some(key), _) if depth == 1 && key.chars().all(|c| c.is_ascii_alphanumeric()) => {
                let option = format!("-{key}");
                match &own.words[..] {
                    [word] if word.eq_ignore_ascii_case("$true") => options.push(option),
                    [word] if word.eq_ignore_ascii_case("$false") => {}
                    [word] if !own.computed && own.files.is_empty() && !word.contains('@') => {
                        let blank = if word.starts_with('-') { " " } else { "" };
                        options.extend([option, format!("{blank}{word}")]);
                    }
                    // Known only at run time.
                    _ => options.extend([option, "$()".to_string()]),
                }
            }
            _ if depth > 1 => {}
            // What is joined to the value before.
            _ => return None,
        }
    }
    Some(options)
}
