//! What is easily taken for something else: `((` for arithmetic, arithmetic for a number, a redirection for one file.

use super::{Generator, closed};
use crate::jail::Shell;

impl Generator {
    /// `((`: arithmetic, or one subshell in another.
    pub fn parentheses(&mut self) -> String {
        let (a, b) = (self.plain_call(), self.plain_call());
        let body = self.body();
        let group = match self.rng.below(12) {
            0 => format!("(({a});({b}))"),
            1 => format!("(({a}) ; ({b}) )"),
            2 => format!("(( {a} ); {b})"),
            3 => format!("(({a})\n({b}))"),
            4 => format!("(({a}) && ({b}))"),
            5 => format!("((({a}); {b}); {a})"),
            6 => format!("(({a}) | cat)"),
            7 => format!("(({a}) )"),
            8 => format!("((echo '))'; {a}); {b})"),
            9 => format!("(({a}) > /tmp/o; ({b}))"),
            10 => format!("(({body}); ({b}))"),
            _ => format!("((n = 1); ({a}))"),
        };
        let sum = self.rng.pick(&["(1+2)*3", " n = 4 ", "(n+1)", "1 << 2", "n++", "(1) + (2)"]);
        match self.rng.below(16) {
            0..=3 => group,
            4 => format!("echo ${group}"),
            5 => format!("x=\"${group}\"; {a}"),
            6 => format!("if {group}; then {body}fi"),
            7 => format!("! {group}"),
            8 => format!("{group} | cat"),
            9 => format!("{group} & wait"),
            10 => format!("true && {group} || {b}"),
            11 => format!("for i in 1 2; do {group}; done"),
            12 => format!("(({sum})) && {a}"),
            13 => format!("echo $(({sum})); {a}"),
            14 => format!("while ((n{} < 1)); do {body}break; done", self.rng.below(2)),
            _ => format!("case $(({sum})) in 1|4) {body};; esac"),
        }
    }

    /// Arithmetic on text that somebody has put somewhere.
    pub fn stored(&mut self) -> String {
        let call = self.plain_call();
        let text = format!("'path[$({call})]'");
        let zsh = self.shell == Shell::Zsh;
        let evaluation = self.evaluation();
        let set = match self.rng.below(20) {
            0..=4 => format!("x={text}"),
            5 => "read x < stored".to_string(),
            6 => "read -r x rest < stored".to_string(),
            7 => "x=$(cat stored)".to_string(),
            8 => "x=$(< stored)".to_string(),
            9 => format!("printf -v x %s {text}"),
            10 => format!("read x <<< {text}"),
            11 => format!("export x={text}"),
            12 => format!("z={text}; x=z"),
            13 => format!("x=a; x={text}"),
            14 => format!(": ${{x:={text}}}"),
            15 => "x=`cat stored`".to_string(),
            16 if !zsh => "mapfile -t x < stored".to_string(),
            17 => format!("x=path; x+='[$({call})]'"),
            18 => format!("x=({text} b)"),
            _ => format!("x={text}"),
        };
        let whole = match self.rng.below(24) {
            0..=9 => format!("{set}; {evaluation}"),
            10 => format!("while read x; do {evaluation}; done < stored"),
            11 => format!("cat stored | while read -r x; do {evaluation}; done"),
            12 => format!("for x in $(cat stored) {text}; do {evaluation}; done"),
            13 => format!("f1() {{ echo $(($1)); }}; f1 {text}"),
            14 => format!("f1() {{ local x=$1; {evaluation}; }}; f1 {text}"),
            15 => format!("typeset -i v={text}"),
            16 => "typeset -i v; read v < stored".to_string(),
            17 => format!("declare -i v; v={text}"),
            18 => format!("let {text}"),
            19 => format!("test -v {text}; [[ -v {text} ]]"),
            20 => format!("read {text} <<< 1; unset {text}"),
            21 => format!("printf -v {text} %s 1"),
            22 => format!("SECONDS={text}"),
            _ => format!("export x={text}; bash -c 'echo $((x))'"),
        };
        format!("({whole})")
    }

    fn evaluation(&mut self) -> String {
        let own: &[&str] = match self.shell {
            Shell::Zsh => {
                &["repeat x true", "echo $y[x]", "echo ${(l:x:)s}", "printf %d x", "integer w=x"]
            }
            Shell::Bash => {
                &["echo $[x]", "declare -i w=x", "echo ${y[@]:x}", "echo ${y[$x]}", "y=([x]=1)"]
            }
        };
        let both = [
            "((x))",
            "((x++))",
            "((w=x))",
            "echo $((x))",
            "echo \"$((x + 1))\"",
            "[[ x -lt 5 ]]",
            "[[ $x -eq 1 ]]",
            "[[ 1 -ge x ]]",
            "let x",
            "let w=x",
            "let 'w = x + 1'",
            "y=(1 2); echo ${y[x]}",
            "s=abc; echo ${s:x}",
            "s=abc; echo ${s:0:x}",
            "y[x]=1",
            "for ((i=x;i<1;i++)); do break; done",
            "echo > /tmp/x$((x))",
            "cat <<E\n$((x))\nE\n",
            "shift x",
            "exit x",
            "typeset -i w; w=x",
            "(( 1 ? x : 0 ))",
            "echo ${y[x]:-no}",
            "case $((x)) in 1) ;; esac",
            "if ((x > 1)); then true; fi",
            "[[ -n a && x -gt 0 ]]",
            "eval 'echo $((x))'",
        ];
        if self.rng.once(4) { self.rng.pick(own) } else { self.rng.pick(&both) }.to_string()
    }

    /// `exec` with redirections, and targets that are several files.
    pub fn redirected(&mut self) -> String {
        let call = self.call();
        let plain = self.plain_call();
        let name = self.name();
        let targets = self.targets();
        let body = self.body();
        let text = match self.rng.below(30) {
            0 => format!("exec < list.txt; while read -r l; do {name} \"$l\"; done"),
            1 => format!("exec <<< '{plain}'; bash"),
            2 => format!("exec 0<<<'{plain}'; sh -s"),
            3 => format!("exec <<< '{plain}'; read c; eval \"$c\""),
            4 => format!("exec <<< '{plain}'; . /dev/stdin"),
            5 => format!("exec 3<<<'{plain}'; bash <&3"),
            6 => format!("exec 3< list.txt; exec 0<&3; xargs {name}"),
            7 => format!("exec < list.txt; xargs {name}"),
            8 => format!("exec <<< a.txt; xargs -I% sh -c '{name} %'"),
            9 => format!("exec < <(echo '{plain}'); bash"),
            10 => format!("exec <<E\n{plain}\nE\nsh\n"),
            11 => format!("{{ bash; }} <<< '{plain}'"),
            12 => format!("f2() {{ bash; }}; f2 <<< '{plain}'"),
            13 => format!("if true; then sh; fi <<< '{plain}'"),
            14 => format!("exec 4<> {}; {call} >&4", self.target()),
            15 => format!("exec >> {} 2>&1; {call}", self.target()),
            16 => format!("exec {{fd}}< list.txt; {name} x <&$fd"),
            17 => format!("exec 3>&1 > {}; {call}; exec >&3", self.target()),
            18 => format!("f2() {{ exec <<< '{plain}'; }}; f2; bash"),
            19 => format!("while read -r c; do eval \"$c\"; done <<< '{plain}'"),
            20..=22 => format!(
                "{call} {}{targets}",
                self.rng.pick(&[">", ">>", "2> ", "&>", ">|", "<", "<>"])
            ),
            23 => format!("{{ {body}}} > {targets}"),
            24 => format!("exec > {targets}; {call}"),
            25 => format!("for i in 1; do {body}done >> {targets}"),
            26 => format!("{call} > {} > {}", self.target(), self.target()),
            27 => format!("cat < {} < {}", self.readable(), self.readable()),
            28 => format!("{call} > {} | {plain}", self.target()),
            _ => format!("> {targets}"),
        };
        format!("({})", closed(text))
    }

    fn targets(&mut self) -> String {
        let all = [
            "{o1,o2}",
            "src/{a,b}.c",
            "o{1..3}",
            "~/{a,b}rc",
            "{a,/tmp/b}",
            "*.txt",
            "src/*.c",
            "/tmp/{x,y}/../z",
            "{o1,o2}{3,4}",
            "\"o\"{1,2}",
            "$(echo o1 o2)",
            "$OPTS",
            "{list.txt,b.txt}",
            "[ab].txt",
            "${arr[@]}",
            "$@",
            "{a\\,b,c}",
            "a{b",
            "{a}",
        ];
        self.rng.pick(&all).to_string()
    }
}
