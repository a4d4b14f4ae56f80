//! Statements that change what follows, and those that hold others.

use super::{Generator, closed};

impl Generator {
    pub fn assignment(&mut self) -> String {
        let x = self.rng.pick(&["x", "y", "z", "dir", "f"]).to_string();
        let word = self.word();
        let kind = self.rng.below(26);
        let text = match kind {
            0..=8 => format!("{x}={word}"),
            9 => format!("{x}+={word}"),
            10 => format!("export {x}={word}"),
            11 => format!("declare {x}={word}"),
            12 => format!("printf -v {x} %s {word}"),
            13 => format!("read -r {x} <<< {word}"),
            14 => format!(": ${{{x}:={word}}}"),
            15 => format!("{x}=$(echo {word})"),
            16 => format!("{x}={} {x}2={word}", self.plain()),
            17 => format!("(({x}=3+4))"),
            18 => format!("let {x}=2*3"),
            19 => format!("unset {x}"),
            20..=22 => {
                let a = self.rng.pick(&["arr", "list"]).to_string();
                let more = self.word();
                let text = match self.rng.below(6) {
                    0..=2 => format!("{a}=({word} {more})"),
                    3 => format!("{a}+=({word})"),
                    4 => format!("{a}[1]={word}"),
                    _ => format!("declare -a {a}=({word} \"{more}\")").replace("\"\"", "\""),
                };
                self.arrays.push(a);
                return text;
            }
            23 => format!("IFS=: read -r {x} y <<< a:b"),
            24 if self.with("ifs") => format!("IFS={}", self.rng.pick(&[",", "/", ":", "' '"])),
            25 => format!("readonly r{}={word}", self.count),
            _ => format!("{x}={word}"),
        };
        if kind == 16 {
            self.vars.push(format!("{x}2"));
        }
        self.vars.push(x);
        text
    }

    pub fn compound(&mut self) -> String {
        let x = self.rng.pick(&["i", "f", "x"]).to_string();
        match self.rng.below(20) {
            0 | 1 => {
                let words = format!("{} {}", self.word(), self.word());
                self.vars.push(x.clone());
                format!("for {x} in {words}; do {}done", self.body())
            }
            2 => {
                let glob = self.glob();
                self.vars.push(x.clone());
                format!("for {x} in {glob}; do {}done", self.body())
            }
            3 => {
                self.vars.push("i".to_string());
                format!("for ((i=0;i<2;i++)); do {}done", self.body())
            }
            4 | 5 => {
                let condition = self.condition();
                format!("if {condition}; then {}else {}fi", self.body(), self.body())
            }
            6 => {
                let condition = self.condition();
                format!(
                    "if {condition}; then {}elif {}; then {}fi",
                    self.body(),
                    self.condition(),
                    self.body()
                )
            }
            7 => {
                self.vars.push("l".to_string());
                let body = self.body();
                let file = self.rng.pick(&["list.txt", "b.txt", "/etc/conf"]);
                format!("while read -r l; do {body}done < {file}")
            }
            8 => format!("while {}; do {}break; done", self.condition(), self.body()),
            9 => format!("until false; do {}break; done", self.body()),
            10 => {
                let word = self.word();
                let pattern = self.rng.pick(&["a*", "*.txt|b", "\"x\"", "?", "src/*"]);
                let end = self.rng.pick(&[";;", ";;", ";&", ";;&"]);
                format!("case {word} in {pattern}) {}{end} *) {};; esac", self.body(), self.body())
            }
            11..=13 => self.function(),
            14 | 15 => format!("({})", self.body()),
            16 | 17 => {
                let redirection = if self.rng.once(2) {
                    format!(" {}", self.redirection())
                } else {
                    String::new()
                };
                format!("{{ {}}}{redirection}", self.body())
            }
            18 => format!("! {}", self.simple()),
            _ => format!("time {}", self.simple()),
        }
    }

    fn function(&mut self) -> String {
        let name = self.rng.pick(&["fn1", "fn2", "fn3", "ls", "mytool"]).to_string();
        let local =
            if self.rng.once(3) { format!("local x={}\n", self.word()) } else { String::new() };
        // A body without calls to functions: none calls itself.
        let functions = std::mem::take(&mut self.functions);
        let vars = self.vars.len();
        let body = if matches!(name.as_str(), "ls" | "mytool") {
            format!("command rm {}\n", self.word())
        } else {
            self.body()
        };
        self.vars.truncate(vars);
        self.functions = functions;
        let head = self.rng.pick(&["() {", "(){", " () {"]);
        let define = format!("{name}{head} {local}{body}}}");
        if !self.functions.contains(&name) {
            self.functions.push(name.clone());
        }
        format!("{define}; {name} {} {}", self.word(), self.plain())
    }

    pub fn condition(&mut self) -> String {
        match self.rng.below(9) {
            0 => "true".to_string(),
            1 => "false".to_string(),
            2 => format!("[ -n {} ]", self.one_variable()),
            3 => format!("[[ {} == a* ]]", self.one_variable()),
            4 => "(( 1 < 2 ))".to_string(),
            5 => format!("test -f {}", self.plain()),
            6 => format!("! {}", self.plain_call()),
            7 => format!("diff {} {}", self.plain(), self.plain()),
            _ => self.call(),
        }
    }

    pub fn positional(&mut self) -> String {
        let words = format!("{} {} {}", self.word(), self.word(), self.plain());
        let name = self.name();
        match self.rng.below(7) {
            0 => format!("set -- {words}; {name} \"$1\" $2"),
            1 => format!("set -- {words}; shift; {name} \"$@\""),
            2 => format!("set -- {words}; for p; do {name} \"$p\"; done"),
            3 => format!("set -- {words}; {name} $# \"$*\""),
            4 => format!("set -- {words}; shift 2; {name} $1"),
            5 => format!("set -- {words}\nwhile [ $# -gt 0 ]; do {name} \"$1\"; shift; done"),
            _ => format!("set a {words}; {name} $2"),
        }
    }

    pub fn directory(&mut self) -> String {
        let call = self.call();
        let redirected = self.simple();
        match self.rng.below(12) {
            0..=2 => format!(
                "cd {} && {redirected}",
                self.rng.pick(&["src", "/tmp", "..", "~", "./src/sub", "/srv/data"])
            ),
            3 => format!("cd ~/project/src; {redirected}; cd ..; {call}"),
            4 => format!("(cd /tmp; {redirected}); rm q"),
            5 => format!("pushd ~/project/src; {redirected}; popd; {call}"),
            // The analysis believes a `cd` in a chain: it must not outlive this one.
            6 => format!("(cd nowhere && {call})"),
            7 => format!("(cd nowhere || {redirected})"),
            8 => format!("cd /tmp; cd -; {redirected}"),
            9 => format!("cd; {redirected}"),
            10 => format!("cd src | cat; {redirected}"),
            _ => format!("cd src & {redirected}"),
        }
    }

    pub fn background(&mut self) -> String {
        // bash prints a coproc inside `$(...)` in a form that it then reads otherwise.
        let kinds = if self.depth == 0 { 4 } else { 1 };
        match self.rng.below(kinds) {
            0 => format!("{} & wait", self.simple()),
            1 => format!("coproc {}", self.call()),
            2 => format!("coproc CO {{ {}}}", self.body()),
            _ => format!("{{ {}}} & wait $!", self.body()),
        }
    }

    /// Builtins that take words, traps, aliases.
    pub fn special(&mut self) -> String {
        let call = self.call();
        let plain = self.plain_call();
        match self.rng.below(17) {
            0 => format!("trap '{plain}' EXIT"),
            1 => format!("trap {} EXIT; {plain}", super::words::double(&call)),
            2 => format!("trap '{plain}' DEBUG"),
            3 => format!("trap '{plain}' ERR; false"),
            4 => format!("shopt -s expand_aliases\nalias ll='{plain}'\nll {}", self.word()),
            5 => format!("exec {call}"),
            6 => format!("exec > {}", self.target()),
            7 => format!("exec 5< {}; {plain} <&5", self.readable()),
            8 => format!("exec {{fd}}> {}; echo a >&\"$fd\"", self.target()),
            9 => format!("(exec -a other {call})"),
            10 => format!("mapfile -t list < {}; rm \"${{list[0]}}\"", self.readable()),
            11 => format!("shopt -s nullglob; {call}"),
            12 => format!("set -f; {call}"),
            13 => format!("shopt -s dotglob; rm {}", self.glob()),
            14 => format!("set -e; {call}"),
            15 if self.with("extglob") => "shopt -s extglob\nrm @(a|b).txt".to_string(),
            16 => format!("select s in a b; do {plain}; break; done <<< 1"),
            _ => closed(call),
        }
    }
}
