//! The settings files of an agent in one place, and whether the agent is there at all.

use std::path::{Path, PathBuf};

use super::file::SettingsTarget;
use super::program;
use super::read_settings;
use crate::agent::Agent;
use crate::agent::wiring::{Form, Scope, SettingsPlace, Wiring};

/// One settings file that an agent reads.
#[derive(Debug, Clone)]
pub struct SettingsFile {
    /// Whose it is: managed, user, project or local.
    pub name: &'static str,
    /// The file.
    pub file: PathBuf,
    /// The agent's id.
    pub agent: &'static str,
    /// How it is written.
    pub form: Form,
    /// Is it hookctl's alone?
    pub own: bool,
    /// The only event that it is for.
    pub event: Option<&'static str>,
}

impl SettingsFile {
    /// May hookctl write it? What the administrator wrote stays.
    pub fn is_ours_to_edit(&self) -> bool {
        self.name != Scope::Managed.name()
    }

    /// Is it for everybody who works on the project?
    pub fn is_shared(&self) -> bool {
        self.name == Scope::Project.name()
    }
}

/// Every file that the agent reads there, in its own order. In the home directory there is no project.
pub fn settings_files(
    agent: &dyn Agent,
    home: &Path,
    cwd: &Path,
    root: &Path,
) -> Vec<SettingsFile> {
    let Some(wiring) = agent.wiring() else { return Vec::new() };
    let resolve = |place: &'static SettingsPlace| {
        let path = wiring.resolve(place, home, cwd, root);
        let file = move |(file, event)| SettingsFile {
            name: place.scope.name(),
            file,
            agent: agent.id(),
            form: place.form,
            own: place.own,
            event,
        };
        files_of(place, path, agent).into_iter().map(file)
    };
    let mut files: Vec<SettingsFile> = wiring.files.iter().flat_map(resolve).collect();
    let of = |scope: Scope| files.iter().filter(move |one| one.name == scope.name());
    let at_home =
        of(Scope::User).any(|user| of(Scope::Project).any(|one| is_same(&one.file, &user.file)));
    let in_project = |one: &SettingsFile| {
        [Scope::Project, Scope::Local].iter().any(|scope| scope.name() == one.name)
    };
    files.retain(|one| !(at_home && in_project(one)));
    files
}

/// The files of a place, with the only event of each.
fn files_of(
    place: &SettingsPlace,
    path: PathBuf,
    agent: &dyn Agent,
) -> Vec<(PathBuf, Option<&'static str>)> {
    if let Form::Scripts(form) = place.form {
        let script = |event| (path.join(format!("{event}{}", form.extension)), Some(event));
        let mut names: Vec<&'static str> = Vec::new();
        // One name may stand for several kinds.
        for spec in agent.events() {
            names.extend((!names.contains(&spec.name)).then_some(spec.name));
        }
        return names.into_iter().map(script).collect();
    }
    expand_name(path).into_iter().map(|file| (file, None)).collect()
}

/// The files of that name: with a `*` in the last component, those that are there.
pub fn expand_name(path: PathBuf) -> Vec<PathBuf> {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let Some((before, after)) = name.split_once('*') else { return vec![path] };
    let entries = path.parent().and_then(|dir| std::fs::read_dir(dir).ok());
    let fits = |file: &PathBuf| {
        let name = file.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        name.len() >= before.len() + after.len()
            && name.starts_with(before)
            && name.ends_with(after)
            && file.is_file()
    };
    let all = entries.into_iter().flatten().flatten().map(|entry| entry.path());
    let mut found: Vec<PathBuf> = all.filter(fits).collect();
    crate::order::sort(&mut found);
    found
}

/// Do both names lead to one file?
fn is_same(a: &Path, b: &Path) -> bool {
    match (SettingsTarget::follow_links(a), SettingsTarget::follow_links(b)) {
        (Ok(a), Ok(b)) => a.real == b.real,
        _ => a == b,
    }
}

/// The files of a scope that entries go into: those that have ours; else of several that could be it, the first
/// that is in use, or the first. Files that stand together for one place are all of them.
pub fn files_to_write(files: &[SettingsFile], scope: &str) -> Vec<SettingsFile> {
    let all: Vec<&SettingsFile> = files.iter().filter(|one| one.name == scope).collect();
    if all.len() < 2 || stand_together(all[0]) {
        return all.into_iter().cloned().collect();
    }
    let read = |one: &SettingsFile| read_settings(one).ok().flatten();
    let ours = all.iter().find(|one| read(one).is_some_and(|read| read.survey.is_ours()));
    let used = || all.iter().find(|one| read(one).is_some_and(|read| read.has_hooks));
    ours.or_else(used).or(all.first()).map(|one| (*one).clone()).into_iter().collect()
}

/// Do several files stand for one place of the agent's?
fn stand_together(one: &SettingsFile) -> bool {
    let wiring = crate::agent::by_id(one.agent).and_then(|agent| agent.wiring());
    let many = |p: &SettingsPlace| p.scope.name() == one.name && p.path.contains('*');
    let named = wiring.is_some_and(|wiring| wiring.files.iter().any(many));
    one.event.is_some() || named
}

/// Is it one of several files of which a session has one? Then no other helps where its entries lack. Those of the
/// administrator are read together.
pub fn stands_alone(one: &SettingsFile) -> bool {
    one.event.is_none() && one.is_ours_to_edit() && stand_together(one)
}

/// A file that install once wrote for an agent, as its wiring has files of that name.
pub fn recorded_file(file: &Path, agent: &str, scope: &str) -> Option<SettingsFile> {
    let id = if agent.is_empty() { crate::agent::default_agent().id() } else { agent };
    let agent = crate::agent::by_id(id)?;
    let wiring = agent.wiring()?;
    let name = |path: &Path| path.file_name().map(ToOwned::to_owned);
    let fits = |place: &&SettingsPlace| match place.form {
        Form::Scripts(_) => file.parent().is_some_and(|dir| dir.ends_with(place.path)),
        // The machine's stand in one directory alone.
        _ if place.path.contains('*') => {
            place.scope != Scope::Managed || Path::new(place.path).parent() == file.parent()
        }
        _ => name(Path::new(place.path)) == name(file),
    };
    let scoped = |place: &&SettingsPlace| place.scope.name() == scope;
    let mut places = wiring.files.iter().filter(fits);
    let place = places.clone().find(scoped).or_else(|| places.next())?;
    let mut specs = agent.events().iter().map(|spec| spec.name);
    let stem = file.file_stem().and_then(|stem| stem.to_str());
    let event = match place.form {
        Form::Scripts(_) => Some(specs.find(|name| Some(*name) == stem)?),
        Form::Entries(_) | Form::Plugin(_) => None,
    };
    Some(SettingsFile {
        name: place.scope.name(),
        file: file.to_path_buf(),
        agent: agent.id(),
        form: place.form,
        own: place.own,
        event,
    })
}

/// What shows that an agent is there: a program in PATH, or what it leaves in the home.
pub fn presence(wiring: &Wiring, home: &Path, cwd: &Path) -> Option<PathBuf> {
    let program = wiring.programs.iter().find_map(|name| program::resolve_program(name));
    let moved = wiring.directory.variable.map(|_| wiring.user_directory(home, cwd));
    let traces = wiring.traces.iter().map(|trace| home.join(trace));
    let own = moved.filter(|dir| *dir != home.join(wiring.directory.home));
    program.or_else(|| own.into_iter().chain(traces).find(|path| path.exists()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(unix)]
    fn a_home_is_no_project_whatever_it_is_called() {
        let dir = tempfile::tempdir().unwrap();
        let (home, link) = (dir.path().join("home"), dir.path().join("link"));
        std::fs::create_dir_all(home.join(".claude")).unwrap();
        std::fs::create_dir(dir.path().join("other")).unwrap();
        std::os::unix::fs::symlink(&home, &link).unwrap();
        let claude = crate::agent::default_agent();
        let has_project = |root: &Path| {
            settings_files(claude, &home, root, root).iter().any(|one| one.name == "project")
        };
        assert!(!has_project(&home));
        assert!(!has_project(&link));
        assert!(has_project(&dir.path().join("other")));
    }

    #[test]
    fn a_star_in_a_name_may_stand_for_nothing_but_not_for_what_both_ends_share() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["ab.json", "ab-x.json", "a.json", "b.json"] {
            std::fs::write(dir.path().join(name), "").unwrap();
        }
        let names = |pattern: &str| -> Vec<String> {
            let found = expand_name(dir.path().join(pattern)).into_iter();
            found.map(|file| file.file_name().unwrap().to_string_lossy().into_owned()).collect()
        };
        assert_eq!(names("ab*.json"), ["ab-x.json", "ab.json"]);
        assert_eq!(names("ab.j*.json"), [""; 0]);
        assert_eq!(names("none.json"), ["none.json"]);
    }

    #[test]
    fn a_file_that_install_wrote_is_known_by_the_names_of_its_agent() {
        for (file, agent, scope, wanted) in [
            ("/h/.claude/settings.json", "claude", "user", Some("user")),
            ("/h/.claude/settings.json", "", "user", Some("user")),
            ("/p/.claude/settings.json", "claude", "project", Some("project")),
            ("/h/.kiro/agents/mine.json", "kiro", "user", Some("user")),
            ("/p/.kiro/agents/mine.json", "kiro", "project", Some("project")),
            ("/h/.claude/other.json", "claude", "user", None),
            ("/h/.claude/settings.json", "nobody", "user", None),
        ] {
            let found = recorded_file(Path::new(file), agent, scope);
            assert_eq!(found.as_ref().map(|one| one.name), wanted, "{file} {agent}");
            assert!(found.is_none_or(|one| one.file == Path::new(file)), "{file}");
        }
    }
}
