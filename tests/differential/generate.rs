//! Command lines from a grammar of bash and one of zsh, the same ones for the same seed.

mod compound;
mod nested;
pub mod soup;
mod stored;
mod words;
mod zsh;

use super::jail::Shell;

/// Numbers that look like chance (splitmix64).
pub struct Rng(u64);

impl Rng {
    pub fn new(seed: u64) -> Rng {
        Rng(seed)
    }

    /// Below `n`.
    pub fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) % n.max(1) as u64) as usize
    }

    /// Once in `n` times.
    pub fn once(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    pub fn pick<'a, T: ?Sized>(&mut self, list: &[&'a T]) -> &'a T {
        list[self.below(list.len())]
    }
}

/// Makes lines.
pub struct Generator {
    rng: Rng,
    /// The shell that is to run the line.
    shell: Shell,
    /// How deep the next thing stands.
    depth: usize,
    /// Variables that the line has set so far.
    vars: Vec<String>,
    arrays: Vec<String>,
    functions: Vec<String>,
    /// Names of heredocs and files, so that none is used twice.
    count: usize,
    /// Constructs that are left out (environment variable WITHOUT).
    without: Vec<String>,
}

/// How deep constructs nest.
const DEPTH: usize = 4;

impl Generator {
    /// Line number `index` of that seed.
    pub fn line(shell: Shell, seed: u64, index: u64, without: &[String]) -> String {
        let mixed =
            seed.wrapping_mul(0x2545_F491_4F6C_DD1D) ^ index.wrapping_mul(0xD6E8_FEB8_6659_FD93);
        let mut generator = Generator {
            rng: Rng::new(mixed),
            shell,
            depth: 0,
            vars: Vec::new(),
            arrays: Vec::new(),
            functions: Vec::new(),
            count: 0,
            without: without.to_vec(),
        };
        generator.rng.below(2);
        let count = 1 + generator.rng.below(4);
        generator.list(count)
    }

    fn with(&self, construct: &str) -> bool {
        !self.without.iter().any(|w| w == construct)
    }

    /// Statements and what stands between them.
    fn list(&mut self, count: usize) -> String {
        let mut text = String::new();
        for i in 0..count {
            let one = self.statement();
            if i > 0 && !text.ends_with('\n') {
                text.push_str(self.separator(&one));
            }
            text.push_str(&one);
        }
        text
    }

    fn separator(&mut self, next: &str) -> &'static str {
        if next.starts_with("cd") || next.starts_with("pushd") {
            // The analysis believes that it is reached.
            return "; ";
        }
        match self.rng.below(12) {
            0..=5 => "; ",
            6 | 7 => "\n",
            8 | 9 => " && ",
            10 => " || ",
            _ => " & ",
        }
    }

    /// One to two statements, closed so that a reserved word may follow.
    fn body(&mut self) -> String {
        self.depth += 1;
        let count = 1 + self.rng.below(2);
        let text = self.list(count);
        self.depth -= 1;
        closed(text)
    }

    fn statement(&mut self) -> String {
        if self.depth >= DEPTH {
            return self.simple();
        }
        if self.shell == Shell::Zsh && self.rng.once(3) {
            return self.zsh();
        }
        match self.rng.below(106) {
            100 | 101 => self.parentheses(),
            102 | 103 => self.stored(),
            104 | 105 => self.redirected(),
            0..=33 => self.simple(),
            34..=48 => self.assignment(),
            49..=58 => self.compound(),
            59..=66 => self.wrapped(),
            67..=74 => self.script(),
            75..=80 => self.pipe(),
            81..=84 => self.fed(),
            85..=88 => self.heredoc(),
            89..=91 => self.positional(),
            92..=94 => self.directory(),
            95 => self.background(),
            96 => self.find(),
            97 => self.xargs(),
            _ => self.special(),
        }
    }

    /// A program with words and, at times, assignments and redirections.
    fn simple(&mut self) -> String {
        let mut text = String::new();
        if self.rng.once(14) {
            let value = self.word();
            text.push_str(&format!("V{}={value} ", self.rng.below(3)));
        }
        if self.rng.once(16) {
            text.push_str(&self.redirection());
            text.push(' ');
        }
        text.push_str(&self.call());
        while self.rng.once(5) {
            text.push(' ');
            text.push_str(&self.redirection());
        }
        text
    }

    /// A program with words.
    fn call(&mut self) -> String {
        if self.rng.once(9) {
            return self.template();
        }
        let mut text = self.program();
        if self.rng.once(6) {
            text.push(' ');
            text.push_str(self.rng.pick(&["-v", "-f", "-rf", "--force", "-n", "--"]));
        }
        for _ in 0..1 + self.rng.below(3) {
            text.push_str(if self.rng.once(40) { " \\\n" } else { " " });
            text.push_str(&self.word());
        }
        text
    }

    /// A program as a word.
    fn program(&mut self) -> String {
        let name = self.name();
        match self.rng.below(20) {
            0..=11 => name.to_string(),
            12..=14 => self.quote(name),
            15 => format!("/usr/bin/{name}"),
            16 => format!("/bin/{name}"),
            17 => self
                .rng
                .pick(&[
                    "./run.sh",
                    "scripts/build",
                    "~/bin/tool",
                    "/opt/tools/deploy",
                    "mine",
                    "/srv/bin/cleanup",
                    "/tmp/d/prog",
                    "../bin/tool",
                ])
                .to_string(),
            18 if !self.functions.is_empty() => {
                let at = self.rng.below(self.functions.len());
                self.functions[at].clone()
            }
            18 => format!("$(command -v {name})"),
            _ => {
                let half = name.len() / 2;
                format!("{}\"\"{}", &name[..half], &name[half..])
            }
        }
    }

    /// The name of a program whose words may be anything.
    fn name(&mut self) -> &'static str {
        self.rng.pick(&[
            "rm", "rm", "cp", "mv", "cat", "touch", "mkdir", "chmod", "ln", "mytool", "mytool",
            "tee", "stat", "rmdir", "ls", "shred", "file", "wc", "unlink", "git", "truncate", "du",
            "tree",
        ])
    }

    /// Calls that have a form of their own.
    fn template(&mut self) -> String {
        let w = self.word();
        match self.rng.below(26) {
            0 => format!("sed -n 1p {w}"),
            1 => format!("grep -r needle {w}"),
            2 => format!("awk '{{print $1}}' {w}"),
            3 => format!("tar czf out.tgz {w}"),
            4 => "curl -s https://x.example/a".to_string(),
            5 => format!("curl -o {w} https://x.example/a"),
            6 => format!("git commit -m {w}"),
            7 => "git push origin main".to_string(),
            8 => "make build".to_string(),
            9 => format!("echo {w}"),
            10 => format!("printf '%s\\n' {w}"),
            11 => "true".to_string(),
            12 => format!("[ -f {w} ]"),
            13 => format!("[[ -f {w} ]]"),
            14 => format!("test -n {w}"),
            15 => "date".to_string(),
            16 => format!("dd if=/dev/zero of={w}"),
            17 => format!("python3 {w}"),
            18 => "npm install".to_string(),
            19 => format!("ssh host.example {w}"),
            20 => format!("rsync -a {w} /srv/data/"),
            21 => format!("head -n 1 {w}"),
            22 => format!(": {w}"),
            23 => format!("command -v {}", self.name()),
            24 => format!("type {}", self.name()),
            _ => format!("sort {w}"),
        }
    }

    fn redirection(&mut self) -> String {
        let target = self.target();
        let read = self.readable();
        match self.rng.below(24) {
            0..=4 => format!("> {target}"),
            5 | 6 => format!(">>{target}"),
            7 | 8 => format!("< {read}"),
            9 => format!("2> {target}"),
            10 => format!("&> {target}"),
            11 => format!("&>>{target}"),
            12 => format!(">| {target}"),
            13 => format!("<> {target}"),
            14 => "2>&1".to_string(),
            15 => "2>/dev/null".to_string(),
            16 => format!("3> {target} >&3"),
            17 => format!("{{fd}}> {target}"),
            18 => format!("<<< {}", self.word()),
            19 => format!(">& {target}"),
            20 => format!("4< {read} <&4"),
            21 => "> >(cat)".to_string(),
            22 => format!("< <({})", self.plain_call()),
            _ => "3>&1 1>&2 2>&3".to_string(),
        }
    }

    /// A word that is one file.
    fn target(&mut self) -> String {
        match self.rng.below(12) {
            0..=4 => self
                .rng
                .pick(&["out", "./o1", "src/o2", "/tmp/o3", "../o4", "~/o5", "build/../o6"])
                .to_string(),
            5 | 6 => {
                let text = self.rng.pick(&["out", "a b", "/tmp/o 3", "$x", "src/o2", "o*"]);
                self.quote(text)
            }
            7 => "a.tx[t]".to_string(),
            8 => self.one_variable(),
            9 => format!("\"{}\".log", self.one_variable()),
            10 => format!("/tmp/{}", self.one_variable()),
            _ => self.word(),
        }
    }

    fn readable(&mut self) -> String {
        match self.rng.below(8) {
            0..=4 => self
                .rng
                .pick(&["list.txt", "a.txt", "/etc/conf", "~/notes", "src/main.c", "/tmp/t1"])
                .to_string(),
            5 => "c.lo?".to_string(),
            _ => self.target(),
        }
    }

    /// A call with words that hold nothing that nests.
    fn plain_call(&mut self) -> String {
        let name = self.name();
        format!("{name} {}", self.plain())
    }
}

/// With its end, so that `}` or `done` may follow.
pub fn closed(text: String) -> String {
    if text.ends_with('\n') { text } else { format!("{text}\n") }
}
