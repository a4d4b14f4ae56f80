//! Lossless edits of other programs' settings files: atomic, locked, backed up, byte-exact undo.
//!
//! `json` reads strictly and keeps positions, `edit` splices, `survey` reads what a file says of hooks,
//! `hooks` knows what ours should say, `content` whole files of ours, `consent` what users must approve, `place` where files are, `migrate` takes hooks
//! from one agent to another, `others` the programs that would do the same, `beside` where those and ours meet, `program` where a
//! command's program is, `switch` what keeps hooks from running, `file` replaces it on disk, `record` remembers how it was. This page ties them
//! together.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde_json::Value;

pub mod beside;
pub mod consent;
pub mod content;
pub mod edit;
pub mod file;
pub mod hooks;
pub mod migrate;
pub mod others;
pub mod place;
pub mod program;
pub mod record;
pub mod survey;
pub mod switch;

use crate::json::JsonFault;
use edit::Doc;
use file::{Lock, SettingsTarget};
use hooks::{Change, Going, Shaped, WantedEntries};
use others::{EntriesToReturn, Program};
use place::SettingsFile;
use program::Roots;
use record::{Record, Records};
use survey::{Role, Survey, survey_hooks};

use crate::agent::wiring::{EntryForm, Form, Scope};
use crate::files;
use crate::order;
use crate::paths::Paths;

/// How often an edit starts over when the file changes under it.
const ATTEMPTS: usize = 10;

/// Why a settings file was not edited. It is then as it was.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Not JSON, or no place for hooks in it.
    #[error("{}\nThe file was left as it is.", fault.render_for_people(file, text))]
    Refused {
        /// The file.
        file: PathBuf,
        /// Its text without byte order mark.
        text: String,
        /// What is wrong with it.
        fault: JsonFault,
    },
    /// The system said no.
    #[error("{}", describe_io(doing, path, behind.as_deref(), cause))]
    Io {
        /// What was tried.
        doing: &'static str,
        /// Where, as people know it.
        path: PathBuf,
        /// Where that leads, if elsewhere.
        behind: Option<PathBuf>,
        /// What the system said. It stands in the text already, so this is no `source`, which would be told once more.
        cause: io::Error,
    },
    /// Nothing that settings can be read from.
    #[error("{} {why}{}", path.display(), describe_behind(behind.as_deref()))]
    Unfit {
        /// The file, as people know it.
        path: PathBuf,
        /// Where that leads, if elsewhere.
        behind: Option<PathBuf>,
        /// What it is.
        why: String,
    },
    /// A directory, a device, a loop of links.
    #[error("{} is a directory, a device or a loop of links, and no regular file: move it away first", .0.display())]
    NotAFile(PathBuf),
    /// Somebody else's file where one of ours would be.
    #[error("{} is there and is not hookctl's: it was left as it is. Move it away first.", .0.display())]
    Foreign(PathBuf),
    /// Somebody writes to it again and again.
    #[error("{} changed each time while it was being edited: try again", .0.display())]
    Busy(PathBuf),
    /// The edit would take away or change what is there, and the caller may not.
    #[error("{}", .0.iter().map(describe_change).collect::<Vec<_>>().join("; "))]
    Loosens(Vec<Change>),
}

impl Error {
    pub(crate) fn io_error(doing: &'static str, path: &Path, cause: io::Error) -> Error {
        Error::Io { doing, path: path.to_path_buf(), behind: None, cause }
    }

    /// The same of a file by the name that people know.
    pub(crate) fn known_as(self, target: &SettingsTarget) -> Error {
        match self {
            Error::Io { doing, path, cause, .. } if path == target.real => {
                let behind = target.behind();
                Error::Io { doing, path: target.named.clone(), behind, cause }
            }
            other => other,
        }
    }

    fn refused(target: &SettingsTarget, text: &str, fault: JsonFault) -> Error {
        Error::Refused { file: target.named.clone(), text: text.to_string(), fault }
    }
}

/// What the system said of a file, once, and what can be done about it.
fn describe_io(doing: &str, path: &Path, behind: Option<&Path>, cause: &io::Error) -> String {
    let said = files::plain_cause(cause);
    let mend = files::advise(cause, behind.unwrap_or(path));
    let mend = mend.map(|mend| format!("\n{mend}")).unwrap_or_default();
    format!("cannot {doing} {}{}: {said}{mend}", path.display(), describe_behind(behind))
}

fn describe_behind(behind: Option<&Path>) -> String {
    behind.map(|real| format!(" (it leads to {})", real.display())).unwrap_or_default()
}

/// A change in a few words.
pub fn describe_change(change: &Change) -> String {
    match change {
        Change::Added(event) => format!("{event} added"),
        Change::Replaced { event, why } => format!("{event} replaced ({why})"),
        Change::Removed(event) => format!("{event} removed"),
        Change::TakenOut { event, program } => format!("{program} taken out of {event}"),
        Change::PutBack { event, program } => format!("{program} put back into {event}"),
        Change::LeftOut { event, program, command } => {
            format!("{program} not put back into {event}, for it is gone: {command}")
        }
    }
}

/// How an edit is to be done.
#[derive(Debug, Clone, Copy)]
pub struct EditMode {
    /// Only say what would be done.
    pub dry_run: bool,
    /// May entries of ours be changed or taken away?
    pub may_loosen: bool,
}

/// What an edit did, or would do.
#[derive(Debug)]
pub struct EditOutcome {
    /// The file.
    pub target: SettingsTarget,
    /// The text before; none where there was no file.
    pub before: Option<String>,
    /// The text after; none where the file is gone.
    pub after: Option<String>,
    /// What changed.
    pub changes: Vec<Change>,
    /// Was there no note of how the file had been?
    pub unrecorded: bool,
}

impl EditOutcome {
    /// Did the file change?
    pub fn has_changed(&self) -> bool {
        self.before != self.after
    }
}

/// What there is to know about the hooks of one file.
#[derive(Debug)]
pub struct Read {
    /// The text without byte order mark, which positions count in.
    pub text: String,
    /// Its hooks.
    pub survey: Survey,
    /// Has it a place for hooks, whoever's?
    pub has_hooks: bool,
}

/// Reads a settings file for its hooks; none where there is no file.
///
/// # Errors
/// Where it cannot be read or is not JSON.
pub fn read_settings(place: &SettingsFile) -> Result<Option<Read>, Error> {
    let target = SettingsTarget::follow_links(&place.file)?;
    let Some(text) = read_text(&target)? else { return Ok(None) };
    let Form::Entries(form) = place.form else {
        let survey = content::survey_content(place, &text);
        return Ok(Some(Read { text, survey, has_hooks: true }));
    };
    let doc = parse_document(&target, &text, form)?;
    let has_hooks = form.hooks.is_none_or(|key| doc.root().get(key).is_some());
    Ok(Some(Read { text: doc.body().to_string(), survey: survey_hooks(&doc, form), has_hooks }))
}

/// Writes our entries into the file, and nothing at all where they are already there.
///
/// # Errors
/// See [`Error`]; the file is then untouched.
pub fn install(
    paths: &Paths,
    place: &SettingsFile,
    wanted: &WantedEntries,
    mode: EditMode,
) -> Result<EditOutcome, Error> {
    replace_entries(paths, place, Some(wanted), &[], mode)
}

/// The same, and takes the entries of these programs out of the file in the same edit. Without
/// `wanted`, ours stay as they are.
///
/// # Errors
/// See [`Error`]; the file is then untouched.
pub fn replace_entries(
    paths: &Paths,
    place: &SettingsFile,
    wanted: Option<&WantedEntries>,
    programs: &[&Program],
    mode: EditMode,
) -> Result<EditOutcome, Error> {
    edit_file(paths, &place.file, mode, |target, before, records| match place.form {
        Form::Entries(form) => {
            let plan = EntryPlan { paths, place, form, wanted, programs };
            plan.install(target, before, records)
        }
        Form::Scripts(_) | Form::Plugin(_) => {
            install_content(place, wanted, target, before, records)
        }
    })
}

/// What an install makes of a file with entries.
struct EntryPlan<'p> {
    paths: &'p Paths,
    place: &'p SettingsFile,
    form: &'static EntryForm,
    wanted: Option<&'p WantedEntries>,
    programs: &'p [&'p Program],
}

impl EntryPlan<'_> {
    fn install(
        &self,
        target: &SettingsTarget,
        before: Option<&str>,
        records: &mut Records,
    ) -> Result<Plan, Error> {
        let form = self.form;
        let key = target.record_key();
        let old = records.files.get(&key);
        let base = before.unwrap_or("{}\n");
        let doc = parse_document(target, base, form)?;
        let refused = |fault| Error::refused(target, doc.body(), fault);
        if self.place.own && !doc.root().is_empty() && !survey_hooks(&doc, form).is_ours() {
            return Err(Error::Foreign(target.named.clone()));
        }
        // How the file would be without us: as noted where nobody else wrote since.
        let untouched = old.filter(|old| {
            before.is_some_and(|text| file::sha256_hex(text.as_bytes()) == old.written_sha256)
        });
        let original = match untouched.and_then(|old| old.intact_original()) {
            Some(text) => text.map(String::from),
            None => {
                let without = |text| without_us(text, &doc, old, form);
                before.map(without).transpose().map_err(refused)?
            }
        };
        let bare = parse_document(target, original.as_deref().unwrap_or("{}\n"), form)?;
        let mut created = old.map(|old| old.created.clone()).unwrap_or_default();
        let mut events = old.map(|old| old.events.clone()).unwrap_or_default();
        let mut off = old.map(|old| old.off.clone()).unwrap_or_default();

        let mut edited = doc.clone();
        let mut changes = Vec::new();
        if let Some(wanted) = self.wanted {
            let shaped = Shaped { wanted, form };
            created = hooks::created_by_install(&bare, &doc, shaped);
            if wanted.role() == Role::Guard {
                events = wanted.event_names();
                off.clone_from(&wanted.off);
            }
            changes = hooks::install_hooks(&mut edited, shaped, &created).map_err(refused)?;
        }
        // After ours, which may have stood among them.
        let roots = Roots::for_settings(&self.paths.home, &target.named);
        let out = others::take_out(&mut edited, self.programs, &roots).map_err(refused)?;
        changes.extend(out.iter().map(others::Taken::removal_change));
        if self.wanted.is_none() && changes.is_empty() {
            return Ok((before.map(String::from), changes));
        }
        // Who removed the file removed what was taken out of it, too.
        let there = old.filter(|_| before.is_some());
        let mut taken = there.map(|old| others::still_out(&doc, &old.taken)).unwrap_or_default();
        taken.extend(out);
        let after = match changes.is_empty() {
            true => before.map(String::from),
            false => Some(edited.text()),
        };
        // One entry that the client refuses costs the whole file: ours never is that entry.
        let fatal = |doc: &Doc| survey_hooks(doc, form).invalid.iter().filter(|i| i.fatal).count();
        if fatal(&edited) > fatal(&doc) {
            return Err(refused(JsonFault::new(
                0,
                "the client would refuse what hookctl writes here",
                "please report this; nothing was changed",
            )));
        }

        let record = Record {
            original_sha256: original.as_ref().map(|text| file::sha256_hex(text.as_bytes())),
            original,
            written_sha256: file::sha256_hex(after.as_deref().unwrap_or_default().as_bytes()),
            entries_sha256: survey::entries_sum(&survey_hooks(&edited, form).own),
            directories: directories(target, old, records),
            created,
            pinned: old.is_some_and(|old| old.pinned),
            taken,
            events,
            off,
            scope: self.place.name.to_string(),
            agent: self.place.agent.to_string(),
        };
        // Changed by others since and nothing for us to do: what was noted stays true.
        let stale = changes.is_empty() && untouched.is_none();
        let record = match old {
            Some(old) if stale => Record {
                events: record.events,
                off: record.off,
                entries_sha256: record.entries_sha256,
                ..old.clone()
            },
            _ => record,
        };
        records.files.insert(key, record);
        Ok((after, changes))
    }
}

/// A whole file of ours: written, or taken away where its event is no longer wanted.
fn install_content(
    place: &SettingsFile,
    wanted: Option<&WantedEntries>,
    target: &SettingsTarget,
    before: Option<&str>,
    records: &mut Records,
) -> Result<Plan, Error> {
    let same = || Ok((before.map(String::from), Vec::new()));
    let Some(wanted) = wanted else { return same() };
    let after = content::own_content(place, wanted);
    let name = content::change_name(place);
    let ours = before.map(content::is_own);
    let changes = match (ours, &after) {
        (Some(false), Some(_)) => return Err(Error::Foreign(target.named.clone())),
        (Some(false) | None, None) => return same(),
        (None, Some(_)) => vec![Change::Added(name)],
        (Some(true), None) => vec![Change::Removed(name)],
        (Some(true), Some(text)) if before == Some(text) => Vec::new(),
        (Some(true), Some(_)) => {
            vec![Change::Replaced { event: name, why: hooks::ELSEWISE.into() }]
        }
    };
    let key = target.record_key();
    match &after {
        None => drop(order::take_entry(&mut records.files, &key)),
        Some(text) => {
            let old = records.files.get(&key);
            let record = Record {
                written_sha256: file::sha256_hex(text.as_bytes()),
                directories: directories(target, old, records),
                events: wanted.event_names(),
                off: wanted.off.clone(),
                scope: place.name.to_string(),
                agent: place.agent.to_string(),
                ..Record::default()
            };
            records.files.insert(key, record);
        }
    }
    Ok((after, changes))
}

/// How the text would be without us, and with what we took out.
fn without_us(
    text: &str,
    doc: &Doc,
    old: Option<&Record>,
    form: &'static EntryForm,
) -> Result<String, JsonFault> {
    let mut bare = doc.clone();
    // As it was: what is gone by now may be there again in the end.
    let gone = remove_entries(&mut bare, Going::default(), old, EntriesToReturn::All, form)?;
    Ok(if gone.is_empty() { text.into() } else { bare.text() })
}

/// The directories that were or will be made for the file: of two files in one that we made, the last one to go
/// takes it along.
fn directories(target: &SettingsTarget, old: Option<&Record>, records: &Records) -> Vec<String> {
    let mut all = old.map(|old| old.directories.clone()).unwrap_or_default();
    let made = records.files.values().flat_map(|other| &other.directories);
    all.extend(made.filter(|dir| target.dir().starts_with(dir)).cloned());
    all.extend(missing_directories(target));
    order::sort(&mut all);
    all.dedup();
    all
}

/// Takes our entries out, of that role if one is named: the original bytes where nobody else wrote since and
/// none of ours is left, else these entries and nothing more. When the last of ours goes, what [`replace_entries`]
/// took out comes back, but not with a bridge whose file never had the guard: that is another's; and no
/// entry whose program has gone since.
///
/// # Errors
/// See [`Error`]; the file is then untouched.
pub fn uninstall(
    paths: &Paths,
    place: &SettingsFile,
    role: Option<Role>,
    mode: EditMode,
) -> Result<EditOutcome, Error> {
    uninstall_going(paths, place, Going::of(role), mode)
}

/// The same for those that go: in a file that several agents have, each one's entries can go alone.
///
/// # Errors
/// As for [`uninstall`].
pub fn uninstall_going(
    paths: &Paths,
    place: &SettingsFile,
    going: Going<'_>,
    mode: EditMode,
) -> Result<EditOutcome, Error> {
    let mut made = Vec::new();
    let outcome =
        edit_file(paths, &place.file, mode, |target, before, records| match place.form {
            Form::Entries(form) => {
                let plan = Removal { paths, place, form, going };
                plan.uninstall(target, before, records, &mut made)
            }
            Form::Scripts(_) | Form::Plugin(_) => {
                let record = order::take_entry(&mut records.files, &target.record_key());
                Ok(match before.filter(|text| content::is_own(text)) {
                    None => (before.map(String::from), Vec::new()),
                    Some(_) => {
                        made = record.map(|record| record.directories).unwrap_or_default();
                        (None, vec![Change::Removed(content::change_name(place))])
                    }
                })
            }
        })?;
    if outcome.after.is_none() && !mode.dry_run {
        remove_empty(&made);
    }
    Ok(outcome)
}

/// What an uninstall makes of a file with entries.
struct Removal<'p> {
    paths: &'p Paths,
    place: &'p SettingsFile,
    form: &'static EntryForm,
    going: Going<'p>,
}

impl Removal<'_> {
    /// `made` are the directories that may go with the file.
    fn uninstall(
        &self,
        target: &SettingsTarget,
        before: Option<&str>,
        records: &mut Records,
        made: &mut Vec<String>,
    ) -> Result<Plan, Error> {
        let (form, going, role) = (self.form, self.going, self.going.role);
        let key = target.record_key();
        let mut record = order::take_entry(&mut records.files, &key);
        let Some(text) = before else { return Ok((None, Vec::new())) };
        let mut doc = parse_document(target, text, form)?;
        let mut as_it_was = text.to_string();
        if let (Some((key, value)), Some(record)) = (going.pinned, &mut record)
            && std::mem::take(&mut record.pinned)
            && let Some((at, _)) = doc.root().get(key).filter(|(_, node)| node.to_value() == *value)
        {
            doc.remove(&[at]).map_err(|fault| Error::refused(target, text, fault))?;
            as_it_was = doc.text();
        }
        // As it was before the member came.
        let text = &doc.text();
        let roots = Roots::for_settings(&self.paths.home, &target.named);
        let refused = |doc: &Doc, fault| Error::refused(target, doc.body(), fault);
        let back = EntriesToReturn::There(&roots);
        let changes = remove_entries(&mut doc, going, record.as_ref(), back, form)
            .map_err(|fault| refused(&doc, fault))?;
        let ours = file::sha256_hex(text.as_bytes());
        let untouched = record.as_ref().is_some_and(|record| record.written_sha256 == ours);
        let still_out =
            |record: &Record| !record.taken.is_empty() && !brings_back(role, Some(record));
        let is_left = survey_hooks(&doc, form).is_ours() || record.as_ref().is_some_and(still_out);
        if let Some(mut record) = record.clone().filter(|_| is_left) {
            if untouched {
                record.written_sha256 = file::sha256_hex(doc.text().as_bytes());
            }
            records.files.insert(key, record);
        }
        if changes.is_empty() {
            return Ok((Some(as_it_was), changes));
        }
        let mut after = Some(doc.text());
        if self.place.own && doc.root().is_empty() {
            after = None;
        }
        if let Some(record) = record.filter(|_| !is_left) {
            made.clone_from(&record.directories);
            match record.intact_original() {
                Some(Some(original)) if untouched => {
                    after = Some(original.into());
                    if changes.iter().any(|change| matches!(change, Change::LeftOut { .. })) {
                        let mut doc = parse_document(target, original, form)?;
                        let left = others::leave_out(&mut doc, &changes);
                        left.map_err(|fault| refused(&doc, fault))?;
                        after = Some(doc.text());
                    }
                }
                Some(None) if untouched => after = None,
                // Others wrote and took their part back: what we created holds nothing.
                Some(None) if doc.root().is_empty() => after = None,
                _ => {}
            }
        }
        Ok((after, changes))
    }
}

/// When the last of ours goes: do those of others come back?
fn brings_back(role: Option<Role>, record: Option<&Record>) -> bool {
    role.is_none() || record.is_some_and(|record| !record.events.is_empty())
}

/// Our entries out, those that go; with the last of ours, those of others back.
fn remove_entries(
    doc: &mut Doc,
    going: Going<'_>,
    record: Option<&Record>,
    back: EntriesToReturn<'_>,
    form: &'static EntryForm,
) -> Result<Vec<Change>, JsonFault> {
    let created = record.map(|record| &record.created);
    let mut changes = hooks::strip_hooks(doc, going, created, form)?;
    if !survey_hooks(doc, form).is_ours() && brings_back(going.role, record) {
        let taken = record.map(|record| record.taken.as_slice()).unwrap_or_default();
        changes.extend(others::put_back(doc, taken, back)?);
    }
    Ok(changes)
}

/// What a plan makes of a text: the new text (none = no file) and what changed.
type Plan = (Option<String>, Vec<Change>);

/// Reads, plans and replaces, under the lock, again from the start if the file changed meanwhile.
fn edit_file(
    paths: &Paths,
    named: &Path,
    mode: EditMode,
    mut plan: impl FnMut(&SettingsTarget, Option<&str>, &mut Records) -> Result<Plan, Error>,
) -> Result<EditOutcome, Error> {
    let mut lock = None;
    for _ in 0..ATTEMPTS {
        let target = SettingsTarget::follow_links(named)?;
        let before = read_text(&target)?;
        let noted = Records::load(paths);
        let mut records = noted.clone();
        let (after, changes) = plan(&target, before.as_deref(), &mut records)?;
        if !mode.may_loosen && changes.iter().any(Change::loosens) {
            return Err(Error::Loosens(changes));
        }
        let unrecorded = !noted.files.contains_key(&target.record_key());
        let outcome = EditOutcome { target, before, after, changes, unrecorded };
        let nothing = !outcome.has_changed() && records.files == noted.files;
        if mode.dry_run || nothing {
            return Ok(outcome);
        }
        // Only what is to be written is locked, and then looked at once more.
        if lock.is_none() {
            lock = Some(Lock::acquire(paths, &outcome.target)?);
            continue;
        }
        let (target, old, new) = (&outcome.target, &outcome.before, &outcome.after);
        if outcome.has_changed() {
            if let Some(old) = old {
                file::back_up(paths, target, old.as_bytes())?;
            }
            if new.is_some() {
                let dir = target.dir();
                fs::create_dir_all(dir).map_err(|error| Error::io_error("create", dir, error))?;
            }
        }
        // Noted first: a note without its edit is harmless, an edit without its note is not.
        if records.files != noted.files {
            records.save(paths)?;
        }
        let bytes = |text: &Option<String>| text.as_ref().map(|text| text.as_bytes().to_vec());
        let (old, new) = (bytes(old), bytes(new));
        if !outcome.has_changed() || file::exchange_content(target, old.as_deref(), new.as_deref())?
        {
            drop(lock);
            return Ok(outcome);
        }
    }
    Err(Error::Busy(named.to_path_buf()))
}

/// Adds text to the end of a file of the user's, with the same care: behind its links, locked, kept beside.
///
/// # Errors
/// As for [`install`].
pub fn append_text(
    paths: &Paths,
    named: &Path,
    text: &str,
    mode: EditMode,
) -> Result<EditOutcome, Error> {
    edit_file(paths, named, mode, |_, before, _| {
        let mut after = before.unwrap_or_default().to_string();
        if !after.is_empty() && !after.ends_with('\n') {
            after.push('\n');
        }
        after.push_str(if after.is_empty() { text.trim_start() } else { text });
        Ok((Some(after), Vec::new()))
    })
}

/// Puts a member at the end of a file that has none of that key, beside the entries that [`install`] put there.
///
/// # Errors
/// As for [`install`].
pub fn pin_member(
    paths: &Paths,
    named: &Path,
    (key, value): (&str, &Value),
    mode: EditMode,
) -> Result<EditOutcome, Error> {
    edit_doc(paths, named, mode, |doc, record| {
        if doc.root().get(key).is_some() {
            return Ok(false);
        }
        if let Some(record) = record {
            record.pinned = true;
        }
        doc.append(&[], Some(key), value).map(|()| true)
    })
}

/// Edits a file as JSON, with what is noted of it: does `edit` say that anything changed?
fn edit_doc(
    paths: &Paths,
    named: &Path,
    mode: EditMode,
    mut edit: impl FnMut(&mut Doc, Option<&mut Record>) -> Result<bool, JsonFault>,
) -> Result<EditOutcome, Error> {
    edit_file(paths, named, mode, |target, before, records| {
        let text = before.unwrap_or_default();
        let fault = |fault| Error::refused(target, text, fault);
        let mut doc = Doc::with_comments(text).map_err(fault)?;
        let changed = edit(&mut doc, records.files.get_mut(&target.record_key())).map_err(fault)?;
        let after = if changed { Some(doc.text()) } else { before.map(str::to_string) };
        Ok((after, Vec::new()))
    })
}

/// Puts another text in the place of a file's, with the same care; of an empty one nothing is left, nor of the
/// directories that were made for it.
///
/// # Errors
/// As for [`install`].
pub fn replace_text(
    paths: &Paths,
    named: &Path,
    mode: EditMode,
    plan: &dyn Fn(&str) -> String,
) -> Result<EditOutcome, Error> {
    let mut made = Vec::new();
    let outcome = edit_file(paths, named, mode, |target, before, records| {
        let after = Some(plan(before.unwrap_or_default())).filter(|text| !text.is_empty());
        let key = target.record_key();
        match (before, &after) {
            (None, Some(text)) => {
                let record = Record {
                    written_sha256: file::sha256_hex(text.as_bytes()),
                    directories: directories(target, records.files.get(&key), records),
                    scope: Scope::Managed.name().to_string(),
                    ..Record::default()
                };
                records.files.insert(key, record);
            }
            (_, None) => {
                let record = order::take_entry(&mut records.files, &key);
                made = record.map(|record| record.directories).unwrap_or_default();
            }
            _ => {}
        }
        Ok((after, Vec::new()))
    })?;
    if outcome.after.is_none() && !mode.dry_run {
        remove_empty(&made);
    }
    Ok(outcome)
}

/// Takes away the directories that install made, the innermost first.
fn remove_empty(made: &[String]) {
    for dir in made.iter().rev() {
        // Not empty means that somebody uses it: it stays.
        let _ = fs::remove_dir(dir);
    }
}

/// The text of the file, none where there is no file.
fn read_text(target: &SettingsTarget) -> Result<Option<String>, Error> {
    let Some(bytes) = target.read()? else { return Ok(None) };
    String::from_utf8(bytes).map(Some).map_err(|error| {
        let good = error.utf8_error().valid_up_to();
        let fault = JsonFault::new(good, "not valid UTF-8", "save the file as UTF-8");
        Error::refused(target, &String::from_utf8_lossy(error.as_bytes()), fault)
    })
}

fn parse_document(target: &SettingsTarget, text: &str, form: &EntryForm) -> Result<Doc, Error> {
    let body = text.trim_start_matches('\u{feff}');
    let doc = if form.comments { Doc::with_comments(text) } else { Doc::new(text) };
    doc.map_err(|fault| Error::refused(target, body, fault))
}

/// The directories that will have to be made for the file, outermost first.
fn missing_directories(target: &SettingsTarget) -> Vec<String> {
    let missing = target.dir().ancestors().take_while(|dir| !dir.exists());
    let mut missing: Vec<String> = missing.map(|dir| dir.display().to_string()).collect();
    missing.reverse();
    missing
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_appended_as_lines_of_its_own() {
        let text = "\n[rule.x]\ndeny = \"x\"\n";
        for (before, after) in [
            (None, "[rule.x]\ndeny = \"x\"\n"),
            (Some(""), "[rule.x]\ndeny = \"x\"\n"),
            (Some("a = 1\n"), "a = 1\n\n[rule.x]\ndeny = \"x\"\n"),
            // Its last line has no end.
            (Some("a = 1 # one"), "a = 1 # one\n\n[rule.x]\ndeny = \"x\"\n"),
        ] {
            let dir = tempfile::tempdir().unwrap();
            let home = crate::files::real_path(dir.path()).unwrap();
            let (paths, file) = (Paths::below_home(home.clone()), home.join("config.toml"));
            if let Some(before) = before {
                fs::write(&file, before).unwrap();
            }
            let mode = EditMode { dry_run: false, may_loosen: true };
            append_text(&paths, &file, text, mode).unwrap();
            assert_eq!(fs::read_to_string(&file).unwrap(), after, "{before:?}");
        }
    }
}
