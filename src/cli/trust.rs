//! `hookctl trust`: a human reads what a project's file would run and loosen, and approves exactly
//! that content.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, anyhow, bail};
use serde_json::json;

use super::args::TrustArgs;
use super::report::Report;
use super::{
    Context, Exit, GREEN, YELLOW, display_path, human, make_visible, print, print_json,
    print_stderr, write_private,
};
use crate::config::{self, Config, LayerFile};
use crate::effect::windows::native_text;
use crate::files;
use crate::limits;
use crate::moment::Moment;
use crate::paths;
use crate::rule::Layer;
use crate::rule::fault::Gravity;
use crate::script::settings;
use crate::trust::hooks::HookFile;
use crate::trust::{self, Store, TrustEntry, TrustState};

mod show;

/// Shows, asks, and stores the approval; or lists or revokes.
///
/// # Errors
/// Where a file cannot be read, or the store not be written.
pub(super) fn run(context: &Context, args: &TrustArgs, report: &mut Report) -> Result<Exit> {
    if args.list {
        return list_trusted(context, args.json);
    }
    let files = project_files(context, args.path.as_deref())?;
    let root = project_of(&files).unwrap_or(&context.root).to_path_buf();
    let hook_files = hook_files(context, &root);
    if args.revoke {
        let hooks = hook_files.into_iter().map(|path| (Layer::Project, path));
        let all: Vec<_> = files.into_iter().chain(hooks).collect();
        return revoke_trust(context, &all, report);
    }
    if report.is_json() {
        bail!("who trusts a file reads it: --json is for --list and --revoke");
    }
    let sources = sources(files, &hook_files)?;
    if !are_sound(context, &sources) {
        print_stderr(
            "refused: what is not sound cannot be trusted. Mend it, then `hookctl check`.",
        );
        return Ok(Exit::Found);
    }
    if let Some(why) = human::not_human() {
        print_stderr(&format!("refused: {why}"));
        return Ok(Exit::Found);
    }
    let store = read_store(context)?;
    let mut any = false;
    for source in &sources {
        let name = display_path(context, &source.path);
        match store.approval_state(&source.path, &source.text) {
            TrustState::Approved => {
                print(&format!("{name} is trusted already.\n"))?;
                continue;
            }
            TrustState::Outdated => {
                print(&format!("{name} was trusted by a version that pinned less: look again.\n"))?;
            }
            TrustState::Changed | TrustState::Unknown => {}
        }
        any = true;
        if !approve(context, source)? {
            return Ok(Exit::Found);
        }
    }
    for path in &hook_files {
        match trust_hooks(context, &root, path, &store)? {
            Some(false) => return Ok(Exit::Found),
            given => any |= given.is_some(),
        }
    }
    if any {
        print("Running sessions see it at their next event.\n")?;
    }
    Ok(Exit::Ok)
}

/// The project whose files they are.
fn project_of(files: &[(Layer, PathBuf)]) -> Option<&Path> {
    files.first().and_then(|(_, path)| path.parent())
}

/// The settings files that are there, whose hooks rules of any layer want to run, and that need an approval.
fn hook_files(context: &Context, root: &Path) -> Vec<PathBuf> {
    let config = Config::load(&context.paths, root, None);
    let mut found: Vec<PathBuf> = Vec::new();
    for source in &config.sources {
        for written in source.file.rules.iter().flat_map(|rule| rule.hook_settings()) {
            let file = HookFile::locate(written, source.layer, &context.paths.home, root);
            if file.of_project && file.path.exists() && !found.contains(&file.path) {
                found.push(file.path);
            }
        }
    }
    found
}

/// Shows the hooks of a settings file, asks, and stores the approval: was it given? None where there is one.
fn trust_hooks(context: &Context, root: &Path, path: &Path, store: &Store) -> Result<Option<bool>> {
    let text = files::read_text(path, limits::PROJECT_FILE)
        .map_err(|refusal| anyhow!(refusal.describe_for(path)))?;
    let text = text.strip_prefix(files::BYTE_ORDER_MARK).unwrap_or(&text);
    if store.is_approved(path, text) {
        print(&format!("{} is trusted already.\n", display_path(context, path)))?;
        return Ok(None);
    }
    let name = path.display();
    let hooks =
        settings::read_hooks(text, &native_text(root)).map_err(|why| anyhow!("{name} {why}"))?;
    let entry =
        trust::hooks::approve_hooks(root, text, now()).map_err(|why| anyhow!("{name} {why}"))?;
    print(&show::render_hooks(context, path, &hooks, &entry))?;
    confirm_entry(context, root, path, entry).map(Some)
}

/// Those of the files that are there. There need be none beside settings files.
fn sources(files: Vec<(Layer, PathBuf)>, hooks: &[PathBuf]) -> Result<Vec<LayerFile>> {
    let read = files.into_iter().filter_map(|(layer, path)| config::read_source(layer, path, None));
    let sources: Vec<LayerFile> = read.collect();
    if let Some(why) = sources.iter().find_map(|source| source.refused.as_ref()) {
        bail!("{why}");
    }
    if sources.is_empty() && hooks.is_empty() {
        bail!(
            "no {} here: go into the project, or name the file",
            [paths::PROJECT_FILE, paths::LOCAL_FILE].join(" or ")
        );
    }
    Ok(sources)
}

/// Has none of them a fault? Tells those that there are.
fn are_sound(context: &Context, sources: &[LayerFile]) -> bool {
    let mut sound = true;
    for source in sources {
        let name = display_path(context, &source.path);
        for fault in source.file.faults.iter().filter(|fault| fault.gravity == Gravity::Error) {
            sound = false;
            print_stderr(&make_visible(&fault.to_report(&name, &source.text)));
        }
    }
    sound
}

/// Shows a file, asks, and stores the approval: was it given?
fn approve(context: &Context, source: &LayerFile) -> Result<bool> {
    let root = source.path.parent().unwrap_or(&context.root);
    // Before it is shown: what changes while a human reads is not approved.
    let entry = trust::approval_entry(root, &source.text, &source.file, now());
    print(&show::render_trust(context, source, &entry))?;
    confirm_entry(context, root, &source.path, entry)
}

/// The time, RFC 3339.
fn now() -> String {
    Moment::now().to_seconds_text()
}

/// Asks about a file whose content was shown, and stores the approval: was it given?
fn confirm_entry(context: &Context, root: &Path, path: &Path, entry: TrustEntry) -> Result<bool> {
    if !entry.leads_out.is_empty() {
        let out: Vec<String> = entry.leads_out.iter().map(|path| make_visible(path)).collect();
        print_stderr(&format!(
            "refused: what it runs or tells leads out of the project: {}",
            out.join(", ")
        ));
        return Ok(false);
    }
    let lost = format!(
        "From now on {} runs and allows what stands above, without a question.",
        path.display()
    );
    if !human::confirm_typed(context, &lost, &confirmation_words(root, &entry))? {
        return Ok(false);
    }
    let mut store = read_store(context)?;
    store.files.insert(path_key(path)?, entry);
    save_store(context, &store)?;
    let done = context.paint(GREEN, "Trusted");
    print(&format!("{done} until it changes. Undo: `hookctl trust --revoke`.\n"))?;
    Ok(true)
}

/// The project's files that are meant, whether they exist or not.
fn project_files(context: &Context, path: Option<&Path>) -> Result<Vec<(Layer, PathBuf)>> {
    let both = |root: &Path| {
        vec![
            (Layer::Project, root.join(paths::PROJECT_FILE)),
            (Layer::Local, root.join(paths::LOCAL_FILE)),
        ]
    };
    let Some(path) = path else { return Ok(both(&context.root)) };
    let path = context.cwd.join(path);
    if path.is_dir() {
        let root = files::real_path(&path)
            .with_context(|| format!("cannot look into {}", path.display()))?;
        return Ok(both(&paths::project_root(&root, &context.paths.home)));
    }
    let layer = match path.file_name().and_then(|name| name.to_str()) {
        Some(paths::PROJECT_FILE) => Layer::Project,
        Some(paths::LOCAL_FILE) => Layer::Local,
        _ => bail!(
            "{} is no project's file: those are called {} and {}",
            path.display(),
            paths::PROJECT_FILE,
            paths::LOCAL_FILE
        ),
    };
    // The directory without links, as sessions name it; the file itself may be gone.
    let dir = path.parent().unwrap_or(Path::new("/"));
    let dir = files::real_path(dir).unwrap_or_else(|_| dir.to_path_buf());
    Ok(vec![(layer, dir.join(path.file_name().unwrap_or_default()))])
}

fn path_key(path: &Path) -> Result<String> {
    let key = trust::file_key(path).map(Cow::into_owned);
    key.with_context(|| format!("{} is not valid Unicode: move it", path.display()))
}

fn save_store(context: &Context, store: &Store) -> Result<()> {
    let mut text = serde_json::to_vec_pretty(store)?;
    text.push(b'\n');
    write_private(&context.paths.trust(), &text)
}

/// What is trusted so far. A store that is not believed is not written over either.
fn read_store(context: &Context) -> Result<Store> {
    Store::read(&context.paths.trust()).map_err(|why| anyhow!("{why}"))
}

/// What a human types: the project's name, and that something in it is not pinned.
fn confirmation_words(root: &Path, entry: &TrustEntry) -> String {
    let name = root.file_name().map_or("/".into(), |name| name.to_string_lossy());
    let rest = if entry.unpinned.is_empty() { "" } else { " unpinned" };
    format!("trust {}{rest}", human::make_typeable(&name))
}

/// What is trusted, and whether it still is what was approved.
fn list_trusted(context: &Context, as_json: bool) -> Result<Exit> {
    let store = read_store(context)?;
    let state = |path: &str| match files::read_text(Path::new(path), files::LARGE) {
        Err(_) => "gone",
        Ok(text) => {
            let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
            match store.approval_state(Path::new(path), text) {
                TrustState::Approved => "trusted",
                TrustState::Outdated => "outdated",
                TrustState::Changed | TrustState::Unknown => "changed",
            }
        }
    };
    if as_json {
        let all: Vec<_> = store
            .files
            .iter()
            .map(|(path, entry)| {
                json!({
                    "file": path,
                    "state": state(path),
                    "since": entry.since,
                    "hash": entry.hash,
                    "programs": entry.programs,
                    "absent": entry.absent,
                    "links": entry.links,
                    "directories": entry.listings,
                    "unpinned": entry.unpinned,
                })
            })
            .collect();
        return print_json(&all);
    }
    if store.files.is_empty() {
        return print("No project's file is trusted.\n");
    }
    let mut text = String::new();
    for (path, entry) in &store.files {
        let state = state(path);
        let sgr = if state == "trusted" { GREEN } else { YELLOW };
        let name = display_path(context, Path::new(path));
        let state = context.paint(sgr, &format!("{state:<8}"));
        let _ = writeln!(text, "{state}  {name}  since {}", make_visible(&entry.since));
    }
    print(&text)
}

/// Takes the approval back, which anybody may: it tightens.
fn revoke_trust(
    context: &Context,
    files: &[(Layer, PathBuf)],
    report: &mut Report,
) -> Result<Exit> {
    let mut store = read_store(context)?;
    let mut text = String::new();
    report.set("revoked", json!([]));
    for (_, path) in files {
        if crate::order::take_entry(&mut store.files, &path_key(path)?).is_some() {
            report.push("revoked", path.display().to_string().into());
            let _ = writeln!(text, "{} is trusted no more.", display_path(context, path));
        }
    }
    if text.is_empty() {
        let names: Vec<String> =
            files.iter().map(|(_, path)| display_path(context, path)).collect();
        report.tell(&format!("Not trusted in the first place: {}\n", names.join(", ")))?;
        return Ok(Exit::Ok);
    }
    save_store(context, &store)?;
    report.tell(&text)?;
    Ok(Exit::Ok)
}
