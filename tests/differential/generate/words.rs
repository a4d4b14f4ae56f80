//! Words: quoting, variables, expansions of every kind.

use super::{DEPTH, Generator};

impl Generator {
    /// Literal text without anything active.
    pub fn plain(&mut self) -> &'static str {
        self.rng.pick(&[
            "a.txt",
            "b.txt",
            "src/main.c",
            "./c.log",
            "../notes",
            "/etc/conf",
            "/tmp/t1",
            "-x",
            "src",
            "build/",
            "/srv/data/f1",
            "new",
            "x=y",
            "a,b",
            "/",
            ".",
            "..",
            "README.md",
            "--all",
            "e1",
        ])
    }

    /// Any word.
    pub fn word(&mut self) -> String {
        let mut text = self.piece();
        // Pieces that stand together.
        while self.rng.once(9) {
            text.push_str(&self.piece());
        }
        text
    }

    fn piece(&mut self) -> String {
        match self.rng.below(34) {
            0..=11 => self.plain().to_string(),
            12..=16 => {
                let text = self.rng.pick(&[
                    "a.txt",
                    "two words.txt",
                    "$x",
                    "*",
                    "it's",
                    "a\"b",
                    "back\\slash",
                    "~",
                    "{a,b}",
                    "",
                    "#no",
                    "a;b",
                    "$(rm no)",
                    "`rm no`",
                    "new\nline",
                    "-rf",
                    "/etc/conf",
                    "!x",
                    "é",
                    "tab\there",
                    "a&b",
                    "[a]",
                    "?",
                ]);
                self.quote(text)
            }
            17..=20 => self.variable(),
            21 | 22 => self.glob(),
            23 | 24 => self.braces(),
            25 => self
                .rng
                .pick(&["~", "~/x", "~/.ssh/id", "~+/q", "x~", "a:~/b", "~/\"q q\""])
                .to_string(),
            26 => self.arithmetic(),
            27 | 28 => self.substitution(),
            29 => self.operation(),
            30 => self.array(),
            31 => self.special_parameter(),
            32 => self.process(),
            _ => format!("\"{}\"", self.inside()),
        }
    }

    /// The same text in one of many spellings.
    pub fn quote(&mut self, text: &str) -> String {
        match self.rng.below(9) {
            0 | 1 => single(text),
            2 | 3 => double(text),
            4 => self.ansi(text),
            5 => escaped(text),
            6 if !text.is_empty() => {
                let mut out = String::new();
                for c in text.chars() {
                    if c.is_ascii_alphanumeric() && self.rng.once(3) {
                        out.push('\\');
                    }
                    if self.rng.once(12) {
                        out.push_str("\\\n");
                    }
                    out.push_str(&if c.is_ascii_alphanumeric() {
                        c.to_string()
                    } else {
                        escaped(&c.to_string())
                    });
                }
                out
            }
            7 if text.chars().count() > 1 => {
                let cut = text
                    .char_indices()
                    .nth(1 + self.rng.below(text.chars().count() - 1))
                    .map_or(1, |(at, _)| at);
                let (a, b) = text.split_at(cut);
                format!("{}{}", self.quote(a), self.quote(b))
            }
            8 => format!("${}", double(text)),
            _ => single(text),
        }
    }

    fn ansi(&mut self, text: &str) -> String {
        let mut out = "$'".to_string();
        for c in text.chars() {
            match (self.rng.below(6), c) {
                (_, '\n') => out.push_str("\\n"),
                (_, '\t') => out.push_str("\\t"),
                (0, c) if c.is_ascii() => out.push_str(&format!("\\x{:02x}", c as u32)),
                (1, c) if c.is_ascii() => out.push_str(&format!("\\{:03o}", c as u32)),
                (2, c) if c.is_ascii() => out.push_str(&format!("\\u{:04x}", c as u32)),
                (_, '\'' | '\\') => {
                    out.push('\\');
                    out.push(c);
                }
                _ => out.push(c),
            }
        }
        out.push('\'');
        out
    }

    /// The name of a variable that is set, mostly.
    pub fn var_name(&mut self) -> String {
        if self.vars.is_empty() || self.rng.once(25) {
            return self.rng.pick(&["HOME", "PWD", "UNSET", "OPTS", "USER", "OLDPWD"]).to_string();
        }
        let at = self.rng.below(self.vars.len());
        self.vars[at].clone()
    }

    fn variable(&mut self) -> String {
        let name = self.var_name();
        match self.rng.below(5) {
            0 => format!("${name}"),
            1 => format!("${{{name}}}"),
            2 => format!("\"${{{name}}}\""),
            3 => format!("\"${name}\""),
            _ => format!("\"${name}/x\""),
        }
    }

    /// A variable in quotes: one word.
    pub fn one_variable(&mut self) -> String {
        format!("\"${{{}}}\"", self.var_name())
    }

    fn inside(&mut self) -> String {
        let mut text = String::new();
        for _ in 0..1 + self.rng.below(3) {
            let name = self.var_name();
            match self.rng.below(8) {
                0 => text.push_str("a b"),
                1 => text.push_str(&format!("${{{name}}}")),
                2 => text.push_str(&format!("${{{name}:-d e}}")),
                3 if self.depth < DEPTH => text.push_str(&self.substitution()),
                4 => text.push_str("*.txt"),
                5 => text.push_str("\\$x\\\"q\\\\"),
                6 => text.push_str("$((1+2))"),
                _ => text.push_str("/t"),
            }
        }
        text
    }

    pub fn glob(&mut self) -> String {
        self.rng
            .pick(&[
                "*.txt",
                "src/*",
                "?.txt",
                "[ab].txt",
                "*",
                "src/*.c",
                "[!a].txt",
                "*/",
                "nothing*",
                "*/*.c",
                "[0-9].txt",
                "src/sub/../*.c",
                "two*",
                ".e*",
                "/srv/data/*",
                "~/*",
                "\"two\"*",
                "[[:alpha:]].txt",
                "./*.log",
            ])
            .to_string()
    }

    fn braces(&mut self) -> String {
        let variable = format!("{{a,{}}}", self.variable());
        match self.rng.below(14) {
            0 => "{a,b}".to_string(),
            1 => "x{1..3}.txt".to_string(),
            2 => "{a..c}".to_string(),
            3 => "p{a,b{1,2}}s".to_string(),
            4 => "{01..03}".to_string(),
            5 => "{a}".to_string(),
            6 => "{,x}".to_string(),
            7 => variable,
            8 => "{5..1..2}".to_string(),
            9 => "src/{main,util}.c".to_string(),
            10 => "{a,b}{c,d}".to_string(),
            11 => "{\"a,b\",c}".to_string(),
            12 => "{a,b".to_string(),
            _ => "{a\\,b,c}".to_string(),
        }
    }

    pub fn arithmetic(&mut self) -> String {
        let name = self.var_name();
        match self.rng.below(6) {
            0 => "$((1+2))".to_string(),
            1 => "$(( 7 / 2 * 3 ))".to_string(),
            2 => format!("$((n{} = 4))", self.rng.below(2)),
            3 => "$((2**3 % 5))".to_string(),
            4 => format!("\"$(( ${{#{name}}} > 1 ? 5 : 6 ))\""),
            _ => "$((0x10|1))".to_string(),
        }
    }

    /// `$(...)`, with what it prints known, or not.
    pub fn substitution(&mut self) -> String {
        if self.depth >= DEPTH {
            return "$(pwd)".to_string();
        }
        self.depth += 1;
        let text = match self.rng.below(14) {
            0..=2 => format!("$(echo {})", self.plain()),
            3 => format!("\"$(echo {})\"", self.word()),
            4 => format!("$(printf '%s' {})", self.plain()),
            5 => "$(pwd)".to_string(),
            6 => format!("$(basename {})", self.plain().trim_start_matches('-')),
            7 => format!("\"$(dirname {})\"", self.plain().trim_start_matches('-')),
            8 => format!("`echo {}`", self.plain()),
            9 => format!("$({})", self.list(1)),
            10 => format!("`{}`", self.plain_call()),
            11 => "$(< list.txt)".to_string(),
            12 => format!("$(cat <<E\n{}\nE\n)", self.plain()),
            _ => format!("\"$({}; echo q)\"", self.plain_call()),
        };
        self.depth -= 1;
        text
    }

    fn process(&mut self) -> String {
        if self.depth >= DEPTH {
            return "p".to_string();
        }
        self.depth += 1;
        let text = if self.rng.once(3) {
            format!(">({})", self.list(1))
        } else {
            format!("<({})", self.list(1))
        };
        self.depth -= 1;
        text
    }

    fn operation(&mut self) -> String {
        let x = self.var_name();
        let word = if self.depth < DEPTH {
            self.depth += 1;
            let word = self.word();
            self.depth -= 1;
            word
        } else {
            "w".to_string()
        };
        let text = match self.rng.below(26) {
            0..=2 => format!("${{{x}:-{word}}}"),
            3 => format!("${{{x}-{word}}}"),
            4 => format!("${{{x}:+{word}}}"),
            5 => format!("${{{x}+{word}}}"),
            6 => format!("${{n1:={word}}}"),
            7 => format!("${{{x}%.*}}"),
            8 => format!("${{{x}%%/*}}"),
            9 => format!("${{{x}#*/}}"),
            10 => format!("${{{x}##*/}}"),
            11 if self.with("replace") => format!("${{{x}/a/b}}"),
            12 if self.with("replace") => format!("${{{x}//[ab]/}}"),
            13 if self.with("substring") => format!("${{{x}:1}}"),
            14 if self.with("substring") => format!("${{{x}:0:2}}"),
            15 if self.with("substring") => format!("${{{x}: -2}}"),
            16 => format!("${{{x}^^}}"),
            17 => format!("${{{x},,}}"),
            18 => format!("${{{x}^}}"),
            19 => format!("${{#{x}}}"),
            // Of a value that is no name it is an error, which ends the line: only the names in use.
            20 if self.with("indirect") && x.len() <= 3 => format!("${{!{x}-}}"),
            21 => format!("${{{x}@Q}}"),
            22 => format!("${{{x}%\"t\"*}}"),
            23 => format!("${{{x}?no}}"),
            24 => format!("${{{x}#\\a}}"),
            _ => format!("${{{x}:?no}}"),
        };
        if self.rng.once(2) { format!("\"{text}\"") } else { text }
    }

    fn array(&mut self) -> String {
        if self.arrays.is_empty() {
            return self.variable();
        }
        let at = self.rng.below(self.arrays.len());
        let a = self.arrays[at].clone();
        match self.rng.below(10) {
            0..=2 => format!("\"${{{a}[@]}}\""),
            3 => format!("${{{a}[@]}}"),
            4 => format!("${{{a}[*]}}"),
            5 => format!("\"${{{a}[*]}}\""),
            6 => format!("\"${{{a}[0]}}\""),
            7 => format!("${{{a}[1]}}"),
            8 => format!("${{#{a}[@]}}"),
            _ => format!("${{{a}}}"),
        }
    }

    fn special_parameter(&mut self) -> String {
        self.rng
            .pick(&[
                "\"$@\"",
                "$@",
                "$*",
                "\"$*\"",
                "$1",
                "\"$2\"",
                "$#",
                "$?",
                "$$",
                "\"${@:2}\"",
                "$0",
                "${10}",
                "x\"$@\"y",
                "$-",
            ])
            .to_string()
    }
}

pub fn single(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

pub fn double(text: &str) -> String {
    let mut out = "\"".to_string();
    for c in text.chars() {
        if matches!(c, '$' | '`' | '"' | '\\') {
            out.push('\\');
        }
        out.push(c);
    }
    out.push('"');
    out
}

fn escaped(text: &str) -> String {
    if text.is_empty() {
        return "''".to_string();
    }
    let mut out = String::new();
    for c in text.chars() {
        if c == '\n' {
            out.push_str("$'\\n'");
            continue;
        }
        if !(c.is_ascii_alphanumeric() || "/._-".contains(c) || !c.is_ascii()) {
            out.push('\\');
        }
        out.push(c);
    }
    out
}
