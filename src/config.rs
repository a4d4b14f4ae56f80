//! The layers: which rule files there are, which of them count, and what is wrong with them.

use std::borrow::Cow;
use std::io::ErrorKind;
use std::iter;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use crate::bundle;
use crate::effect::program::table::Program;
use crate::effect::{Place, windows};
use crate::event::{Kind, KindSet};
use crate::files::{self, OpenFile, Refusal};
use crate::limits;
use crate::paths::{self, Paths};
use crate::rule::concern::RuleQuery;
use crate::rule::fault::{Fault, Gravity};
use crate::rule::file::server::{self, Typed};
use crate::rule::file::{self, JournalConfig, Remote, RuleFile};
use crate::rule::index::{self, Index};
use crate::rule::shipped::{self, Shipped};
use crate::rule::{Layer, Profile, Rule, Severity};
use crate::trust;

pub mod standing;

/// One file of a layer, as it is on the disk.
#[derive(Debug, Clone)]
pub struct LayerFile {
    /// Its layer.
    pub layer: Layer,
    /// Where it is.
    pub path: PathBuf,
    /// Its text, empty where it could not be read.
    pub text: Cow<'static, str>,
    /// What was read of it.
    pub file: RuleFile,
    /// A project's file that a human approved; always true for managed and user files.
    pub trusted: bool,
    /// It is one of another root than the project's: only what tightens holds, trusted or not.
    pub is_other: bool,
    /// Why the file as a whole does not count.
    pub refused: Option<String>,
    /// Where its rules stand, when only those that could concern the call are read.
    pub index: Option<Index>,
}

impl LayerFile {
    fn new(layer: Layer, path: PathBuf) -> LayerFile {
        LayerFile {
            layer,
            path,
            text: Cow::default(),
            file: RuleFile::default(),
            trusted: !layer.is_project(),
            is_other: false,
            refused: None,
            index: None,
        }
    }

    /// How far a human's trust goes, in words; nothing for what needs none.
    pub fn describe_trust(&self) -> &'static str {
        match (self.layer.is_project(), self.is_other, self.trusted) {
            (false, ..) => "",
            (_, true, _) => "another project's",
            (_, _, true) => "trusted",
            (_, _, false) => "not trusted",
        }
    }

    /// Does all of it hold, and not only what tightens?
    pub fn holds_whole(&self) -> bool {
        self.trusted && !self.is_other
    }

    /// Is it the settings of a server, and no rule file?
    pub fn is_settings(&self) -> bool {
        self.path.extension().is_some_and(|end| end == "json")
    }

    /// What it has, in two words.
    pub fn describe_content(&self) -> String {
        let (number, what) = match self.is_settings() {
            true => (self.file.remotes.len(), "server"),
            false => (self.file.rules.len(), "rule"),
        };
        format!("{number} {what}{}", if number == 1 { "" } else { "s" })
    }

    /// A file whose text somebody else has read.
    pub fn from_text(layer: Layer, path: PathBuf, text: String) -> LayerFile {
        let file = file::read_rules(&text, &path, layer, None);
        LayerFile { text: text.into(), file, ..LayerFile::new(layer, path) }
    }
}

/// Everything that is configured, for one event or for all.
#[derive(Debug, Clone, Default)]
pub struct Config {
    /// The files that exist, highest authority first.
    pub sources: Vec<LayerFile>,
    /// How much is asked.
    pub profile: Profile,
    /// What is kept of decisions.
    pub journal: JournalConfig,
    /// Rules of the files that take effect, in the order of `sources`.
    pub rules: Vec<Rc<Rule>>,
    /// Events whose calls must be asked about, and why.
    pub broken: Vec<(KindSet, String)>,
    /// What to tell the user once in a session.
    pub warnings: Vec<String>,
    /// What the journal is to say.
    pub notes: Vec<String>,
    /// Version and hash of the bundle that the managed rules are from; empty where there is none.
    pub bundle: String,
    /// The managed rules cannot all be used.
    pub lacks_managed: bool,
    only_files: bool,
}

impl Config {
    /// Reads every layer. `only`: as for [`file::read_rules`].
    pub fn load(paths: &Paths, project: &Path, only: Option<Kind>) -> Config {
        Config::load_with(paths, &paths.user_config(), (project, project), only)
    }

    /// The same for a call there: a project's rules hold where the call is as well as where the session is.
    pub fn load_for(paths: &Paths, place: &Place, only: Option<Kind>) -> Config {
        let dirs = (Path::new(&place.project), Path::new(&place.cwd));
        Config::load_with(paths, &paths.user_config(), dirs, only)
    }

    /// The same with that file as the user's.
    pub fn load_with(
        paths: &Paths,
        user: &Path,
        (project, cwd): (&Path, &Path),
        only: Option<Kind>,
    ) -> Config {
        let mut config = Config::default();
        let hook = only.map(|kind| (kind, paths.state.as_path()));
        let others = paths::other_roots(project, cwd, &paths.home);
        let roots = iter::once(project).chain(others.iter().copied().take(limits::OTHER_ROOTS));
        let project_files = roots.flat_map(|root| {
            [(Layer::Local, paths::LOCAL_FILE), (Layer::Project, paths::PROJECT_FILE)]
                .map(|(layer, name)| (layer, root.join(name)))
        });
        if others.len() > limits::OTHER_ROOTS {
            // A repository's own files can be no reason to ask about every call.
            let (most, project) = (limits::OTHER_ROOTS, project.display());
            config.warnings.push(format!(
                "hookctl: more than {most} directories around {project} have rule files. Those farther up are not used."
            ));
        }
        let own = [
            (Layer::User, user.to_path_buf()),
            // Beside a file that was named as the config there is none.
            (Layer::User, if user == paths.config { PathBuf::new() } else { paths.user_server() }),
        ];
        let machine = read_source(Layer::Managed, paths.managed.clone(), hook);
        let machine = machine.into_iter().chain(config.read_bundle(paths, only));
        for source in machine.collect::<Vec<_>>() {
            config.add_source(&source);
            config.sources.push(source);
        }
        let mut store = None;
        for (layer, path) in own.into_iter().chain(project_files) {
            let Some(mut source) = read_source(layer, path, hook) else { continue };
            if layer.is_project() {
                source.is_other = source.path.parent() != Some(project);
                let store = store.get_or_insert_with(|| {
                    trust::Store::read(&paths.trust()).unwrap_or_else(|why| {
                        config.notes.push(why);
                        trust::Store::default()
                    })
                });
                // Of one that was trusted and cannot be read now nobody knows what it would have said.
                source.trusted = match source.refused {
                    Some(_) => store.has_file(&source.path),
                    None => store.is_approved(&source.path, &source.text),
                };
            }
            config.reject_duplicate_server(&mut source);
            config.add_source(&source);
            config.sources.push(source);
        }
        if only.is_some_and(|kind| config.may_ask_server(kind)) {
            config.read_remotes();
        }
        config
    }

    /// The files of the bundle that holds on this machine. Where its rules are not there, calls are asked about. No index
    /// is used for them: it would lie where the user may write, and no signature covers it.
    fn read_bundle(&mut self, paths: &Paths, only: Option<Kind>) -> Vec<LayerFile> {
        let held = match bundle::held_rules(paths) {
            None => return Vec::new(),
            Some(Ok(held)) => held,
            Some(Err(why)) => {
                self.broken.push((KindSet::ALL, why));
                self.lacks_managed = true;
                return Vec::new();
            }
        };
        self.bundle = held.mark();
        let version = held.bundle.version;
        let read = |(name, text): (String, String)| {
            let path = PathBuf::from(format!("bundle {version}/{name}"));
            let file = file::read_rules(&text, &path, Layer::Managed, only);
            LayerFile { text: text.into(), file, ..LayerFile::new(Layer::Managed, path) }
        };
        held.bundle.files.into_iter().map(read).collect()
    }

    /// Could an event of that kind need a server?
    fn may_ask_server(&self, kind: Kind) -> bool {
        self.sources.iter().any(|source| match &source.index {
            Some(index) => index.server_kinds().contains(kind),
            None => {
                let named = source.file.rules.iter().any(|rule| rule.remote_name().is_some());
                named || source.file.remotes.iter().any(|remote| remote.kinds().contains(kind))
            }
        })
    }

    /// Is there a server for any event?
    pub fn has_remotes(&self) -> bool {
        self.sources.iter().any(|source| match &source.index {
            Some(index) => !index.server_kinds().is_empty(),
            None => !source.file.remotes.is_empty(),
        })
    }

    /// Reads the servers that an index left out: all of them, since the same name in another file
    /// may mean another.
    pub fn read_remotes(&mut self) {
        for source in &mut self.sources {
            if let Some(index) = &source.index {
                source.file.remotes = index.read_remotes(&source.path, source.layer);
            }
        }
    }

    /// What holds where that file is all there is beside the shipped rules.
    pub fn from_source(source: LayerFile) -> Config {
        let mut config = Config::default();
        config.add_source(&source);
        config.sources.push(source);
        config
    }

    /// Adds rules of the user's that stand in no file.
    pub fn add_user_text(&mut self, path: PathBuf, text: String) {
        let source = LayerFile::from_text(Layer::User, path, text);
        self.add_source(&source);
        self.sources.push(source);
    }

    /// The rules of files that take effect for the call, in the order of the sources.
    pub fn file_rules(&self, call: &RuleQuery<'_>) -> Vec<Rc<Rule>> {
        let mut rules = Vec::with_capacity(self.rules.len());
        for source in self.sources.iter().filter(|source| source.refused.is_none()) {
            match &source.index {
                Some(index) => {
                    let found = index
                        .concerned_rules(&source.path, source.layer, call)
                        .unwrap_or_else(|| {
                            // Of an index that is damaged nothing counts.
                            file::read_rules(&source.text, &source.path, source.layer, None).rules
                        });
                    rules.extend(found.iter().filter_map(|rule| effective_rule(source, rule)));
                }
                None => rules.extend(
                    source.file.rules.iter().filter_map(|rule| effective_rule(source, rule)),
                ),
            }
        }
        rules
    }

    /// The shipped rules that could speak of the call; all of them where there is none.
    pub fn shipped_rules(&self, call: Option<RuleQuery<'_>>) -> Vec<Rc<Rule>> {
        if self.only_files {
            return Vec::new();
        }
        let autopilot = self.active_autopilot();
        // Whose list of commands is not the shipped one, whose programs the build noted.
        let listed = |one: &Shipped| {
            one.id == shipped::AUTOPILOT_LIST
                && autopilot.is_some_and(|own| own.commands.is_some() || !own.also.is_empty())
        };
        let rules: Vec<&Shipped> = match call {
            Some(call) => {
                // A rule that a file makes critical fires on what is only possible.
                let raised = self
                    .own_files()
                    .flat_map(|source| &source.file.overrides)
                    .any(|change| change.severity == Some(Severity::Critical));
                let call = RuleQuery { deep: call.deep || autopilot.is_some() || raised, ..call };
                shipped::concerned_rules(&call, listed).collect()
            }
            None => shipped::RULES.iter().collect(),
        };
        rules
            .into_iter()
            .filter(|one| autopilot.is_some() || !one.is_autopilot())
            .filter_map(|one| {
                let mut rule = one.rule()?;
                if let Some(own) = autopilot.filter(|_| listed(one)) {
                    let list = &mut Rc::make_mut(&mut rule).conditions.command;
                    if let Some(commands) = &own.commands {
                        list.clone_from(commands);
                    }
                    list.extend(&own.also);
                }
                let enabled = self.apply_changes(one.pack, Rc::make_mut(&mut rule), |_| ());
                enabled.then_some(rule)
            })
            .collect()
    }

    /// Leaves the shipped rules out: for tests of a file's own rules.
    #[doc(hidden)]
    pub fn without_shipped(&mut self) {
        self.only_files = true;
    }

    /// Two files of the user that both say how to ask `server` would each be half in effect.
    fn reject_duplicate_server(&mut self, source: &mut LayerFile) {
        if !source.is_settings() {
            return;
        }
        self.read_remotes();
        let known = |name: &str| {
            let same = self.sources.iter().filter(|other| other.layer == source.layer);
            same.flat_map(|other| &other.file.remotes).any(|remote| remote.name == name)
        };
        if source.file.remotes.iter().any(|remote| known(&remote.name)) {
            let message = format!("{} has a [remote.{}] too", paths::CONFIG_FILE, server::NAME);
            source.file.refuse_file(message, "take it out there, or remove this file");
        }
    }

    /// What was typed for the user's server takes the place of what files say of it.
    ///
    /// # Errors
    /// What is wrong with it: then nothing has changed.
    pub fn override_server(&mut self, typed: &Typed) -> Result<(), String> {
        if typed.is_empty() {
            return Ok(());
        }
        self.read_remotes();
        let is_own =
            |source: &&mut LayerFile| source.layer == Layer::User && source.refused.is_none();
        let mut own = self.sources.iter_mut().filter(is_own).flat_map(|s| &mut s.file.remotes);
        let known = own.find(|remote| remote.name == server::NAME);
        let remote = server::override_remote(known.as_deref(), typed)?;
        if let Some(known) = known {
            *known = remote;
            return Ok(());
        }
        let mut source = LayerFile::new(Layer::User, PathBuf::from("the command line"));
        source.file.remotes.push(remote);
        let at = self.sources.iter().position(|source| source.layer.is_project());
        self.sources.insert(at.unwrap_or(self.sources.len()), source);
        Ok(())
    }

    fn add_source(&mut self, source: &LayerFile) {
        let file = &source.file;
        let name = source.path.display().to_string();
        let broken = source.refused.is_some()
            || file.faults.iter().any(|fault| fault.gravity == Gravity::Error);
        self.lacks_managed |= source.layer == Layer::Managed && broken;
        if let Some(why) = &source.refused {
            if source.trusted {
                self.broken.push((KindSet::ALL, why.clone()));
            } else {
                // A repository's own file can be no reason to ask about every call.
                self.warnings.push(format!("hookctl: {why}. The file is not used."));
            }
            return;
        }
        let first_error = file.faults.iter().find(|fault| fault.gravity == Gravity::Error);
        if let Some(fault) = first_error {
            let more = file.faults.iter().filter(|f| f.gravity == Gravity::Error).count() - 1;
            let mut why = fault.to_line(&name, &source.text);
            if more > 0 {
                why.push_str(&format!(", and {more} more"));
            }
            why.push_str("; run `hookctl check`");
            if source.trusted {
                self.broken.push((file.broken, why));
            } else {
                self.warnings
                    .push(format!("hookctl: {why}. The file is not trusted, so it only warns."));
            }
        }
        // Files come with the highest authority first: what is set stays.
        match (source.layer, file.profile) {
            (Layer::Managed | Layer::User, Some(profile)) => {
                let set = self.sources.iter().any(|s| s.file.profile.is_some());
                if !set {
                    self.profile = profile;
                }
            }
            (_, Some(Profile::Strict)) => self.profile = Profile::Strict,
            _ => {}
        }
        if !source.layer.is_project() && self.sources.iter().all(|s| s.file.journal.is_none()) {
            self.journal = file.journal.clone().unwrap_or_default();
        }
        let effective = file.rules.iter().filter_map(|rule| effective_rule(source, rule));
        self.rules.extend(effective);
    }

    /// What the place of a call is by these files: programs that they name, and other roots whose files
    /// hold.
    pub fn complete_place(&self, place: &mut Place) {
        place.programs = self.programs();
        let others = self.sources.iter().filter(|source| source.is_other);
        place.other_roots =
            others.filter_map(|source| source.path.parent()).map(windows::native_text).collect();
        // A user's rule on `./src/` means the repository around this one as well: any directory may be made one.
        let (project, home) = (Path::new(&place.project), Path::new(&place.home));
        let outer = paths::outer_repositories(project, home);
        let outer = outer.take(limits::OTHER_ROOTS).map(windows::native_text);
        place.other_roots.extend(outer.collect::<Vec<_>>());
        place.other_roots.sort_unstable();
        place.other_roots.dedup();
    }

    /// What managed, user and trusted files say of programs, the highest authority first.
    pub fn programs(&self) -> &'static [Program] {
        let sources = self.sources.iter().filter(|s| s.holds_whole() && s.refused.is_none());
        let all: Vec<Program> = sources.flat_map(|s| s.file.programs.iter().copied()).collect();
        all.leak()
    }

    /// The servers of managed, user and trusted files; of one name only that with the highest
    /// authority.
    pub fn remotes(&self) -> impl Iterator<Item = (Layer, &Remote)> {
        let sources = || self.sources.iter().filter(|s| s.holds_whole() && s.refused.is_none());
        let all = move || {
            sources().flat_map(|s| s.file.remotes.iter().map(move |remote| (s.layer, remote)))
        };
        all().enumerate().filter_map(move |(at, (layer, remote))| {
            all().take(at).all(|(_, above)| above.name != remote.name).then_some((layer, remote))
        })
    }

    /// Every fault of every file, with the file's name and text.
    pub fn faults(&self) -> impl Iterator<Item = (&LayerFile, &Fault)> {
        self.sources
            .iter()
            .flat_map(|source| source.file.faults.iter().map(move |fault| (source, fault)))
    }

    /// The events that rules need beyond those that install registers anyway.
    pub fn needed_events(&self) -> KindSet {
        let rules = self.rules.iter().map(|rule| rule.on);
        rules.chain(self.remotes().map(|(_, remote)| remote.kinds())).fold(
            KindSet::EMPTY,
            |all, on| {
                // What is on every event asks for no event in particular.
                if on == KindSet::ALL { all } else { all.union(on) }
            },
        )
    }
}

/// The rule as far as it takes effect: of a project's file that nobody trusted, or of another root, only what
/// denies or asks on a tool call.
fn effective_rule(source: &LayerFile, rule: &Rc<Rule>) -> Option<Rc<Rule>> {
    if source.holds_whole() {
        return Some(Rc::clone(rule));
    }
    let gates = KindSet::from_kinds(&[Kind::PreToolUse, Kind::PermissionRequest]);
    let on = rule.on.intersect(gates);
    if !rule.only_tightens() || on.is_empty() {
        return None;
    }
    let mut rule = Rc::clone(rule);
    Rc::make_mut(&mut rule).on = on;
    Some(rule)
}

/// Reads one file; None where there is none.
///
/// For an event on the hook path, with the state directory: an index that an earlier event left is
/// used, or one is left for later events.
pub fn read_source(layer: Layer, path: PathBuf, hook: Option<(Kind, &Path)>) -> Option<LayerFile> {
    let mut source = LayerFile::new(layer, path);
    let opened = match open_source(&source.path, layer) {
        Ok(Some(opened)) => opened,
        Ok(None) => return None,
        Err(why) => {
            source.refused = Some(why);
            return Some(source);
        }
    };
    if let Some((_, state)) = hook
        && !source.is_settings()
        && let Some(index) = Index::load(state, &source.path, |content| opened.holds_text(content))
        && let Some(text) = index.content()
        && let Some(rest) = index.read_rest(&source.path, layer)
    {
        (source.text, source.index, source.file) = (Cow::Borrowed(text), Some(index), rest);
        return Some(source);
    }
    let bytes = match opened.read() {
        Ok(bytes) => bytes,
        Err(refusal) => {
            source.refused = Some(refusal.describe_for(&source.path));
            return Some(source);
        }
    };
    match String::from_utf8(bytes) {
        Ok(text) => {
            let plain = text.strip_prefix(files::BYTE_ORDER_MARK).map(str::to_string);
            source.text = plain.unwrap_or(text).into();
        }
        Err(error) => {
            let line = error.as_bytes()[..error.utf8_error().valid_up_to()]
                .iter()
                .filter(|byte| **byte == b'\n')
                .count()
                + 1;
            source.refused = Some(format!(
                "{}:{line}: the file is not UTF-8; save it as UTF-8",
                source.path.display()
            ));
            return Some(source);
        }
    }
    if source.is_settings() {
        source.file = server::read_server_file(&source.text);
        return Some(source);
    }
    if let Some((kind, state)) = hook {
        let index = index::make_index(state, &source.path, layer, &source.text);
        if let Some((index, rest)) =
            index.and_then(|index| Some((index, index.read_rest(&source.path, layer)?)))
        {
            (source.index, source.file) = (Some(index), rest);
            return Some(source);
        }
        source.file = file::read_rules(&source.text, &source.path, layer, Some(kind));
        return Some(source);
    }
    source.file = file::read_rules(&source.text, &source.path, layer, None);
    Some(source)
}

/// The file; None where there is none.
fn open_source(path: &Path, layer: Layer) -> Result<Option<OpenFile>, String> {
    let opened = match layer.is_project() {
        true => OpenFile::any(path, limits::PROJECT_FILE),
        false => OpenFile::protected(path, limits::OWN_FILE),
    };
    match opened {
        Ok(opened) => Ok(Some(opened)),
        // Of the user's own, a link to nowhere and a path through a file are meant to lead somewhere.
        // In a repository only the file itself is.
        Err(Refusal::Absent) if layer.is_project() && !path.is_symlink() => Ok(None),
        Err(Refusal::Absent) if !files::leads_nowhere(path) => Ok(None),
        Err(Refusal::Absent) => {
            Err(format!("{} is, or lies behind, a link that leads nowhere", path.display()))
        }
        Err(Refusal::System(error))
            if layer.is_project() && error.kind() == ErrorKind::NotADirectory =>
        {
            Ok(None)
        }
        Err(refusal) => {
            let fix = refusal.fix().map(|fix| format!(": {fix}")).unwrap_or_default();
            Err(format!("{}{fix}", refusal.describe_for(path)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(unix)]
    fn what_a_project_has_not_is_no_file_and_what_cannot_be_looked_up_is_a_fault() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("file"), "").unwrap();
        let open = |name: &str, layer| open_source(&dir.path().join(name), layer);
        for absent in ["no.toml", "no/x.toml", "file/x.toml"] {
            assert!(matches!(open(absent, Layer::Project), Ok(None)), "{absent}");
        }
        let long = "x".repeat(300);
        assert!(open(&long, Layer::Project).is_err());
        assert!(open("file/x.toml", Layer::User).is_err());
        // A home whose links lead nowhere has had rules.
        std::os::unix::fs::symlink(dir.path().join("gone"), dir.path().join("link")).unwrap();
        for behind in ["link", "link/x.toml", "link/a/x.toml"] {
            assert!(open(behind, Layer::User).is_err(), "{behind}");
            assert_eq!(open(behind, Layer::Project).is_err(), behind == "link", "{behind}");
        }
        assert!(matches!(open("no/x.toml", Layer::User), Ok(None)));
    }

    #[test]
    fn a_file_without_an_index_says_whether_it_has_servers() {
        let rule = "[rule.x]\ncommand = \"ls\"\ndeny = \"x\"\n";
        let server = "[remote.x]\nurl = \"http://127.0.0.1:9\"\nevents = \"Stop\"\n";
        for (text, wanted) in [("", false), (rule, false), (server, true)] {
            let source = LayerFile::from_text(Layer::User, PathBuf::from("/f.toml"), text.into());
            let mut config = Config::from_source(source);
            assert_eq!(config.has_remotes(), wanted, "{text}");
            config.read_remotes();
            assert_eq!(config.has_remotes(), wanted, "{text}");
        }
        assert!(!Config::default().has_remotes());
    }
}
