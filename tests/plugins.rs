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
