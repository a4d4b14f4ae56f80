use super::*;
use crate::effect::Place;

/// Programs that use what each language has.
const SAMPLES: &[&str] = &[
    "import os as o, sys\nfrom shutil import (rmtree as r, copy)\nfor p in [f\"{o.getcwd()}/x{1:>3}\", r'a\\b', '''t\"x''']:\n    r(p); open(p, mode='w')\ndef f(a, b='x', *c): return lambda q: o.remove(a + b)\nf('/etc/x', b=\"é\")",
    "const {unlinkSync: u, ...rest} = require('fs'); import x, {y as z} from \"node:fs\"; [`a${1 + `b${u('x')}`}`].forEach(f => u(f)); a ? b : /[/]'/g.test(c); new Map([[1, 2]]) // x\n/* y */ x?.y ?? z",
    "my ($a, @b) = @_; my %h = (a => 1, 'b', qw(x y)); s/(\\w+)/`rm $1`/ge; unlink \"$h{x}/@{[ 1 ]}/${a}\" for glob(\"*.o\"); print <<\"EOF\", <<'X';\n$a->{b}[0]\nEOF\nraw\nX\nopen(my $f, '-|', 'ls', $x) or die qq{x {y} z}; tr/a-z/A-Z/; m{^/(?:x)}x; $x = $y // 3 / 2;",
    "%w[a b].each { |f, (g, h)| File.delete(\"#{f}/#{g}\") }; x = <<~EOF\n  a #{system 'ls'} b\nEOF\ny = :sym ? %q(a(b)c) : \"é\"; Dir.glob('*').map(&:size) if x =~ /a\\/b/; puts `ls #{x}`; def m(a, b = 1) a end",
    "<?php $f = 'x'; foreach (glob(\"$f/{$a['b']}\") as $k => $v) { unlink($v); } echo <<<EOT\n $x->y ${z}\nEOT;\n#[A]\nfn($x) => $$y; A::b(); ?>",
    "for _, f in ipairs({[[a]], [=[b]=]}) do os.remove(f) end -- x\n--[[ y ]] io.open 'x' : read('a') .. 'b'",
    "x <- c(1, 2); f <- function(a, b = 'x') unlink(a, recursive = TRUE); r\"(a)\"; eval(parse(text = 'system(\"ls\")'))",
    "BEGIN { FS = \"[/]\"; while ((\"ls \" x | getline l) > 0) print l > \"/dev/stderr\" } /a[/]b/ && $1 / 2 > 3 { system(\"rm \" $1); printf(\"%s\\n\", $2) | \"sh\" } # x",
    "1,/x\\/y/{s|a\\|b|c|gw out\n};$!N;\\,a,d;y/ab/cd/;e ls\na\\\ntext\nr f",
    "WITH d AS (DELETE FROM a RETURNING *) SELECT $x$ ' $x$, E'\\'' FROM \"t\" WHERE 1 = 1 /* c */; -- d\nCOPY t TO PROGRAM 'ls';\n.shell ls\n\\copy t to 'x'\n\\! ls",
    ":w !sh\n:%!sort\n+q",
    "tell application \"Finder\"\ndo shell script \"ls\" & x with administrator privileges",
    "Get-ChildItem | ForEach-Object { Remove-Item $_ -Recurse }; iwr x | iex",
    "exec rm -rf {a b} [file delete x]; open \"|ls\"; set f [open x w]",
    "(shell-command \"ls\") (delete-file (concat \"a\" \"b\"))",
    "all: x\n\t@rm -rf $$HOME\nX := $(shell ls)",
];

fn run(lang: Language, text: &str) -> std::time::Duration {
    let place =
        Place { cwd: "/p".into(), project: "/p".into(), home: "/h".into(), ..Place::default() };
    let mut out = Emitter::new(&place);
    let start = std::time::Instant::now();
    emit_inline(&mut out, lang, &Value::known(text, 0..1), &mut Vec::new());
    start.elapsed()
}

/// Spoiled programs: an answer, never a panic.
#[test]
fn spoiled() {
    for lang in Language::ALL.iter().map(|(_, lang)| *lang) {
        for sample in SAMPLES {
            for (at, _) in sample.char_indices() {
                run(lang, &sample[..at]);
                if at % 3 == 0 {
                    run(lang, &sample[at..]);
                }
            }
        }
    }
    let mut seed = 7_u64;
    let mut next = |n: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(seed >> 33).unwrap() % n
    };
    let marks: Vec<char> = "\"'`/\\(){}[]<>$@%#&|;:,.=+-*!?~^é\n\t \0ax0_sqefw".chars().collect();
    for _ in 0..400 {
        let text: String = (0..next(120)).map(|_| marks[next(marks.len())]).collect();
        for lang in Language::ALL.iter().map(|(_, lang)| *lang) {
            run(lang, &text);
        }
    }
}

/// 64 KiB of what hurts most takes no longer than the same amount of anything else.
#[test]
fn worst_cases() {
    let mut slowest = (std::time::Duration::ZERO, String::new());
    for piece in [
        "(",
        "[",
        "{",
        "((((",
        "\"",
        "'",
        "`",
        "a(",
        "f(g(",
        "\"a\"+",
        "'a'.",
        "x.",
        "a=",
        "x=x+x;",
        "x=[x,x];",
        "x=\"a\"+x\n",
        "a,",
        "(a,b)=",
        "{a:",
        "$",
        "${",
        "\"${",
        "`${",
        "f\"{",
        "\"#{",
        "\"$",
        "@{",
        "/",
        "s/",
        "s{",
        "<<A\n",
        "<<'A';",
        "<<~A ",
        "%w[",
        "#",
        "//",
        "/*",
        "--[[",
        "[[",
        "$$",
        "$a$",
        "\\",
        "e ",
        "1,",
        "a?b:",
        "=>",
        "x=>",
        "|",
        "do |",
        "for x in ",
        "def f(",
        "lambda ",
        "import a,",
        "from a import b,",
        "os.remove(\"a\");",
        "open(\"a\",\"w\")\n",
        "eval(\"",
        "unlink ",
        "system ",
        "system(\"ls\");",
        "\n.a",
        "\n\n",
        "print>",
        "print|",
        "getline<",
        "\"a\"|getline;",
        "do shell script ",
        "(shell-command ",
        "$(shell ",
        "iex ",
        "file delete ",
        ":!",
        "if ",
        "x[",
        "a b ",
        "-- ",
        "x=[1,2,3];y=x;",
        "delete from a where ",
        "with a as (delete ",
        "not (",
    ] {
        // A debug build shows a square at these sizes as well; whole ones are the fuzz targets.
        let hard = [
            "((((",
            "\"",
            "f(g(",
            "\"a\"+",
            "x=x+x;",
            "x=[x,x];",
            "<<~A ",
            "${",
            "os.remove(\"a\");",
        ];
        let size = if hard.contains(&piece) { 24 * 1024 } else { 2 * 1024 };
        let text: String = piece.repeat(size / piece.len());
        for lang in Language::ALL.iter().map(|(_, lang)| *lang) {
            let took = run(lang, &text);
            if took > slowest.0 {
                slowest = (took, format!("{lang:?} {piece:?}"));
            }
            if took.as_millis() > 400 {
                println!("{lang:?} {piece:?}: {took:?}");
            }
        }
    }
    println!("slowest: {slowest:?}");
    assert!(slowest.0.as_secs() < 4, "{slowest:?}");
}

/// A keyword of one language is a name in another, and a soft one is a name where it has a value.
#[test]
fn keywords_of_other_languages_are_names() {
    use crate::names::keywords::{JS, LUA, PERL, PHP, PYTHON, R, RUBY, SOFT};
    let forms: [(Language, &[&str], bool, &str); 9] = [
        (Language::Python, PYTHON, false, "from os import system as WORD\nWORD('rm x')"),
        (Language::Python, PYTHON, true, "import os\nWORD = os.system\nWORD('rm x')"),
        (
            Language::Node,
            JS,
            true,
            "var WORD; WORD = require('child_process').execSync; WORD('rm x')",
        ),
        (
            Language::Node,
            JS,
            true,
            "const {execSync: WORD} = require('child_process'); WORD('rm x')",
        ),
        (Language::Ruby, RUBY, false, "def WORD(x) system(x) end; WORD('rm x')"),
        (Language::Perl, PERL, false, "sub WORD { system($_[0]) } WORD('rm x')"),
        (Language::Php, PHP, false, "function WORD($x) { system($x); } WORD('rm x');"),
        (Language::Lua, LUA, false, "local WORD = os.execute; WORD('rm x')"),
        (Language::R, R, false, "WORD <- system; WORD('rm x')"),
    ];
    let every: std::collections::BTreeSet<&str> =
        [PYTHON, JS, RUBY, PERL, PHP, LUA, R].concat().into_iter().collect();
    let place =
        Place { cwd: "/p".into(), project: "/p".into(), home: "/h".into(), ..Place::default() };
    for (lang, own, soft, form) in forms {
        let may_name = |word: &&&str| !own.contains(*word) || soft && SOFT.contains(*word);
        for word in every.iter().filter(may_name) {
            let text = form.replace("WORD", word);
            let mut next = Vec::new();
            let mut out = Emitter::new(&place);
            emit_inline(&mut out, lang, &Value::known(&text, 0..1), &mut next);
            assert!(!next.is_empty(), "nothing is run by {text}");
        }
    }
}
