//! What is wrong with a script that a rule runs: text that the shell would refuse, so that the rule would
//! never do what it says.

use shuck_parser::parser::{Parser, ShellDialect};

use super::super::Place;
use super::{analyse_command, deep};
use crate::limits::Cap;

/// What ends every construct that can be open at the end of a text, and is a fault behind a whole one.
const SENTINEL: &str = "\n)";

/// Why a shell would not run all of this script; None where nothing speaks against it.
pub fn find_fault(script: &str) -> Option<String> {
    if is_plain(script) || script.len() > Cap::Text.limit() || deep::why_not(script).is_some() {
        return None;
    }
    let parsed = Parser::new(script).parse();
    // What is sound in either is left to the shell.
    if !parsed.is_ok() && !Parser::with_dialect(script, ShellDialect::Zsh).parse().is_ok() {
        let first = parsed.diagnostics.first();
        let why = first.map_or("a fault", |one| one.message.as_str());
        return Some(why.trim_start_matches("syntax error: ").to_string());
    }
    // The text of a heredoc may go on to the end.
    let document = script.contains("<<");
    if !document && Parser::new(&format!("{script}{SENTINEL}")).parse().is_ok() {
        return Some("something that is opened is not closed".into());
    }
    if !document && let Some(parameter) = bad_parameter(script) {
        return Some(format!("`{parameter}` is no expansion of a parameter"));
    }
    if !script.contains("$(") && !script.contains('`') {
        return None;
    }
    // The parser does not tell of faults inside of substitutions; the walk does.
    let notes = analyse_command(script, &Place::default()).notes;
    let faulty = |note: &&String| {
        note.starts_with("not understood at byte") || note.starts_with("a substitution that is not")
    };
    notes.iter().find(faulty).map(|note| {
        let why = note.rsplit(": ").next().unwrap_or(note);
        format!("inside of a substitution: {why}")
    })
}

/// Words and nothing else, none of them the shell's own.
fn is_plain(script: &str) -> bool {
    const OWN: &[&str] = &[
        "if", "then", "else", "elif", "fi", "for", "while", "until", "do", "done", "case", "esac",
    ];
    if script.split_whitespace().next().is_some_and(|first| OWN.contains(&first)) {
        return false;
    }
    let word = |c: char| c.is_alphanumeric() || " -_./:,@%+=".contains(c);
    // The references that placeholders become.
    script.replace("\"$HOOKCTL_", "").replace('"', "").chars().all(word)
        && script.matches('"').count() == 2 * script.matches("\"$HOOKCTL_").count()
}

/// `${` in front of what no shell expands. Quotes inside of substitutions begin anew, which is not
/// followed: such a text is left alone.
fn bad_parameter(script: &str) -> Option<&str> {
    if script.contains("$(") || script.contains('`') {
        return None;
    }
    let mut single = false;
    let mut double = false;
    let mut chars = script.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '\\' if !single => drop(chars.next()),
            '\'' if !double => single = !single,
            '"' if !single => double = !double,
            '$' if !single
                && script[at..].starts_with("${")
                && !has_expansion(&script[at + 2..]) =>
            {
                let end = script[at..].find('}').map_or(script.len(), |end| at + end + 1);
                return script.get(at..end);
            }
            _ => {}
        }
    }
    None
}

/// Does an expansion stand behind `${`?
fn has_expansion(text: &str) -> bool {
    let after = |text: &str| text.starts_with(|c| "}:-+=?#%/^,@[".contains(c));
    // `${#x}`, `${!x}`, and the signs that are names themselves.
    let inner = text.strip_prefix(['#', '!']).unwrap_or(text);
    let name = inner.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
    let named = name.is_some_and(|end| end > 0 && after(&inner[end..]));
    let sign = |text: &str| text.strip_prefix(|c| "@*#?$!-".contains(c)).is_some_and(after);
    named || sign(text) || sign(inner)
}

#[cfg(test)]
mod tests {
    use super::find_fault;

    #[test]
    fn what_no_shell_runs_is_a_fault() {
        for bad in [
            "echo $(foo",
            "echo \"$(a\"",
            "${x",
            "echo ${x:-",
            "echo ${x:-a b",
            "x=(a",
            "echo 'x",
            "echo \"x",
            "echo `a",
            "echo \"it's",
            "if true; then x",
            "for a in b; do",
            "case x in a) y",
            "(a",
            "{ a;",
            "a)",
            "a &&",
            "a |",
            "| a",
            "a;;",
            "done",
            "fi x",
            "while a",
            "a <",
            "echo $((1+2)",
            "echo $(if x)",
            "echo $(a &&)",
            "echo \"$(for)\"",
            "echo $(| b)",
            "echo $(echo \"a)",
            "echo ${}",
            "echo ${a b}",
            "echo \"${ x}\"",
            "echo $(a $(b)",
        ] {
            assert!(find_fault(bad).is_some(), "{bad}");
        }
    }

    #[test]
    fn what_a_shell_runs_is_none() {
        for good in [
            "",
            "true",
            "rustfmt \"$HOOKCTL_1\"",
            "test \"$(git branch --show-current)\" = main",
            "cat <<E\nfoo $(x) ${ y\nE",
            "cat <<E\nfoo",
            "case \"$HOOKCTL_1\" in *.tmp) exit 0 ;; esac; exit 1",
            "f() { a; }; f",
            "a; b & c",
            "a &",
            "a 2>&1 >/dev/null",
            "echo a | while read x; do echo $x; done",
            "[ -n \"$X\" ] && echo ${X#a} ${X%%(*} ${#X} ${#} ${?} ${!x} ${x[0]} ${x//a/b} ${1:-2}",
            "awk '{print $1 ${}}' x",
            "perl -e 'print \"@{$x}\" ${ $y }'",
            "echo \"it's\" it\\'s # it's",
            "# it's a comment\ntrue",
            "echo \"$((1+2))\" $(( (1) ))",
            "jq -r '.tool_input | \"\\(.x)\"'",
            "x=`a \\`b\\``",
            "echo \"a `b \"c\"` d\"",
            "set -- $(a <<'E'\nit's\nE\n)",
            "( cd x && ./y )",
            "! a",
            "if a; then b; elif c; then d; else e; fi",
            "a \\\n b",
            "echo }",
            "eval \"$(ssh-agent -s)\"",
            "\"$CLAUDE_PROJECT_DIR\"/x.sh",
        ] {
            assert_eq!(find_fault(good), None, "{good}");
        }
    }
}
