//! What only zsh has, or does in another way.

use super::{Generator, closed};

impl Generator {
    pub fn zsh(&mut self) -> String {
        match self.rng.below(7) {
            0 => self.parameter(),
            1 => self.hook(),
            2 => self.zsh_words(),
            3 => self.zsh_compound(),
            4 => self.zsh_redirection(),
            5 => self.precommand(),
            _ => self.zsh_builtin(),
        }
    }

    /// Parameters that define functions, aliases, commands and paths.
    fn parameter(&mut self) -> String {
        let call = self.plain_call();
        let name = self.rng.pick(&["ls", "wc", "foo"]).to_string();
        let then = format!("{name} {}", self.plain());
        let text = match self.rng.below(22) {
            0 => format!("functions[{name}]='{call}'; {then}"),
            1 => format!("functions+=({name} '{call}'); {then}"),
            2 => format!("functions=({name} '{call}'); {then}"),
            3 => format!("aliases[{name}]='{call}'; eval {then}"),
            4 => format!("alias -g G='; {call}'; eval '{then} G'"),
            5 => format!("galiases[G]='; {call}'; eval '{then} G'"),
            6 => "saliases[txt]=rm; eval a.txt".to_string(),
            7 => format!("commands[{name}]=/opt/tools/deploy; {then}"),
            8 => format!("hash {name}=/opt/tools/deploy; {then}"),
            9 => format!("path=(/opt/tools $path); deploy; {then}"),
            10 => "path+=/srv/bin; cleanup".to_string(),
            11 => format!("cdpath=(/srv); cd data; {call}"),
            12 => "zmodload zsh/mapfile; mapfile[out]=x".to_string(),
            13 => "zmodload zsh/mapfile; echo $mapfile[list.txt]".to_string(),
            14 => format!("typeset 'functions[{name}]={call}'; {then}"),
            15 => format!("printf -v 'functions[{name}]' '{call}'; {then}"),
            16 => format!("read 'functions[{name}]' <<< '{call}'; {then}"),
            17 => format!(": ${{functions[{name}]::='{call}'}}; {then}"),
            18 => format!("hash -d q=/srv/data; {} ~q/f1", self.name()),
            19 => format!("alias -s txt='{call}'\neval ./b.txt"),
            20 => format!("NULLCMD={}; > out", self.name()),
            _ => format!("READNULLCMD={}; < list.txt", self.name()),
        };
        format!("({})", closed(text))
    }

    fn hook(&mut self) -> String {
        let call = self.plain_call();
        let name = self
            .rng
            .pick(&["TRAPEXIT", "zshexit", "chpwd", "TRAPZERR", "TRAPDEBUG", "TRAPUSR1"])
            .to_string();
        let define = match self.rng.below(6) {
            0 => format!("{name}() {{ {call} }}"),
            1 => format!("function {name} {{ {call} }}"),
            2 => format!("{name}() {call}"),
            3 => format!("functions[{name}]='{call}'"),
            4 => format!("f3() {{ {call} }}; chpwd_functions=(f3); zshexit_functions+=(f3)"),
            _ => format!("function {name}() {{\n{call}\n}}"),
        };
        let then = match self.rng.below(4) {
            0 => "cd src".to_string(),
            1 => "false".to_string(),
            2 => "pushd src".to_string(),
            _ => self.plain_call(),
        };
        format!("({define}; {then})")
    }

    fn zsh_words(&mut self) -> String {
        let name = self.name();
        let call = self.plain_call();
        let var = self.var_name();
        match self.rng.below(34) {
            0 => format!("{name} =({call})"),
            1 => format!("{name} =(echo x)"),
            2 => format!("={name} {}", self.plain()),
            3 => format!("{name} =ls"),
            4 => format!("x='a.txt b.txt'; {name} $x"),
            5 => format!("x='a.txt b.txt'; {name} ${{=x}}"),
            6 => format!("x='*.txt'; {name} $~x"),
            7 => format!("x='*.txt'; {name} $x"),
            8 => format!("{name} *(e:'{call}':)"),
            9 => format!("{name} *.txt(.)"),
            10 => format!("{name} **/*.c(N)"),
            11 => format!("{name} src/*(om[1])"),
            12 => format!("x='$({call})'; echo ${{(e)x}}"),
            13 => format!("y=a.txt; x=y; {name} ${{(P)x}}"),
            14 => format!("x=(a.txt b.txt); {name} $x[1]"),
            15 => format!("x=(a.txt b.txt); {name} $x"),
            16 => format!("x=(a.txt b.txt); {name} ${{x[-1]}} ${{x[2]}}"),
            17 => format!("x=(a.txt b.txt); {name} p$^x"),
            18 => format!("x=a.txt:b.txt; {name} ${{(s.:.)x}}"),
            19 => format!("{name} ${{:-a.txt}}"),
            20 => format!("x=src/main.c; {name} $x:h ${{x:t}}"),
            21 => format!("{name} (a|b).txt"),
            22 => format!("{name} <1-2>.txt"),
            23 => format!("setopt extendedglob; {name} ^a*.txt"),
            24 => format!("{name} ${{(f)\"$(< list.txt)\"}}"),
            25 => format!("{name} \"${{(@)${{:-a b}}}}\""),
            26 => format!("{name} ${{{var}:#a*}}"),
            27 => format!("x='%x'; {name} ${{(%)x}}"),
            28 => format!("setopt promptsubst; x='$({call})'; echo ${{(%%)x}}"),
            29 => format!("x=src; {name} $x/{{main,util}}.c"),
            30 => format!("x=(src build); {name} $x/q"),
            31 => format!("setopt shwordsplit; x='a.txt b.txt'; {name} $x"),
            32 => format!("{name} *.txt(+f4)"),
            _ => format!("setopt nonomatch; {name} nothing* (z)"),
        }
    }

    fn zsh_compound(&mut self) -> String {
        let call = self.call();
        let plain = self.plain_call();
        let body = self.body();
        match self.rng.below(24) {
            0 => format!("repeat 2 {plain}"),
            1 => format!("repeat 2; do {body}done"),
            2 => format!("for x (a.txt b.txt) {} $x", self.name()),
            3 => format!("for x (a.txt b.txt); do {body}done"),
            4 => format!("for x (a.txt b.txt) {{ {body}}}"),
            5 => format!("foreach x (a.txt b.txt)\n{body}end"),
            6 => format!("for x y in a.txt b.txt c d; do {} $x $y; done", self.name()),
            7 => format!("if [[ -n a ]] {{ {body}}} else {{ {plain} }}"),
            8 => format!("if [[ -n a ]] {plain}"),
            9 => format!("while ((0)) {{ {body}}}; {plain}"),
            10 => format!("() {{ {body}}} a b"),
            11 => format!("() {{ {} $1 $2 }} {} b", self.name(), self.plain()),
            12 => format!("function {{ {body}}}"),
            13 => format!("{{ {body}}} always {{ {plain} }}"),
            14 => format!("f4 f5() {{ {body}}}; f5 x"),
            15 => format!("f4() {plain}; f4"),
            16 => format!("function f4 {{ {} $1 }}; f4 {}", self.name(), self.word()),
            17 => format!("coproc {plain}; wait"),
            18 => format!("{call} |& {plain}"),
            19 => format!("{plain} &! wait"),
            20 => format!("{plain} &| sleep 0"),
            21 => format!("select x in a b; do {plain}; break; done <<< 1"),
            22 => format!("case a {{ (a|b) {plain} ;; }}"),
            _ => format!("case a in (a) {plain} ;| (*) {call} ;; esac"),
        }
    }

    fn zsh_redirection(&mut self) -> String {
        let call = self.call();
        let (one, two) = (self.target(), self.target());
        match self.rng.below(16) {
            0 => format!("{call} > {one} > {two}"),
            1 => format!("{call} > {one} | cat"),
            2 => format!("{call} >! {one}"),
            3 => format!("{call} >>| {one}"),
            4 => format!("{call} &>! {one}"),
            5 => format!("{call} <> {one}"),
            6 => format!("> {one}"),
            7 => format!("< {}", self.readable()),
            8 => format!(">> {one} {call}"),
            9 => format!("cat < {} < {}", self.readable(), self.readable()),
            10 => format!("echo a | cat < {}", self.readable()),
            11 => format!("{call} > >({}) > {one}", self.plain_call()),
            12 => format!("{call} > *.txt"),
            13 => format!("{call} >&! {one}"),
            14 => format!("<<< '{}' | sh", self.plain_call()),
            _ => format!("echo '{}' > {one} | sh", self.plain_call()),
        }
    }

    fn precommand(&mut self) -> String {
        let call = self.call();
        let plain = self.plain_call();
        match self.rng.below(10) {
            0 => format!("noglob {call}"),
            1 => format!("nocorrect {plain}"),
            2 => format!("- {plain}"),
            3 => format!("command {call}"),
            4 => format!("builtin eval '{plain}'"),
            5 => format!("noglob command {plain}"),
            6 => format!("(exec {plain})"),
            7 => format!("noglob nocorrect {plain}"),
            8 => format!("(exec -a x {plain})"),
            _ => format!("eval {plain}"),
        }
    }

    fn zsh_builtin(&mut self) -> String {
        let call = self.plain_call();
        let name = self.name();
        match self.rng.below(22) {
            0 => format!("emulate sh -c '{call}'"),
            1 => format!("(emulate sh; x='a.txt b.txt'; {name} $x)"),
            2 => format!("print -P x; {call}"),
            3 => format!("setopt promptsubst; print -P '$({call})'"),
            4 => format!("zsh -c '{call}'"),
            5 => format!("zsh -fc '{call}'"),
            6 => format!("(setopt ksharrays; x=(a.txt b.txt); {name} ${{x[1]}})"),
            7 => "(setopt autocd; src; rm q)".to_string(),
            8 => format!("(setopt cdablevars; d=/srv/data; cd d; {call})"),
            9 => "[ a == b ]".to_string(),
            10 => "[ x = =ls ]".to_string(),
            11 => format!("print -v x '{call}'; eval $x"),
            12 => format!("typeset -A h; h[k]='{call}'; eval $h[k]"),
            13 => format!("set -A x a.txt b.txt; {name} $x"),
            14 => format!("(setopt nullglob; {name} nothing* a)"),
            15 => format!("(setopt braceccl; {name} {{ab}}.txt)"),
            16 => format!("(setopt ignorebraces; {name} {{a,b}})"),
            17 => format!("pushd /tmp; {call}; popd"),
            18 => format!("cd src/main util; cd /srv/data; {call}"),
            19 => format!("trap '{call}' EXIT"),
            20 => format!("f6() {{ trap '{call}' EXIT; }}; f6"),
            _ => format!("zmodload zsh/zutil; zstyle -e ':x' y '{call}'; zstyle -s ':x' y r"),
        }
    }
}
