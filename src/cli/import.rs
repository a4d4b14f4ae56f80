//! `hookctl import`: Claude Code's permission lists, patterns of hook scripts and cc-safety-net's rules become rules on
//! effects. What holds more strictly than before is said beside each, and what was not taken over is named.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow};
use serde_json::{Map, Value, json};

use super::args::ImportArgs;
use super::exact::{self, NewRule, free_id, make_id};
use super::report::Report;
use super::{Context, Exit, display_path, human, one_line, print, print_json, print_stderr};
use crate::config::LayerFile;
use crate::effect::windows::native_text;
use crate::files;
use crate::rule::Layer;
use crate::script::settings;

/// The lists of permissions, with the verdict of each.
const LISTS: [&str; 3] = ["deny", "ask", "allow"];
/// What stands on a line of a script that looks for something in a call.
const LOOKS: [&str; 8] =
    ["grep", "=~", "re.search", "re.match", ".includes(", ".test(", ".match(", " in "];
/// What a script stops a call with.
const STOPS: [&str; 6] = ["exit 2", "exit(2)", "\"deny\"", "'deny'", "\"block\"", "'block'"];

/// A rule with what is said of it.
struct Imported {
    rule: NewRule,
    source: String,
    stricter: Vec<&'static str>,
}

/// What came of all files.
#[derive(Default)]
struct Import {
    rules: Vec<Imported>,
    left: Vec<String>,
    taken: BTreeSet<String>,
}

/// Reads the files and prints the rules, or writes them.
///
/// # Errors
/// Where a file cannot be read, or the config not be written.
pub(super) fn run(context: &Context, args: &ImportArgs, report: &mut Report) -> Result<Exit> {
    if args.write
        && let Some(why) = human::not_human()
    {
        return Ok(report.refuse(why));
    }
    let mut import = Import { taken: exact::taken_ids(context), ..Import::default() };
    let own = |dir: &Path| {
        ["settings.json", "settings.local.json"].map(|name| dir.join(".claude").join(name))
    };
    let named = match args.files.is_empty() {
        false => args.files.clone(),
        true => {
            let all = own(&context.paths.home).into_iter().chain(own(&context.root));
            let mut all: Vec<PathBuf> = all.filter(|path| path.exists()).collect();
            all.dedup();
            all
        }
    };
    for path in &named {
        import.read_file(context, path)?;
    }
    if args.json {
        print_json(&import.to_json())?;
    } else {
        for left in &import.left {
            print_stderr(&format!("not taken over: {left}"));
        }
    }
    if import.rules.is_empty() {
        if !args.json {
            print_stderr(
                "no rule was found: name settings of Claude Code, hook scripts or files of cc-safety-net",
            );
        }
        return Ok(Exit::Found);
    }
    if args.write {
        let lost = "From now on these rules hold, in every project; what they allow passes without a question.";
        let text = format!("\n{}", import.render_text());
        let stopped = exact::append(context, report, &text, (lost, "import rules"))?;
        return Ok(stopped.unwrap_or(Exit::Ok));
    }
    if !args.json {
        print(&import.render_text())?;
    }
    Ok(Exit::Ok)
}

impl Import {
    fn read_file(&mut self, context: &Context, path: &Path) -> Result<()> {
        let text = files::read_text(path, files::SMALL)
            .map_err(|refusal| anyhow!(refusal.describe_for(path)))?;
        let text = text.strip_prefix(files::BYTE_ORDER_MARK).unwrap_or(&text);
        let name = display_path(context, path);
        let object: Map<String, Value> = match serde_json::from_str(text) {
            Ok(object) => object,
            Err(error) => {
                match text.trim_start().starts_with('{') {
                    true => self.left.push(format!("{name}: no JSON object: {error}")),
                    false => self.read_script(&name, text),
                }
                return Ok(());
            }
        };
        if let Some(permissions) = object.get("permissions").and_then(Value::as_object) {
            self.read_permissions(&name, permissions);
        }
        if let Some(rules) = object.get("rules").and_then(Value::as_array) {
            self.read_blocks(&name, rules);
        }
        if object.contains_key("hooks") {
            self.read_hooks(context, &name, text);
        }
        Ok(())
    }

    /// Claude Code's `permissions`.
    fn read_permissions(&mut self, name: &str, permissions: &Map<String, Value>) {
        for (key, value) in permissions {
            let Some(verb) = LISTS.iter().find(|list| *list == key) else {
                self.left.push(format!("{name}: permissions.{}", one_line(key, 60)));
                continue;
            };
            let items = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
            let texts = |one: &&Value| value.is_array() && one.is_string();
            for odd in items.iter().filter(|one| !texts(one)) {
                let odd = one_line(&odd.to_string(), 60);
                self.left.push(format!("{name}: permissions.{verb} is a list of texts, not {odd}"));
            }
            let lines = items.iter().filter(texts).filter_map(Value::as_str);
            let mut commands = Vec::new();
            let mut hosts = Vec::new();
            let mut others = Vec::new();
            for line in lines {
                let host =
                    line.strip_prefix("WebFetch(domain:").and_then(|rest| rest.strip_suffix(')'));
                match (command_of(line, verb), host) {
                    (Some(command), _) => commands.push(command),
                    (_, Some(host)) => hosts.push(host.trim().to_string()),
                    _ => others.push(line.to_string()),
                }
            }
            let why = format!("permissions.{verb} of Claude Code's settings");
            let id = |what: &str| NewRule::new(&format!("claude-{verb}-{what}"));
            let base: &[&str] = match *verb {
                "allow" => &[
                    "only where all that the call does is allowed, with options that are known as harmless, \
                             and where no rule stops it",
                ],
                _ => &[
                    "in any spelling, inside lists, `bash -c`, `sudo` and `xargs`, by any path to the program",
                ],
            };
            self.add_all(name, &why, base, verb, commands, |all| {
                id("commands").with("command", all)
            });
            self.add_all(
                name,
                &why,
                &["for every program that contacts it, not only WebFetch"],
                verb,
                hosts,
                |all| id("hosts").with("effect", &["network"]).with("host", all),
            );
            let roads: &[&str] = match *verb {
                "allow" => &["only where nothing else happens in the call"],
                _ => &[
                    "on every road: `Read` holds for cat, grep, cp and redirections, `Edit` for each write and delete",
                ],
            };
            self.add_all(name, &why, roads, verb, others, |all| id("others").with("match", all));
        }
    }

    /// A rule for those that make a sound one; the others are named.
    fn add_all(
        &mut self,
        name: &str,
        why: &str,
        stricter: &[&'static str],
        verb: &'static str,
        texts: Vec<String>,
        make: impl Fn(&[String]) -> NewRule,
    ) {
        let finish = |texts: &[String]| make(texts).with(verb, &[format!("It stands in {why}.")]);
        let (sound, bad): (Vec<String>, Vec<String>) =
            texts.into_iter().partition(|text| is_sound(&finish(std::slice::from_ref(text))));
        self.left.extend(bad.iter().map(|text| format!("{name}: {}", one_line(text, 200))));
        if sound.is_empty() {
            return;
        }
        let rule = finish(&sound);
        let id = free_id(&make_id(&rule.id), &mut self.taken);
        self.rules.push(Imported {
            rule: NewRule { id, ..rule },
            source: name.to_string(),
            stricter: stricter.to_vec(),
        });
    }

    /// cc-safety-net's `rules`: a command, its sub-command, and arguments that block it.
    fn read_blocks(&mut self, name: &str, rules: &[Value]) {
        for rule in rules {
            let text = |key: &str| rule.get(key).and_then(Value::as_str).unwrap_or_default();
            let list = rule.get("block_args").and_then(Value::as_array).into_iter().flatten();
            let start = format!("{} {}", text("command"), text("subcommand"));
            let patterns: Vec<String> = list
                .filter_map(Value::as_str)
                .map(|arg| match arg.starts_with('-') {
                    true => format!("{} {}", start.trim(), exact::escape_glob(arg)),
                    false => format!("{} ** {}", start.trim(), exact::escape_glob(arg)),
                })
                .collect();
            let reason = match text("reason") {
                "" => "It stands in the rules of cc-safety-net.",
                reason => reason,
            };
            let new = NewRule::new(text("name"))
                .with("command", &patterns)
                .with("deny", &[reason.replace('{', "{{")]);
            let new = NewRule { id: make_id(&new.id), ..new };
            if patterns.is_empty() || text("command").is_empty() || !is_sound(&new) {
                self.left.push(format!("{name}: {}", one_line(&rule.to_string(), 200)));
                continue;
            }
            let id = free_id(&new.id, &mut self.taken);
            let stricter = vec!["in any spelling of the option, and wherever the command runs"];
            self.rules.push(Imported {
                rule: NewRule { id, ..new },
                source: name.to_string(),
                stricter,
            });
        }
    }

    /// The scripts that the hooks of a settings file run.
    fn read_hooks(&mut self, context: &Context, name: &str, text: &str) {
        let root = native_text(&context.root);
        let hooks = match settings::read_hooks(text, &root) {
            Ok(hooks) => hooks,
            Err(why) => return self.left.push(format!("{name} {why}")),
        };
        for hook in hooks.entries.iter().filter(|hook| hook.event == "PreToolUse") {
            let words = crate::script::line::split_words(&hook.script);
            let mut scripts = words.iter().filter_map(|word| {
                let path = context.root.join(word);
                let text = files::read_text(&path, files::SMALL).ok()?;
                Some((display_path(context, &path), text))
            });
            match scripts.next() {
                Some((script, text)) => self.read_script(&script, &text),
                None => self.read_script(&format!("{name}: a hook"), &hook.script),
            }
        }
    }

    /// What a script looks for in a call that it stops.
    fn read_script(&mut self, name: &str, text: &str) {
        if !STOPS.iter().any(|stop| text.contains(stop)) {
            return self.left.push(format!("{name}: it stops nothing that can be seen"));
        }
        let mut commands = Vec::new();
        let mut paths = Vec::new();
        for (at, line) in text.lines().enumerate() {
            if line.trim_start().starts_with('#') || !LOOKS.iter().any(|look| line.contains(look)) {
                continue;
            }
            for literal in literals(line) {
                match read_literal(literal) {
                    Some(found) => {
                        commands.extend(found.iter().filter(|one| one.contains(' ')).cloned());
                        paths.extend(found.into_iter().filter(|one| !one.contains(' ')));
                    }
                    None => {
                        let line = at + 1;
                        self.left.push(format!("{name}:{line}: {}", one_line(literal, 160)));
                    }
                }
            }
        }
        let why = format!("the script {name}");
        let stem =
            make_id(Path::new(name).file_stem().unwrap_or_default().to_str().unwrap_or_default());
        self.add_all(
            name,
            &why,
            &["in any spelling, and not where the words are only text"],
            "deny",
            commands,
            |all| NewRule::new(&format!("{stem}-commands")).with("command", all),
        );
        self.add_all(
            name,
            &why,
            &["for every way to change it, by tool or command"],
            "deny",
            paths,
            |all| {
                NewRule::new(&format!("{stem}-paths")).with("effect", &["modify"]).with("path", all)
            },
        );
    }

    fn render_text(&self) -> String {
        let mut out = String::new();
        for Imported { rule, source, stricter } in &self.rules {
            let _ = writeln!(out, "# from {source}");
            for note in stricter {
                let _ = writeln!(out, "# stricter: {note}");
            }
            let _ = writeln!(out, "{}", rule.to_toml());
        }
        out.truncate(out.trim_end().len());
        out.push('\n');
        out
    }

    fn to_json(&self) -> Value {
        let rules: Vec<Value> = self
            .rules
            .iter()
            .map(|one| {
                json!({ "id": one.rule.id, "source": one.source, "stricter": one.stricter, "rule": one.rule.to_toml() })
            })
            .collect();
        json!({ "rules": rules, "left": self.left })
    }
}

/// Is it a rule without a fault?
fn is_sound(rule: &NewRule) -> bool {
    let rule = NewRule { id: "x".into(), ..rule.clone() };
    let read = LayerFile::from_text(Layer::User, PathBuf::from("x"), rule.to_toml());
    read.file.faults.is_empty() && read.file.rules.len() == 1
}

/// `Bash(git push:*)` as a command pattern, where that means no more than the line, or stops more.
fn command_of(line: &str, verb: &str) -> Option<String> {
    let inside = line.strip_prefix("Bash(")?.strip_suffix(')')?;
    let (words, end) = match inside.strip_suffix(":*") {
        Some(start) => (start, ""),
        None => (inside, " $"),
    };
    let plain = |c: char| c.is_ascii_alphanumeric() || " -_./:=@+".contains(c);
    let has_option = words.split(' ').any(|word| word.starts_with('-'));
    let fits = !words.trim().is_empty() && words.chars().all(plain) && !words.contains("  ");
    // An option may stand anywhere in a pattern: for an allow that would be more than the line says.
    (fits && !(has_option && verb == "allow")).then(|| format!("{words}{end}"))
}

/// The quoted texts of a line.
fn literals(line: &str) -> Vec<&str> {
    let mut out = Vec::new();
    let mut rest = line;
    while let Some(at) = rest.find(['"', '\'']) {
        let quote = &rest[at..=at];
        let behind = &rest[at + 1..];
        let Some(end) = behind.find(quote) else { break };
        // A variable, a field or a flag is nothing that is looked for.
        let text = &behind[..end];
        if text.contains([' ', '.', '\\', '*']) && !text.starts_with(['$', '{', '-', '.'])
            || text.starts_with(".env")
        {
            out.push(text);
        }
        rest = &behind[end + 1..];
    }
    out
}

/// What a literal or a simple regular expression looks for: commands of two words and more, or names of files.
fn read_literal(text: &str) -> Option<Vec<String>> {
    let mut plain = text.replace("\\s+", " ").replace("\\s*", " ").replace("[[:space:]]+", " ");
    for (from, to) in [("\\.", "."), ("\\b", ""), (".*", " "), ("\\-", "-"), ("\\/", "/")] {
        plain = plain.replace(from, to);
    }
    let plain = plain.trim_start_matches(['^', '*']).trim_end_matches(['$', '*']);
    let read = |one: &str| {
        let words: Vec<&str> = one.split_whitespace().collect();
        let known = |c: char| c.is_ascii_alphanumeric() || "-_./=@:+".contains(c);
        let first = words.first()?;
        let named = words.len() > 1 && first.starts_with(|c: char| c.is_ascii_lowercase());
        let file = words.len() == 1
            && first.contains('.')
            && !first.contains("..")
            && !first.ends_with('.');
        let all = words.iter().all(|word| word.chars().all(known));
        (all && (named || file)).then(|| words.join(" ").trim_end_matches('/').to_string())
    };
    plain.split('|').map(read).collect()
}
