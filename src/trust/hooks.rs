//! Settings files of Claude Code whose hooks a rule runs: where they are, and which of them count.

use std::path::{Path, PathBuf};

use super::{FORMAT, Store, TrustEntry, pins, sha256_hex, stays_in};
use crate::effect::windows::native_text;
use crate::files::{BYTE_ORDER_MARK, OpenFile, Refusal};
use crate::limits;
use crate::rule::Layer;
use crate::script::settings;

/// A settings file that a rule names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookFile {
    /// Where it is.
    pub path: PathBuf,
    /// It is a repository's word, which counts once a human has approved it: a project's rule names it, or it lies in
    /// the project.
    pub of_project: bool,
}

/// What there is of such a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HookFileContent {
    /// A project has none: most do not.
    Absent,
    /// Nobody has approved what it says now.
    Untrusted,
    /// Its text.
    Text(String),
}

impl HookFile {
    /// The file that a rule of that layer names: `~/...`, absolute, or from the project's root on.
    pub fn locate(written: &str, layer: Layer, home: &Path, project: &Path) -> HookFile {
        let of_home = written.strip_prefix("~/");
        let path = of_home.map_or_else(|| project.join(written), |rest| home.join(rest));
        let path = pins::clean_path(&path);
        let named = of_home.is_some() || Path::new(written).is_absolute();
        // A session in the home directory makes no repository of it.
        let inside = project != home && stays_in(project, &path);
        HookFile { path, of_project: layer.is_project() || !named || inside }
    }

    /// Its text, as far as it counts. `store` is asked for only where an approval is needed.
    ///
    /// # Errors
    /// Why it cannot be read, for people.
    pub fn read(&self, store: impl FnOnce() -> Store) -> Result<HookFileContent, String> {
        let read = match self.of_project {
            true => OpenFile::any(&self.path, limits::PROJECT_FILE),
            false => OpenFile::protected(&self.path, limits::OWN_FILE),
        };
        let text = read
            .and_then(|file| file.read())
            .and_then(|bytes| String::from_utf8(bytes).map_err(|_| Refusal::Text));
        let text = match text {
            Ok(text) => text,
            Err(Refusal::Absent) if self.of_project => return Ok(HookFileContent::Absent),
            Err(_) if self.of_project && !store().has_file(&self.path) => {
                return Ok(HookFileContent::Untrusted);
            }
            Err(refusal) => return Err(refusal.describe_for(&self.path)),
        };
        let text = text.strip_prefix(BYTE_ORDER_MARK).map_or(text.clone(), str::to_string);
        if self.of_project && !store().is_approved(&self.path, &text) {
            return Ok(HookFileContent::Untrusted);
        }
        Ok(HookFileContent::Text(text))
    }
}

/// The entry that approves the settings file as it is now, with what its commands run from the project's root.
///
/// # Errors
/// Why its hooks cannot be read.
pub fn approve_hooks(root: &Path, text: &str, since: String) -> Result<TrustEntry, String> {
    let hooks = settings::read_hooks(text, &native_text(root))?;
    let hash = sha256_hex(text.as_bytes());
    let mut entry = TrustEntry { format: FORMAT, hash, since, ..TrustEntry::default() };
    let scripts = hooks.entries.iter().map(|hook| hook.script.as_str());
    pins::add_script_pins(root, scripts, &mut entry);
    Ok(entry)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whose_file_it_is() {
        let (home, project) = (Path::new("/home/dev"), Path::new("/home/dev/p"));
        let absolute = if cfg!(windows) { "C:/etc/x.json" } else { "/etc/x.json" };
        for (written, layer, path, of_project) in [
            ("~/.claude/settings.json", Layer::User, "/home/dev/.claude/settings.json", false),
            ("~/.claude/settings.json", Layer::Project, "/home/dev/.claude/settings.json", true),
            (absolute, Layer::Managed, absolute, false),
            (".claude/settings.json", Layer::User, "/home/dev/p/.claude/settings.json", true),
            ("../q/x.json", Layer::User, "/home/dev/q/x.json", true),
            ("~/p/./.claude/settings.json", Layer::User, "/home/dev/p/.claude/settings.json", true),
            (absolute, Layer::Local, absolute, true),
        ] {
            let found = HookFile::locate(written, layer, home, project);
            assert_eq!(found, HookFile { path: path.into(), of_project }, "{written} {layer:?}");
        }
        let at_home = HookFile::locate("~/.claude/settings.json", Layer::User, home, home);
        assert!(!at_home.of_project);
    }
}
