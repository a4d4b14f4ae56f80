//! Lines of no grammar: a shell's marks in any order, most of what opens also closed. In most a shell finds a fault and
//! runs nothing; what is left is what parsers part on.

use super::Rng;

/// What a line of this kind may run, seen by its argument.
pub const MARK: &str = "rm q";

/// What opens, and what closes it.
const PAIRS: &[(&str, &str)] = &[
    ("'", "'"),
    ("\"", "\""),
    ("`", "`"),
    ("$'", "'"),
    ("$\"", "\""),
    ("$(", ")"),
    ("(", ")"),
    ("( ", " )"),
    ("<(", ")"),
    (">(", ")"),
    ("=(", ")"),
    ("@(", ")"),
    ("x=(", ")"),
    ("x[", "]=1"),
    ("declare x=(", ")"),
    ("{ ", "; }"),
    ("{", "}"),
    ("${x:-", "}"),
    ("${x#", "}"),
    ("${x/a/", "}"),
    ("${#", "}"),
    ("\"${x-{", "}\""),
    ("\"${HOME#", "}\""),
    ("${x//{", "}"),
    ("y=\"${x:-", "}\""),
    ("f g() { ", "; }; g"),
    ("$((", "))"),
    ("((", "))"),
    ("$[", "]"),
    ("[[ ", " ]]"),
    ("[[ a =~ ", " ]]"),
    ("[ ", " ]"),
    ("if :; then ", "; fi"),
    ("if ", "; then :; fi"),
    ("for x in a; do ", "; done"),
    ("for ((;;)); do ", "; break; done"),
    ("while ", "; do break; done"),
    ("case a in a) ", ";; esac"),
    ("case a in ", " esac"),
    ("f() { ", "; }; f"),
    ("f() ", "\nf"),
    ("function f { ", "; }\n"),
    ("cat <<E\n", "\nE\n"),
    ("cat <<'E'\n", "\nE\n"),
    ("cat <<-E\n", "\n\tE\n"),
    ("sh <<E\n", "\nE\n"),
    ("eval '", "'"),
    ("eval \"", "\""),
    ("sh -c '", "'"),
    ("sh -c \"", "\""),
    ("bash <<< \"", "\""),
];

const PIECES: &[&str] = &[
    "a",
    "b",
    " ",
    " ",
    " ",
    "\n",
    "\n",
    ";",
    ";",
    "; ",
    "|",
    " | ",
    "&&",
    "||",
    "&",
    "\\",
    "\\\n",
    " \\\n",
    "#",
    " #",
    "<<E",
    "<<E\n",
    "<<-E\n",
    "<<'E'\n",
    "\nE\n",
    "E\n",
    "E \n",
    "E\\\n",
    "\tE\n",
    "<",
    ">f",
    "> f ",
    "<<<",
    "$x",
    "$",
    "${",
    "${x-{",
    "{",
    "}\"",
    "''~",
    "$$",
    "$(",
    "x=1",
    "x=1 ",
    "x+=a ",
    "!",
    "! ",
    "}",
    ")",
    "'",
    "\"",
    "`",
    "*",
    "?",
    "~",
    "{a,b}",
    "=",
    "[",
    "]",
    "-",
    ":",
    ": ",
    "echo ",
    "eval ",
    "\t",
    "\\'",
    "\\\"",
    "\\\\",
    "$((",
    "((",
    "))",
    "<<",
    ">>",
    "in ",
    "do ",
    "done",
    "then ",
    "else ",
    "fi",
    "esac",
    ";;",
    ";&",
    "coproc ",
    "time ",
    "function ",
    "select ",
    "$#",
    "<&",
    ">&",
    "|&",
    "&>",
    "2>",
    "{fd}>f ",
    "^",
    "%",
    "+",
    ",",
    "@",
    "1",
    "$1",
    "$@",
    "$?",
    "\r",
    "alias ",
    "unset ",
    "trap ",
    " EXIT",
];

/// Line number `index` of that seed.
pub fn line(seed: u64, index: u64) -> String {
    let mut rng = Rng::new(
        seed.wrapping_mul(0x9FB2_1C65_1E98_DF25) ^ index.wrapping_mul(0xD6E8_FEB8_6659_FD93),
    );
    let mut text = String::new();
    let mut open: Vec<&str> = Vec::new();
    for _ in 0..4 + rng.below(14) {
        match rng.below(10) {
            0..3 => {
                let (opens, closes) = PAIRS[rng.below(PAIRS.len())];
                text.push_str(opens);
                open.push(closes);
            }
            3..5 => text.push_str(open.pop().unwrap_or("; ")),
            5 => {
                text.push_str(rng.pick(&["; ", "\n", " ", "", "&& "]));
                text.push_str(MARK);
                text.push_str(rng.pick(&["; ", "\n", " ", "", "\n"]));
            }
            _ => text.push_str(rng.pick(PIECES)),
        }
    }
    // Most, not all.
    while let Some(closes) = open.pop() {
        if !rng.once(12) {
            text.push_str(closes);
        }
    }
    if rng.once(2) {
        text.push('\n');
        text.push_str(MARK);
        text.push_str(rng.pick(&["", "\n", " #'", " #\"", " #)", " #`", "; }", ")", "\nE\n"]));
    }
    text
}
