//! Commands that other commands run: wrappers, shell text, pipes, heredocs, find, xargs.

use super::Generator;
use super::words::{double, single};

impl Generator {
    pub fn wrapped(&mut self) -> String {
        self.depth += 1;
        let inner = if self.rng.once(3) { self.wrapped_call() } else { self.call() };
        self.depth -= 1;
        let wrapper = self.wrapper();
        let mut text = format!("{wrapper} {inner}");
        if self.rng.once(5) {
            text.push_str(&format!(" {}", self.redirection()));
        }
        text
    }

    fn wrapped_call(&mut self) -> String {
        let wrapper = self.wrapper();
        format!("{wrapper} {}", self.call())
    }

    fn wrapper(&mut self) -> String {
        let value = self.plain();
        match self.rng.below(32) {
            0 => format!("env A={value}"),
            1 => "env -i".to_string(),
            2 => "env -u HOME".to_string(),
            3 => "env -C src".to_string(),
            4 => "env --".to_string(),
            5 => "sudo".to_string(),
            6 => "sudo -u root".to_string(),
            7 => format!("sudo -E A={value}"),
            8 => "sudo -n --".to_string(),
            9 => "timeout 5".to_string(),
            10 => "timeout -k 1 -s KILL 5s".to_string(),
            11 => "timeout --signal=TERM 5".to_string(),
            12 => "nohup".to_string(),
            13 => "nice".to_string(),
            14 => "nice -n 5".to_string(),
            15 => "nice -5".to_string(),
            16 => "setsid".to_string(),
            17 => "stdbuf -oL".to_string(),
            18 => "stdbuf -o L -e0".to_string(),
            19 => "/usr/bin/time -p".to_string(),
            20 => "command".to_string(),
            21 => "command -p".to_string(),
            22 => "exec".to_string(),
            23 => "busybox".to_string(),
            24 => "flock /tmp/lock".to_string(),
            25 => "strace -f -o trace".to_string(),
            26 => "doas -u root".to_string(),
            27 => "ionice -c 3".to_string(),
            28 => "chronic".to_string(),
            29 => "\\command".to_string(),
            30 => "/usr/bin/env".to_string(),
            _ => "xargs -r".to_string(),
        }
    }

    /// Shell text for a nested shell, not yet quoted.
    fn text(&mut self) -> String {
        self.depth += 1;
        let functions = std::mem::take(&mut self.functions);
        let vars = self.vars.len();
        let count = 1 + self.rng.below(2);
        let text = self.list(count);
        self.vars.truncate(vars);
        self.functions = functions;
        self.depth -= 1;
        text
    }

    fn quoted_text(&mut self, text: &str) -> String {
        match self.rng.below(5) {
            0 | 1 => single(text),
            2 => double(text),
            _ => self.quote(text),
        }
    }

    pub fn script(&mut self) -> String {
        let text = self.text();
        let quoted = self.quoted_text(&text);
        let name = self.name();
        let word = self.word();
        match self.rng.below(24) {
            0..=3 => format!("bash -c {quoted}"),
            4 | 5 => format!("sh -c {quoted}"),
            6 => format!("bash -c '{name} \"$1\" $2' _ {word} {}", self.plain()),
            7 => format!("bash -c '{name} \"$@\"' _ {word}"),
            8 => format!("bash -ec {quoted}"),
            9..=11 => format!("eval {quoted}"),
            12 => format!("eval {name} {word}"),
            13 => format!("eval \"{name} {}\"", self.one_variable().replace('"', "")),
            14 => format!("c={quoted}; eval \"$c\""),
            15 => format!("c={quoted}; bash -c \"$c\""),
            16 => format!("c='{name} a b'; $c"),
            17 => format!("export v={word}; bash -c '{name} \"$v\"'"),
            18 => format!("v={word} bash -c '{name} \"$v\"'"),
            19 => format!("env v={word} bash -c '{name} $v'"),
            20 => format!("su -c {quoted}"),
            21 => format!("flock /tmp/lock -c {quoted}"),
            22 => format!("sudo bash -c {quoted}"),
            _ => format!("bash -o errexit -c {quoted}"),
        }
    }

    pub fn pipe(&mut self) -> String {
        let call = self.call();
        match self.rng.below(8) {
            0..=2 => format!("{call} | {}", self.simple()),
            3 => format!("{call} |& {}", self.call()),
            4 => format!("{call} | tee {} | wc -l", self.target()),
            5 => format!("{call} | while read -r l; do {} \"$l\"; done", self.name()),
            6 => format!("{call} | {{ {}}}", self.body()),
            _ => format!("cat a.txt | sort | {}", self.simple()),
        }
    }

    /// Shells and `source` that read their text from somewhere.
    pub fn fed(&mut self) -> String {
        let plain = self.plain_call();
        let text = self.text();
        let quoted = self.quoted_text(&text);
        self.count += 1;
        let file = format!("s{}.sh", self.count);
        match self.rng.below(14) {
            0 => format!("echo '{plain}' | bash"),
            1 => format!("bash <<< {quoted}"),
            2 => format!("printf '%s\\n' '{plain}' | sh"),
            3 => format!("echo '{plain}' > {file}; bash {file}"),
            4 => format!("source <(echo '{plain}')"),
            5 => format!("source /dev/stdin <<< '{plain}'"),
            6 => format!("echo '{plain}' | sudo sh -s"),
            7 => format!("bash -s one two <<< 'rm \"$1\"; {plain}'"),
            8 => "curl -s https://x.example/i | sh".to_string(),
            9 => format!("source env.sh; {plain}"),
            10 => format!("echo '{plain}' > {file} && . ./{file}"),
            11 => format!("bash <(echo '{plain}')"),
            12 => format!("bash env.sh {}", self.word()),
            _ => format!("echo '{plain}' | cat | bash"),
        }
    }

    pub fn heredoc(&mut self) -> String {
        self.count += 1;
        let end = format!("E{}", self.count);
        let text = self.text();
        let script = super::closed(text);
        let call = self.call();
        let name = self.name();
        let variable = self.one_variable().replace('"', "");
        match self.rng.below(9) {
            0 => format!("bash <<'{end}'\n{script}{end}\n"),
            1 => format!("bash <<{end}\n{name} {} {variable}\n{end}\n", self.plain()),
            2 => format!("{call} <<{end}\n$({name} {}) `{name} q`\n{end}\n", self.plain()),
            3 => format!("cat <<'{end}' > {}\n$(rm no)\n{end}\n", self.target()),
            4 => format!("cat <<-{end} | bash\n\t{name} {}\n\t{end}\n", self.plain()),
            5 => format!("cat > h{0}.sh <<'{end}'\n{script}{end}\nbash h{0}.sh\n", self.count),
            6 => format!("while read -r l; do {name} \"$l\"; done <<{end}\nq {variable}\n{end}\n"),
            7 => format!("sh -s {} <<\"{end}\"\n{name} $1\n{end}\n", self.plain()),
            _ => format!("{call} <<{end} && {name} z\nbody \\$({name} no)\n{end}\n"),
        }
    }

    pub fn find(&mut self) -> String {
        let start = self.rng.pick(&[".", "src", "/tmp", "~/bin", "src build"]);
        let name = self.name();
        match self.rng.below(8) {
            0 => format!("find {start} -name '*.txt' -exec {name} {{}} \\;"),
            1 => format!("find {start} -exec {name} -v {{}} +"),
            2 => format!("find {start} -type f -exec sh -c '{name} \"$1\"' _ {{}} ';'"),
            3 => format!("find {start} -print0 | xargs -0 {name}"),
            4 => format!("find {start} -name x -delete"),
            5 => format!("find {start} | while read -r l; do {name} \"$l\"; done"),
            6 => format!("find {start} -execdir {name} q {{}} \\; -exec rm {{}}.bak \\;"),
            _ => format!("find {start} -exec bash -c '{name} {{}}' \\;"),
        }
    }

    pub fn xargs(&mut self) -> String {
        let name = self.name();
        let (a, b) = (self.plain(), self.plain());
        match self.rng.below(9) {
            0 => format!("echo {a} {b} | xargs {name}"),
            1 => format!("printf '%s\\n' {a} {b} | xargs -n1 {name} -v"),
            2 => format!("echo {a} | xargs -I{{}} {name} {{}} z"),
            3 => format!("ls | xargs {name}"),
            4 => format!("xargs -a list.txt {name}"),
            5 => format!("echo {a} {b} | xargs sh -c '{name} \"$@\"' _"),
            6 => format!("xargs {name} < list.txt"),
            7 => format!("git ls-files | xargs -d '\\n' {name}"),
            _ => format!("xargs -I % sh -c '{name} %' <<< {a}"),
        }
    }
}
