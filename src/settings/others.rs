//! The hook programs of others that are known here: how their entries are told, which servers of
//! ours do their work, and how their entries are taken out of Claude Code's settings and put back.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::edit::{Doc, NodePath};
use super::hooks::{self, Change};
use super::program::{self, Lead, Roots};
use super::survey::{self, other_sort, survey_hooks};
use crate::agent::claude::ENTRIES;
use crate::dialect::DIALECTS;
pub use crate::dialect::Rival as Program;
use crate::event::Kind;
use crate::json::{JsonFault, Node};

/// The judge of policies, which no server of ours is.
static CUPCAKE: Program = Program {
    name: "cupcake",
    remote: None,
    twice: "both judge, and the stricter answer counts",
    marks: &["cupcake eval"],
    told: None,
    group_key: None,
};

/// All that are known.
pub fn known_programs() -> impl Iterator<Item = &'static Program> {
    DIALECTS.iter().filter_map(|one| one.facts().rival).chain([&CUPCAKE])
}

impl Program {
    /// Is that entry of a version that asked nobody?
    pub fn is_old(&self, event: &str, command: &str) -> bool {
        event == Kind::PreToolUse.name() && self.told.is_some_and(|mark| command.contains(mark))
    }

    fn is_run_by(&self, command: &str) -> bool {
        let command = command.replace('\\', "/");
        self.marks.iter().any(|mark| command.contains(mark))
    }
}

/// The program that a command is of; ours is nobody else's, whatever its arguments say.
pub(super) fn from_command(command: &str) -> Option<&'static Program> {
    let ours = survey::split_program(command).is_some();
    known_programs().find(|known| !ours && known.is_run_by(command))
}

/// The program that takes this whole group along when it goes.
pub(super) fn group_owner(group: &Node) -> Option<&'static Program> {
    let entries = group.get("hooks").and_then(|(_, node)| node.items()).unwrap_or_default();
    let commands = || entries.iter().filter_map(|entry| entry.get("command")?.1.as_str());
    known_programs().find(|known| {
        known.group_key.is_some_and(|key| {
            group.get(key).is_some() || commands().any(|command| known.is_run_by(command))
        })
    })
}

/// The program that would take an entry with this command for its own, and its group along.
pub fn claiming_program(command: &str) -> Option<&'static Program> {
    known_programs().find(|known| known.group_key.is_some() && known.is_run_by(command))
}

/// What was taken out of a file, and where it stood.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Taken {
    /// The program's name.
    pub program: String,
    /// The event.
    pub event: String,
    /// Its group's place in the event's list.
    #[serde(default)]
    pub at: usize,
    /// The group, without what stayed of it.
    pub group: Value,
    /// The words of its commands that were files then: where.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub files: BTreeMap<String, PathBuf>,
}

/// Which of the entries that were taken out come back.
#[derive(Debug, Clone, Copy)]
pub(super) enum EntriesToReturn<'r> {
    /// All.
    All,
    /// Those whose program has not gone since.
    There(&'r Roots),
}

impl Taken {
    /// That it is gone.
    pub(super) fn removal_change(&self) -> Change {
        Change::TakenOut { event: self.event.clone(), program: self.program.clone() }
    }

    /// That it is there again.
    fn return_change(&self) -> Change {
        Change::PutBack { event: self.event.clone(), program: self.program.clone() }
    }

    fn command_lines(&self) -> impl Iterator<Item = String> {
        let entries = self.group["hooks"].as_array().into_iter().flatten();
        entries.filter_map(command_line)
    }

    fn has_command(&self, command: &str) -> bool {
        self.command_lines().any(|line| line == command)
    }

    /// Are the programs of all its entries gone?
    pub fn is_gone(&self, roots: &Roots) -> bool {
        self.command_lines().all(|line| self.lacks_file(&line, roots))
    }

    /// Is a file that this command needs gone since it was taken out? What was no file then, or may lie
    /// elsewhere by now, is not.
    fn lacks_file(&self, command: &str, roots: &Roots) -> bool {
        program::needed_files(command, program_marks(&self.program)).iter().any(|word| {
            let was = self.files.get(word);
            was.is_some_and(|file| !program::is_there(file))
                && !matches!(roots.find_lead(word), Lead::File(_))
        })
    }

    /// Takes the entries out of its group whose programs are gone: that they stay out.
    fn drop_missing(&mut self, roots: &Roots) -> Vec<Change> {
        let lacking: Vec<String> =
            self.command_lines().filter(|line| self.lacks_file(line, roots)).collect();
        if let Some(entries) = self.group["hooks"].as_array_mut() {
            entries.retain(|entry| command_line(entry).is_none_or(|line| !lacking.contains(&line)));
        }
        let change = |command| Change::LeftOut {
            event: self.event.clone(),
            program: self.program.clone(),
            command,
        };
        lacking.into_iter().map(change).collect()
    }
}

/// The command line of an entry.
fn command_line(entry: &Value) -> Option<String> {
    survey::command_line(entry.as_object()?)
}

/// What the commands of that program contain.
fn program_marks(name: &str) -> &'static [&'static str] {
    known_programs().find(|known| known.name == name).map_or(&[], |known| known.marks)
}

/// Takes out every entry of these programs that the client sees, and what becomes empty by it.
///
/// # Errors
/// Only where the document's own edits fail.
pub(super) fn take_out(
    doc: &mut Doc,
    programs: &[&Program],
    roots: &Roots,
) -> Result<Vec<Taken>, JsonFault> {
    let mut taken = Vec::new();
    let asked = |known: &Program| programs.iter().any(|one| one.name == known.name);
    loop {
        let found = survey_hooks(doc, &ENTRIES).foreign.into_iter().find_map(|foreign| {
            let known = foreign.known.filter(|known| asked(known))?;
            let mut group = doc.node_at(&foreign.path[..3])?.to_value();
            let stays = match known.group_key {
                Some(key) => split_group(&mut group, key),
                None => {
                    group["hooks"] = json!([doc.node_at(&foreign.path)?.to_value()]);
                    None
                }
            };
            Some((known, foreign, group, stays))
        });
        let Some((known, foreign, group, stays)) = found else { return Ok(taken) };
        match stays {
            Some(stays) => doc.replace(&foreign.path[..3], &stays)?,
            None => {
                let path = emptied_container(doc, &foreign.path, known.group_key.is_some());
                doc.remove(&path)?;
            }
        }
        let mut one = Taken {
            program: known.name.to_string(),
            event: foreign.event,
            at: foreign.path[2],
            group,
            files: BTreeMap::new(),
        };
        let needed = one.command_lines().flat_map(|line| program::needed_files(&line, known.marks));
        let file = |word: String| match roots.find_lead(&word) {
            Lead::File(file) => Some((word, file)),
            Lead::Nothing(_) | Lead::Unknown => None,
        };
        one.files = needed.filter_map(file).collect();
        taken.push(one);
    }
}

/// Takes out of the group of a program what is none of its own: entries that run no command, such as a prompt for a
/// model. A group with these, without the program's mark; none = there are none.
fn split_group(group: &mut Value, mark: &str) -> Option<Value> {
    let mut stays = group.clone();
    let is_other = |entry: &Value| entry.as_object().is_some_and(|it| other_sort(it).is_some());
    let (left, own): (Vec<Value>, Vec<Value>) =
        group["hooks"].as_array()?.iter().cloned().partition(is_other);
    if left.is_empty() {
        return None;
    }
    group["hooks"] = own.into();
    stays["hooks"] = left.into();
    stays.as_object_mut()?.remove(mark);
    Some(stays)
}

/// The outermost container that holds nothing but the entry at `path`, or but its group.
fn emptied_container(doc: &Doc, path: &[usize], whole_group: bool) -> NodePath {
    let only = |depth: usize| doc.node_at(&path[..depth]).is_some_and(|node| node.len() == 1);
    // Without the last of duplicate keys, the client would see the one before.
    let single = |depth: usize| {
        let members = doc.node_at(&path[..depth - 1]).and_then(Node::members).unwrap_or_default();
        let key = members.get(path[depth - 1]).map(|member| &member.key);
        members.iter().filter(|member| Some(&member.key) == key).count() == 1
    };
    let depth = match () {
        () if !whole_group && !only(4) => 5,
        () if !only(2) || !single(2) => 3,
        () if !only(1) || !single(1) => 2,
        () => 1,
    };
    path[..depth].to_vec()
}

/// What of it is not there: neither the same command nor as many of the program's as there were,
/// for a program that has put itself back needs no help.
pub(super) fn still_out(doc: &Doc, taken: &[Taken]) -> Vec<Taken> {
    let foreign = survey_hooks(doc, &ENTRIES).foreign;
    let is_out = |one: &&Taken| {
        let alike = |program: &str, event: &str| program == one.program && event == one.event;
        let were = taken.iter().filter(|other| alike(&other.program, &other.event)).count();
        let there = foreign
            .iter()
            .filter(|there| there.known.is_some_and(|known| alike(known.name, &there.event)));
        there.clone().count() < were
            && !there.into_iter().any(|there| one.has_command(&there.command))
    };
    taken.iter().filter(is_out).cloned().collect()
}

/// Puts back what is not there again by itself.
///
/// # Errors
/// Where the file's shape leaves no place for it.
pub(super) fn put_back(
    doc: &mut Doc,
    taken: &[Taken],
    back: EntriesToReturn<'_>,
) -> Result<Vec<Change>, JsonFault> {
    let mut out = still_out(doc, taken);
    let mut left = Vec::new();
    if let EntriesToReturn::There(roots) = back {
        left = out.iter_mut().flat_map(|one| one.drop_missing(roots)).collect();
        out.retain(|one| one.command_lines().next().is_some());
    }
    if !out.is_empty() {
        hooks::check_shape(doc, &ENTRIES, out.iter().map(|one| one.event.as_str()))?;
    }
    // Each place is that of the moment when it was taken: the last one first.
    for one in out.iter().rev() {
        hooks::insert_item(doc, &ENTRIES, &one.event, one.at, &one.group)?;
    }
    Ok(out.iter().map(Taken::return_change).chain(left).collect())
}

/// Takes out of a file's own text what is not to come back with it.
///
/// # Errors
/// Only where the document's own edits fail.
pub(super) fn leave_out(doc: &mut Doc, changes: &[Change]) -> Result<(), JsonFault> {
    for change in changes {
        let Change::LeftOut { event, command, .. } = change else { continue };
        let foreign = survey_hooks(doc, &ENTRIES).foreign.into_iter();
        let mut alike = foreign.filter(|one| one.event == *event && one.command == *command);
        if let Some(one) = alike.next() {
            let path = emptied_container(doc, &one.path, false);
            doc.remove(&path)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s0_29_s3_57_programs_are_known_by_their_commands() {
        for (command, name) in [
            ("/home/dev/.cdev/hooks/permission.sh", Some("cdev")),
            ("powershell -File C:\\Users\\dev\\.cdev\\hooks\\forward.ps1 session", Some("cdev")),
            ("npx @principal-ai/agent-hooks claude-hook --port 3043", Some("agent-hooks")),
            ("node /opt/dist/claude-hook.cjs", Some("agent-hooks")),
            ("cupcake eval --harness claude", Some("cupcake")),
            ("cupcake init", None),
            ("hookctl claude-hook --port 3043 --dir /x/agent-hooks", None),
            ("/x/agent-hooks/hookctl claude-hook", None),
            ("hookctl hook", None),
            ("~/cdev.sh", None),
        ] {
            assert_eq!(from_command(command).map(|known| known.name), name, "{command}");
        }
        assert!(claiming_program("/home/dev/.cdev/hooks/hookctl").is_some());
        assert!(claiming_program("/x/agent-hooks/hookctl").is_none());
    }

    #[test]
    fn s0_25_s0_29_an_entry_of_ours_leaves_a_group_that_is_cdevs() {
        let group = |mark: &str, command: &str| {
            format!(
                r#"{{"hooks":{{"Stop":[{{{mark}"hooks":[{{"type":"command","command":"{command}"}},{{"type":"command","command":"hookctl hook"}}]}}]}}}}"#
            )
        };
        for text in [
            group(r#""_cdev_managed":true,"#, "x"),
            group(r#""_cdev_managed":false,"#, "x"),
            group("", "/h/.cdev/hooks/forward.sh"),
        ] {
            let found = survey_hooks(&Doc::new(&text).unwrap(), &ENTRIES);
            assert_eq!(found.own[0].lodger.map(|other| other.name), Some("cdev"), "{text}");
            assert_eq!(found.foreign[0].known.map(|other| other.name), Some("cdev"), "{text}");
        }
    }

    #[test]
    fn what_is_back_is_not_put_back() {
        let entry = |port: u32| {
            let command = format!("npx agent-hooks claude-hook --port {port}");
            json!({"hooks": [{"type": "command", "command": command}]})
        };
        let all = json!({"hooks": {"Stop": [entry(1), entry(2)]}}).to_string();
        for (there, back) in
            [(vec![], vec![1, 2]), (vec![2], vec![1]), (vec![1, 2], vec![]), (vec![3, 4], vec![])]
        {
            let mut doc = Doc::new(&all).unwrap();
            let roots = Roots { home: "/h".into(), project: "/p".into() };
            let taken = take_out(&mut doc, &[&crate::dialect::bridge::PACKAGE], &roots).unwrap();
            assert_eq!(doc.text(), "{}");
            let now: Vec<Value> = there.iter().copied().map(entry).collect();
            let doc = Doc::new(&json!({"hooks": {"Stop": now}}).to_string()).unwrap();
            let out: Vec<Value> =
                still_out(&doc, &taken).into_iter().map(|one| one.group).collect();
            assert_eq!(out, back.into_iter().map(entry).collect::<Vec<_>>(), "{there:?}");
        }
    }
}
