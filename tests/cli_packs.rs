//! `hookctl packs` as a process.

mod cli;

use cli::{World, system};
use serde_json::Value;

const CONFIG: &str = "[pack]\ngit = false\n[override.amend]\nenabled = true\n\
                      [override.env-read]\naction = \"ask\"\nmode = \"observe\"\n";

fn pack<'v>(list: &'v Value, id: &str) -> &'v Value {
    list["packs"].as_array().unwrap().iter().find(|pack| pack["id"] == id).expect("the pack")
}

#[test]
fn every_pack_with_its_state_and_who_says_so() {
    let world = World::with(CONFIG);
    let done = world.run(&["packs"]);
    assert_eq!((done.code, done.err.as_str()), (0, ""));
    let line = |name: &str| done.out.lines().find(|line| line.starts_with(name)).unwrap();
    assert!(line("git").contains("off") && line("git").contains("1 kept on"), "{}", done.out);
    assert!(line("git").ends_with("(~/.config/hookctl/config.toml:2)"), "{}", done.out);
    assert!(line("secrets").contains("on ") && line("secrets").contains("1 overridden"));
    assert!(line("disk").contains("deny") && !line("disk").contains("overridden"));
    assert!(!done.out.contains("profile"), "the usual one is not worth a line");
    assert_eq!(world.run(&["packs", "list"]).out, done.out);
    let list = world.run(&["packs", "--json"]).json();
    assert_eq!(list["profile"], "guard");
    assert_eq!(pack(&list, "git")["enabled"], false);
    assert!(pack(&list, "git")["enabled_from"].as_str().unwrap().ends_with("config.toml"));
    assert_eq!(pack(&list, "disk")["enabled_from"], Value::Null);
    let rules = pack(&list, "git")["rules"].as_array().unwrap();
    let on: Vec<&Value> = rules.iter().filter(|rule| rule["enabled"] == true).collect();
    assert_eq!(on.len(), 1);
    assert_eq!(on[0]["id"], "amend");
}

#[test]
fn a_rule_with_its_text_and_what_changes_it() {
    let world = World::with(CONFIG);
    let done = world.run(&["packs", "show", "env-read"]);
    assert_eq!(done.code, 0, "{}", done.err);
    for part in [
        "ask (observed)  high, pack secrets",
        "[rule.env-read]\neffect = [\"read\", \"send\"]\n",
        "[override.env-read] action = \"ask\" (~/.config/hookctl/config.toml:6)",
        "[override.env-read] mode = \"observe\" (~/.config/hookctl/config.toml:7)",
        "enabled = false",
    ] {
        assert!(done.out.contains(part), "{part}: {}", done.out);
    }
    let rule = world.run(&["packs", "show", "env-read", "--json"]).json();
    assert_eq!((&rule["verdict"], &rule["shipped"]["verdict"]), (&"ask".into(), &"deny".into()));
    assert_eq!((&rule["enabled"], &rule["enforced"]), (&true.into(), &false.into()));
    assert_eq!(rule["changes"][0]["key"], "action");
    let untouched = world.run(&["packs", "show", "power"]);
    assert!(untouched.out.contains("No file changes it."), "{}", untouched.out);
    let kept = world.run(&["packs", "show", "amend"]);
    assert!(kept.out.contains("[pack] git = false"), "{}", kept.out);
    assert!(kept.out.contains("does not count: settled"), "{}", kept.out);
}

#[test]
fn a_pack_with_its_rules() {
    let world = World::with(CONFIG);
    let done = world.run(&["packs", "show", "git"]);
    assert_eq!(done.code, 0, "{}", done.err);
    let rules = world.run(&["packs", "show", "git", "--json"]).json();
    for rule in rules["rules"].as_array().unwrap() {
        let id = rule["id"].as_str().unwrap();
        let line = done.out.lines().find(|line| line.starts_with(&format!("{id} ")));
        let line = line.unwrap_or_else(|| panic!("{id}: {}", done.out));
        let word = if id == "amend" { "ask" } else { "off" };
        assert!(line.contains(word) && line.ends_with(rule["severity"].as_str().unwrap()));
    }
    assert!(done.out.contains("    effect    git.discard\n"), "{}", done.out);
}

#[test]
fn what_does_not_exist_is_told_with_what_was_meant() {
    let world = World::new();
    let done = world.run(&["packs", "show", "force-psh"]);
    assert_eq!((done.code, done.out.as_str()), (1, ""));
    assert!(done.err.contains("did you mean `force-push`?"), "{}", done.err);
    let done = world.run(&["packs", "show", "zzzzzzzz"]);
    assert_eq!(done.code, 1);
    assert!(done.err.contains("`hookctl packs` lists"), "{}", done.err);
    assert_eq!(world.run(&["packs", "frob"]).code, 2);
}

#[test]
fn the_profile_is_told_where_it_is_another() {
    let world = World::with("profile = \"observe\"\n");
    assert!(world.run(&["packs"]).out.starts_with("profile observe: no shipped rule is enforced"));
    world.project_file("profile = \"strict\"\n");
    let done = world.run(&["packs"]);
    assert!(done.out.starts_with("profile strict"), "{}", done.out);
    assert!(done.out.contains(".hookctl.toml:1)"), "{}", done.out);
}

#[test]
fn status_and_explain_say_what_is_off() {
    let world = World::with("[pack]\ngit = false\n[override.env-read]\nenabled = false\n");
    let status = world.run(&["status", "--json"]).json();
    assert_eq!(status["profile"], "guard");
    assert_eq!(status["packs_off"], serde_json::json!(["git"]));
    assert_eq!(status["rules_off"], serde_json::json!(["env-read"]));
    let status = world.run(&["status"]).out;
    assert!(status.contains("packs off   git\n") && status.contains("rules off   env-read\n"));
    let explained = world.run(&["explain", "-v", "--tool", "Read", "--", ".env"]).out;
    assert!(explained.contains("[override.env-read] enabled = false in "), "{explained}");
}

#[test]
fn what_cannot_be_meant_is_a_fault() {
    let check = |text: &str| World::with(text).run(&["check"]);
    let done = check("[pack]\nsecret = false\n");
    assert_eq!(done.code, 0, "{}", done.out);
    assert!(done.out.contains("warning[unknown-pack]"), "{}", done.out);
    assert!(done.out.contains("did you mean `secrets`?"), "{}", done.out);
    for action in ["allow", "silent", "observe"] {
        let done = check(&format!("[override.env-read]\naction = \"{action}\"\n"));
        assert_eq!(done.code, 1, "{}", done.out);
        assert!(done.out.contains("error[bad-action]"), "{}", done.out);
        assert!(done.out.contains("`enabled = false` switches the rule off"), "{}", done.out);
    }
    let done = check("[override.env-raed]\nenabled = false\n");
    assert_eq!(done.code, 0);
    assert!(done.out.contains("did you mean `env-read`?"), "{}", done.out);
    let world = World::with("");
    world.project_file("[pack]\ngit = true\n[override.env-read]\naction = \"deny\"\n");
    let done = world.run(&["check"]);
    assert_eq!(done.code, 0, "{}", done.out);
    assert_eq!(done.out.matches("warning[ignored-here]").count(), 2, "{}", done.out);
}

#[test]
fn a_file_gives_a_shipped_rule_another_reason() {
    let world = World::with(
        "[override.env-read]\nreason = \"Look into {path}.example.\"\n[override.delete-home]\naction = \"ask\"\n\
         [override.private-keys]\naction = \"ask\"\n[override.private-key-files]\naction = \"ask\"\n",
    );
    assert_eq!(world.run(&["check"]).code, 0);
    let first = |call: &str| world.run(&["explain", call]).out.lines().next().unwrap().to_string();
    let env = system::text(world.project().join(".env"));
    assert_eq!(first("cat .env"), format!("deny by env-read: Look into {env}.example."));
    // A human is told what the call does, not what the model is to do.
    let key = first("cat ~/.ssh/id_rsa");
    assert!(key.starts_with("ask by private-key") && !key.contains("Ask the user"), "{key}");
    let shown = world.run(&["packs", "show", "env-read"]).out;
    assert!(
        shown.contains("[override.env-read] reason = \"Look into {path}.example.\""),
        "{shown}"
    );
    let wrong = World::with("[override.env-read]\nreason = \"{pth}\"\n").run(&["check"]);
    assert_eq!(wrong.code, 1, "{}", wrong.out);
}
