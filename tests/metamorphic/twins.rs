//! The same commands as text: in messages, patterns, comments, files that nobody runs.

use super::line::{double, single};

/// `{q}` and `{d}` are the line in single or double quotes, `{}` the line itself, `{#}` each of its
/// lines as a comment, `{json}` the line as a JSON string, `{sed}` as sed's replacement.
pub const TWINS: &[&str] = &[
    "echo {q}",
    "echo {d}",
    "echo -n {q}",
    "printf '%s\n' {q}",
    "printf {q}",
    "git commit -m {q}",
    "git commit -am {d}",
    "git commit -m 'fix' -m {q}",
    "git commit --message={q}",
    "git tag -a v1 -m {q}",
    "git log --grep={q}",
    "git commit -F - <<'END'\n{}\nEND",
    "git commit -m \"$(cat <<'END'\nfix: do not run this\n\n{}\nEND\n)\"",
    "gh pr create --title x --body {q}",
    "gh issue comment 1 -b {q}",
    "gh issue create --title x --body {q}",
    "gh issue create -t x -b {d}",
    "gh pr create --title x --body \"$(cat <<'END'\n## Why\n`{}`\nEND\n)\"",
    "grep -F {q} README.md",
    "grep -rn {q} docs",
    "grep -e {q} README.md",
    "rg {q}",
    "rg -n --fixed-strings {q} src",
    "ls # {#}",
    "# {#}\nls",
    "ls -la\n    # {#}\n    # the end",
    "cat > notes.md <<'END'\n# Notes\n\n    {}\nEND",
    "cat >> notes.md << \"END\"\n```sh\n{}\n```\nEND",
    "tee notes.md <<'END'\n{}\nEND",
    "cat <<-'END'\n\t{}\n\tEND",
    "TEXT={q}",
    "TEXT={d}; echo \"$TEXT\"",
    "MESSAGE={q} ; export MESSAGE",
    "declare -A notes=([a]={q})",
    "list=(a {q} b)",
    ": {q}",
    "true {q}",
    "[ \"$1\" = {q} ] && echo yes",
    "[[ $x == {q} ]] || echo no",
    "case \"$x\" in {q}) echo yes ;; esac",
    "echo {q} > notes.txt",
    "echo {q} >> notes.txt && cat notes.txt",
    "echo {q} | grep -c rm",
    "echo {q} | wc -c",
    "wc -c <<< {q}",
    "test {q} = x",
    "sed {sed} README.md",
    "jq -n {json}",
    "python3 -c 'print({json})'",
    "f() { echo {q}; }; f",
    "for t in {q} b; do echo \"$t\"; done",
    "awk -v t={q} '{ print t }' README.md",
    "ls | grep -v {q}",
    "basename {q}",
    "expr length {q}",
    "git stash push -m {q}",
    "git notes add -m {q}",
    "date +{q}",
    "read -r -p {q} answer",
    "x=\"${1:-default}\"; printf '%s\\n' {q} \"$x\"",
];

/// Fills the template; None where the text cannot stand there.
pub fn fill(template: &str, text: &str) -> Option<String> {
    if template.contains("<<") && text.contains("END") {
        return None;
    }
    let json = || serde_json::to_string(text).unwrap();
    // Inside single quotes of the shell no other single quote may stand.
    let quotable = !text.contains('\'');
    let out = match template {
        t if t.contains("{q}") => t.replacen("{q}", &single(text), 1),
        t if t.contains("{d}") => t.replacen("{d}", &double(text), 1),
        t if t.contains("{#}") => t.replacen("{#}", &text.replace('\n', "\n# "), 1),
        t if t.contains("'print({json})'") => quotable.then(|| t.replacen("{json}", &json(), 1))?,
        t if t.contains("{json}") => t.replacen("{json}", &single(&json()), 1),
        t if t.contains("{sed}") => {
            let mut escaped = String::new();
            for c in text.chars() {
                if matches!(c, '/' | '&' | '\\' | '\n') {
                    escaped.push('\\');
                }
                escaped.push(c);
            }
            t.replacen("{sed}", &single(&format!("s/TODO/{escaped}/")), 1)
        }
        t => t.replacen("{}", text, 1),
    };
    Some(out)
}
