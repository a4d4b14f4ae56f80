//! The plugins are made from the agents' own tables of events, as `install` writes them: `UPDATE_DOCS=1` makes them anew.

use std::fs;
use std::path::Path;

use hookctl::agent::wiring::{EntryForm, Shell};
use hookctl::agent::{self, Agent};
use hookctl::event::Kind;
use hookctl::settings::edit::Doc;
use hookctl::settings::hooks::{Created, Shaped, WantedEntries, WantedEvent, install_hooks};
use serde_json::{Value, json};

/// What a marketplace's file says, by the version.
type Market = fn(&str) -> Value;

/// One agent's plugin.
struct Plugin {
    agent: &'static str,
    /// Its manifest, below the plugin's directory.
    manifest: &'static str,
    /// How a hook's command names the plugin's directory.
    root: &'static str,
    /// The list in which the agent finds the plugin, at the top of the repository, and how it names the place.
    market: Option<(&'static str, Market)>,
}

const PLUGINS: [Plugin; 4] = [
    Plugin {
        agent: "claude",
        manifest: ".claude-plugin/plugin.json",
        root: "\"${CLAUDE_PLUGIN_ROOT}\"",
        market: Some((".claude-plugin/marketplace.json", |place| json!(place))),
    },
    Plugin {
        agent: "codex",
        manifest: ".codex-plugin/plugin.json",
        root: "\"${PLUGIN_ROOT}\"",
        market: Some((
            ".agents/plugins/marketplace.json",
            |place| json!({ "source": "local", "path": place }),
        )),
    },
    Plugin {
        agent: "gemini",
        manifest: "gemini-extension.json",
        root: "\"${extensionPath}\"",
        market: None,
    },
    Plugin {
        agent: "cursor",
        manifest: ".cursor-plugin/plugin.json",
        root: ".",
        market: Some((".cursor-plugin/marketplace.json", |place| json!(place))),
    },
];

const DESCRIPTION: &str =
    "Judges every tool call by your rules, with the hookctl that is installed on this machine.";

impl Plugin {
    /// Its files, below the repository's top.
    fn files(&self) -> Vec<(String, String)> {
        let dir = format!("plugins/{}", self.agent);
        let launcher = fs::read_to_string(root().join("plugins/launch.sh")).expect("the launcher");
        let mut manifest = json!({
            "name": "hookctl",
            "version": env!("CARGO_PKG_VERSION"),
            "description": DESCRIPTION,
        });
        if self.agent != "gemini" {
            manifest["author"] = json!({ "name": "hookctl" });
            manifest["license"] = env!("CARGO_PKG_LICENSE").into();
        }
        // Where it is not the usual place, or must be said.
        if matches!(self.agent, "codex" | "cursor") {
            manifest["hooks"] = "./hooks/hooks.json".into();
        }
        let mut files = vec![
            (format!("{dir}/{}", self.manifest), pretty(&manifest)),
            (format!("{dir}/hooks/hooks.json"), pretty(&self.hooks())),
            (format!("{dir}/launch.sh"), launcher),
        ];
        if let Some((file, source)) = self.market {
            let mut plugin = json!({
                "name": "hookctl",
                "source": source(&format!("./{dir}")),
                "description": DESCRIPTION,
            });
            if self.agent == "codex" {
                plugin["policy"] = json!({ "installation": "AVAILABLE" });
                plugin["category"] = "Security".into();
            }
            let list = json!({
                "name": "hookctl",
                "description": DESCRIPTION,
                "owner": { "name": "hookctl" },
                "plugins": [plugin],
            });
            files.push((file.to_string(), pretty(&list)));
        }
        files
    }

    /// What `install` would write, with the launcher in the program's place.
    fn hooks(&self) -> Value {
        let agent: &dyn Agent = agent::by_id(self.agent).expect("an agent");
        let form =
            agent.wiring().and_then(|wiring| wiring.files[0].form.entries()).expect("entries");
        let mut events: Vec<WantedEvent> = Vec::new();
        for event in agent.events().iter().filter(|spec| spec.by_default).map(WantedEvent::of) {
            if events.iter().all(|other| other.name != event.name) {
                events.push(event);
            }
        }
        let wanted = WantedEntries {
            command: "hookctl".into(),
            agent: agent.id(),
            places: vec!["--plugin".into()],
            events,
            off: Vec::new(),
            server: Default::default(),
            fail_closed: Some(true),
            bridge: None,
        };
        let mut doc = Doc::new("{}").expect("an object");
        install_hooks(&mut doc, Shaped { wanted: &wanted, form }, &Created::default())
            .expect("a place for hooks");
        let mut hooks: Value = serde_json::from_str(&doc.text()).expect("JSON");
        for event in &wanted.events {
            self.launch(&mut hooks, form, &wanted, event);
        }
        hooks
    }

    fn launch(
        &self,
        hooks: &mut Value,
        form: &EntryForm,
        wanted: &WantedEntries,
        event: &WantedEvent,
    ) {
        let line = wanted.line(event, Shell::Posix);
        let arguments = line.strip_prefix("hookctl ").expect("the program comes first");
        let what = match event.kind {
            Kind::PreToolUse => "closed",
            // It takes silence for a failure, and is told to block where hooks fail.
            _ if self.agent == "cursor" => "empty",
            Kind::SessionStart => "told",
            _ => "open",
        };
        let command = format!("exec /bin/sh {}/launch.sh {what} {arguments}", self.root);
        let list = match form.hooks {
            Some(key) => &mut hooks[key][event.name],
            None => &mut hooks[event.name],
        };
        let item = &mut list[0];
        let entry = if item.get("hooks").is_some() { &mut item["hooks"][0] } else { item };
        let entry = entry.as_object_mut().expect("an entry");
        entry.remove("args");
        entry.insert("command".into(), command.into());
    }
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn pretty(value: &Value) -> String {
    format!("{value:#}\n")
}

#[test]
fn the_plugins_say_what_the_tables_say() {
    for (name, wanted) in PLUGINS.iter().flat_map(Plugin::files) {
        let path = root().join(&name);
        if std::env::var_os("UPDATE_DOCS").is_some() {
            fs::create_dir_all(path.parent().expect("a directory")).expect("made");
            fs::write(&path, wanted).expect("written");
        } else {
            let now = fs::read_to_string(&path).unwrap_or_default();
            assert!(
                now == wanted,
                "{name} is out of date: UPDATE_DOCS=1 cargo test --test plugins"
            );
        }
    }
}

/// What the launcher makes of a machine: nothing of this one's counts.
#[cfg(unix)]
mod launcher {
    use std::fs;
    use std::io::Write as _;
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    use std::path::Path;
    use std::process::{Command, Stdio};

    use tempfile::TempDir;

    /// A machine's directories, all below one of the test's own: `home`, `project`, `opt`, and the system's.
    struct Machine(TempDir);

    impl Machine {
        fn new() -> Machine {
            let machine = Machine(TempDir::new().expect("a directory"));
            for dir in ["home", "project/src", "project/bin", "opt/bin"] {
                fs::create_dir_all(machine.0.path().join(dir)).expect("made");
            }
            let text = fs::read_to_string(super::root().join("plugins/launch.sh")).expect("there");
            let top = machine.path("");
            let text = ["/usr/", "/opt/homebrew", "/home/linuxbrew", "/run/current-system"]
                .iter()
                .fold(text, |text, dir| {
                    text.replace(&format!(" {dir}"), &format!(" {top}machine{dir}"))
                });
            fs::write(machine.path("launch.sh"), text).expect("written");
            machine
        }

        fn path(&self, name: &str) -> String {
            let top = hookctl::files::real_path(self.0.path()).expect("there");
            format!("{}/{name}", top.display())
        }

        /// The program itself, which answers.
        fn put_program(&self, name: &str) {
            let file = self.path(name);
            fs::create_dir_all(Path::new(&file).parent().expect("a directory")).expect("made");
            let program = env!("CARGO_BIN_EXE_hookctl");
            fs::hard_link(program, &file)
                .or_else(|_| fs::copy(program, &file).map(drop))
                .expect("copied");
        }

        /// An executable file of that text.
        fn put_text(&self, name: &str, text: &str) {
            let file = self.path(name);
            fs::create_dir_all(Path::new(&file).parent().expect("a directory")).expect("made");
            fs::write(&file, text).expect("written");
            fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).expect("executable");
        }

        /// A program of the project's: it would leave a mark.
        fn put_fake(&self, name: &str) {
            self.put_text(name, &format!("#!/bin/sh\n: >'{}'\n", self.path("faked")));
        }

        /// The exit status, stdout and stderr of a hook with a call that nobody may make.
        fn run(&self, what: &str, cwd: &str, vars: &[(&str, &str)]) -> (i32, String, String) {
            let event = serde_json::json!({
                "session_id": "s", "hook_event_name": "PreToolUse", "cwd": "/", "tool_name": "Bash",
                "tool_input": { "command": "rm -rf /" },
            });
            let mut child = Command::new("/bin/sh")
                .args([&self.path("launch.sh"), what, "hook", "--agent", "claude"])
                .current_dir(self.path(cwd))
                .env_clear()
                .env("HOME", self.path("home"))
                .envs(
                    vars.iter().map(|(name, value)| (*name, value.replace("TOP/", &self.path("")))),
                )
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .expect("started");
            // A launcher that finds nothing does not read it.
            let _ = child.stdin.take().expect("a pipe").write_all(event.to_string().as_bytes());
            let output = child.wait_with_output().expect("ended");
            assert!(!Path::new(&self.path("faked")).exists(), "the project's program ran");
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            (output.status.code().unwrap_or(-1), text(&output.stdout), text(&output.stderr))
        }

        fn judges(&self, cwd: &str, vars: &[(&str, &str)]) {
            let (code, out, err) = self.run("closed", cwd, vars);
            assert!(code == 0 && out.contains("\"deny\""), "{vars:?}: {code} {out} {err}");
        }

        fn stops(&self, cwd: &str, vars: &[(&str, &str)], why: &str) {
            let (code, out, err) = self.run("closed", cwd, vars);
            let told = code == 2 && out.is_empty() && err.contains(why);
            assert!(told, "{vars:?}: {code} {out} {err}");
        }
    }

    const MISSING: &str = "the program is not there";

    #[test]
    fn it_finds_the_program_where_packages_put_it() {
        for place in [
            "home/.local/bin/hookctl",
            "home/.cargo/bin/hookctl",
            "machine/usr/local/bin/hookctl",
            "machine/opt/homebrew/bin/hookctl",
            "home/.npm-global/lib/node_modules/hookctl/node_modules/@hookctl/os-cpu/bin/hookctl",
            "machine/usr/lib/node_modules/@hookctl/os-cpu/bin/hookctl",
            "home/.volta/tools/image/packages/hookctl/lib/node_modules/@hookctl/os-cpu/bin/hookctl",
        ] {
            let machine = Machine::new();
            machine.put_program(place);
            machine.judges("project", &[]);
        }
        let machine = Machine::new();
        machine.put_program("opt/bin/hookctl");
        machine.judges("project", &[("PATH", "/nowhere:TOP/opt/bin")]);
        // A home that is a project, as one with its settings in git is.
        fs::create_dir_all(machine.path("home/.git")).expect("made");
        machine.put_program("home/tools/hookctl");
        machine.judges("home", &[("PATH", "TOP/home/tools"), ("CLAUDE_PROJECT_DIR", "TOP/home")]);
    }

    #[test]
    fn beside_a_launcher_of_npm_it_runs_the_program_itself() {
        let machine = Machine::new();
        machine.put_text("opt/lib/node_modules/hookctl/bin/hookctl.js", "#!/usr/bin/env node\n");
        symlink("../lib/node_modules/hookctl/bin/hookctl.js", machine.path("opt/bin/hookctl"))
            .expect("a link");
        machine.stops("project", &[("PATH", "TOP/opt/bin")], MISSING);
        machine
            .put_program("opt/lib/node_modules/hookctl/node_modules/@hookctl/os-cpu/bin/hookctl");
        machine.judges("project", &[("PATH", "TOP/opt/bin")]);
    }

    #[test]
    fn no_program_of_the_project_is_one() {
        for (git, cwd, path, home, named) in [
            (true, "project", "TOP/project/bin", "TOP/home", ""),
            (true, "project/src", "TOP/project/bin", "TOP/home", ""),
            (true, "project/src", "../bin", "TOP/home", ""),
            (true, "project/bin", ".:", "TOP/home", ""),
            (false, "project", "TOP/project/bin", "TOP/home", ""),
            (false, "project/src", "../bin", "TOP/home", ""),
            (false, "project/src", "TOP/project/bin", "TOP/home", "TOP/project"),
            (false, "project/src", "TOP/project/src/../bin", "TOP/home", "TOP/project/"),
            (false, "project", "", ".", ""),
        ] {
            let machine = Machine::new();
            machine.put_fake("project/bin/hookctl");
            machine.put_fake("project/.local/bin/hookctl");
            if git {
                fs::create_dir(machine.path("project/.git")).expect("made");
            }
            let vars = [("PATH", path), ("HOME", home), ("CLAUDE_PROJECT_DIR", named)];
            machine.stops(cwd, &vars, MISSING);
        }
    }

    #[test]
    fn a_broken_program_is_no_silence() {
        for (text, why) in [
            ("", MISSING),
            ("\0\0\0\0", MISSING),
            ("#!/usr/bin/env node\n", MISSING),
            ("#!/usr/local/bin/node\n", MISSING),
            ("#!/nowhere/sh\n", "the program failed (exit status 12"),
            ("#!/bin/sh\nexit 1\n", "the program failed (exit status 1)"),
            ("#!/bin/sh\nkill -9 $$\n", "the program failed (exit status 137)"),
        ] {
            let machine = Machine::new();
            machine.put_text("home/.local/bin/hookctl", text);
            machine.stops("project", &[], why);
            let (code, out, _) = machine.run("told", "project", &[]);
            assert!(code == 0 && out.contains("systemMessage") && out.contains(why), "{out}");
            let said: serde_json::Value = serde_json::from_str(&out).expect("one object");
            assert!(said.is_object());
            assert_eq!(machine.run("empty", "project", &[]).1, "{}\n");
            let (code, out, _) = machine.run("open", "project", &[]);
            assert_eq!((code, out.as_str()), (0, ""));
        }
    }

    #[test]
    fn a_session_whose_directory_is_gone_is_told() {
        let machine = Machine::new();
        machine.put_program("opt/bin/hookctl");
        let gone = machine.path("project/src");
        let script =
            format!("rmdir '{gone}'; exec /bin/sh '{}' closed hook", machine.path("launch.sh"));
        let output = Command::new("/bin/sh")
            .args(["-c", &script])
            .current_dir(&gone)
            .env("PATH", "/bin:/usr/bin")
            .env("HOME", machine.path("home"))
            .output()
            .expect("started");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(2) && said.contains("is gone"), "{said}");
    }
}
