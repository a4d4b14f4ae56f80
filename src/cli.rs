//! Dispatch: the command line to one function per subcommand, and what they share.

use std::borrow::Cow;
use std::ffi::OsString;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, Result};

use crate::documents::document;
use crate::env;
use crate::files;
use crate::paths::{self, Paths};
use crate::text;
use crate::verdict::Verb;

pub mod agents;
pub mod args;
pub mod bridge;
#[cfg(feature = "tls")]
mod bundle;
pub mod check;
mod complete;
pub mod doctor;
pub mod events;
mod exact;
pub mod explain;
pub mod flush;
mod generated;
mod history;
pub mod human;
mod import;
pub mod init;
pub mod install;
mod lasting;
pub mod log;
mod managed;
pub mod memory;
pub mod migrate;
mod others;
pub mod packs;
mod page;
pub mod pause;
pub mod ping;
mod replay;
mod report;
pub mod scope;
pub mod serve;
mod stats;
pub mod status;
mod suggest;
pub mod terminal;
pub mod test;
pub mod trust;
pub mod uninstall;
mod upgrade;
mod written;
mod zone;

use args::{Cli, CliCommand, Color, Global};
use report::Report;

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// All is well.
    Ok,
    /// Something was found, or hookctl refused.
    Found,
    /// Wrong usage, or it failed.
    Failed,
    /// `explain --exit-code`: the call would be asked about.
    Asked,
    /// `explain --exit-code`: the call would be stopped.
    Stopped,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit as u8)
    }
}

/// How a directory becomes the user's own.
const MAKE_YOURS: &str =
    if cfg!(windows) { "make it yours (`icacls`)" } else { "make it yours (`chown`, `chmod 700`)" };

/// Where a command runs and how it prints.
#[derive(Debug)]
pub struct Context {
    /// Where our own files are.
    pub paths: Paths,
    /// The options of every command, as given.
    pub global: Global,
    /// The current directory.
    pub cwd: PathBuf,
    /// The project's root.
    pub root: PathBuf,
    /// Colours on stdout?
    pub color: bool,
}

impl Context {
    fn from_global(global: Global) -> Result<Context> {
        let paths = Paths::discover(global.config.clone(), global.state.clone())
            .map_err(anyhow::Error::msg)?;
        let cwd = std::env::current_dir().map_err(|error| {
            anyhow::anyhow!(
                "cannot tell the current directory: {error}\nIt may be gone: `cd` to one that is there, and say it again."
            )
        })?;
        let root = paths::project_root(&cwd, &paths.home);
        let color = match global.color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => {
                let plain = env::get(env::NO_COLOR).is_some();
                io::stdout().is_terminal()
                    && !plain
                    && env::get(env::TERM).as_deref() != Some("dumb")
            }
        };
        Ok(Context { paths, global, cwd, root, color })
    }

    /// # Errors
    /// Where `--config` names no directory.
    pub fn check_config(&self) -> Result<()> {
        let named = self.global.config.as_deref();
        if let Some(why) = self.paths.check_config_directory(named) {
            let absent = named.is_some_and(|named| named != "" && !self.paths.config.exists());
            let mend = if absent { ". `hookctl init --config DIR` makes one" } else { "" };
            anyhow::bail!("{why}{mend}");
        }
        let denied = |error: io::Error| error.kind() == io::ErrorKind::PermissionDenied;
        if named.is_some() && self.paths.config.read_dir().is_err_and(denied) {
            let name = self.paths.config.display();
            anyhow::bail!("--config {name} cannot be read: {MAKE_YOURS}, or name another");
        }
        Ok(())
    }

    /// The config.toml that `--config` was to name, where there is none.
    pub fn missing_config(&self) -> Option<PathBuf> {
        self.global.config.as_ref()?;
        let file = self.paths.user_config();
        let beside = file.with_file_name(paths::SERVER_FILE);
        (!file.exists() && !beside.exists()).then_some(file)
    }

    /// The state that somebody named is a directory that can be read, and is there unless the command makes it.
    fn check_state(&self, command: &CliCommand) -> Result<()> {
        let Some(state) = &self.global.state else { return Ok(()) };
        let makes = match command {
            CliCommand::Install(_)
            | CliCommand::Uninstall(_)
            | CliCommand::Migrate(_)
            | CliCommand::Pause(_)
            // What a hook started has nobody to tell.
            | CliCommand::Flush(_)
            // These neither read nor write it.
            | CliCommand::Init(_)
            | CliCommand::Ping(_)
            | CliCommand::Serve(_)
            | CliCommand::ClaudeHook(_)
            | CliCommand::ClineHook(_)
            | CliCommand::GeminiHook(_)
            | CliCommand::OpencodeHook(_)
            | CliCommand::DroidHook(_)
            | CliCommand::AllHook(_) => true,
            CliCommand::Trust(args) => !args.list,
            CliCommand::Events(args) => args.edits(),
            _ => false,
        };
        let name = state.display();
        match state.read_dir().map(drop).map_err(|error| error.kind()) {
            Ok(()) => Ok(()),
            // The default one need not be there: it comes with the first event.
            Err(io::ErrorKind::NotFound) if makes || self.paths.is_own_state() => Ok(()),
            Err(io::ErrorKind::NotFound) => anyhow::bail!(
                "--state {name}: there is no such directory. Name the one that the entries of the agents name \
                 (`hookctl status` shows them), or leave --state out"
            ),
            // Of a file Windows may say that it is no directory, or that nobody may look into it.
            Err(kind) if kind == io::ErrorKind::NotADirectory || state.is_file() => {
                anyhow::bail!("--state {name} is a file: name the directory of the journal")
            }
            Err(_) => {
                anyhow::bail!("--state {name} cannot be read: {MAKE_YOURS}, or name another")
            }
        }
    }

    /// Says that `--config` names nothing, where rules are held against something.
    fn tell_missing_config(&self, command: &CliCommand) {
        let judges = matches!(
            command,
            CliCommand::Explain(_)
                | CliCommand::Test(_)
                | CliCommand::Status(_)
                | CliCommand::Packs(_)
                | CliCommand::Suggest(_)
        );
        if let Some(file) = self.missing_config().filter(|_| judges) {
            let file = display_path(self, &file);
            print_stderr(&format!(
                "note: --config: there is no {file}, so the shipped rules alone hold"
            ));
        }
    }

    /// What edits settings or writes a config does so where HOME says, or not at all.
    fn check_home(&self, command: &CliCommand) -> Result<()> {
        let writes = match command {
            CliCommand::Install(_)
            | CliCommand::Uninstall(_)
            | CliCommand::Init(_)
            | CliCommand::Migrate(_) => true,
            CliCommand::Events(args) => args.edits(),
            CliCommand::ClaudeHook(args)
            | CliCommand::ClineHook(args)
            | CliCommand::GeminiHook(args)
            | CliCommand::OpencodeHook(args)
            | CliCommand::DroidHook(args) => args.enable || args.disable,
            _ => false,
        };
        if cfg!(unix) && writes && !self.paths.home_is_set() {
            anyhow::bail!("HOME is not set to an absolute path: set it to the home that is meant");
        }
        Ok(())
    }

    /// The text in that colour (an SGR number), where colours are on.
    pub fn paint(&self, sgr: u8, text: &str) -> String {
        if self.color { format!("\u{1b}[{sgr}m{text}\u{1b}[0m") } else { text.to_string() }
    }
}

/// Bold.
pub const BOLD: u8 = 1;
/// Red: it is not in effect.
pub const RED: u8 = 31;
/// Green: it is.
pub const GREEN: u8 = 32;
/// Yellow: look at it.
pub const YELLOW: u8 = 33;
/// Faint: of less weight.
pub const FAINT: u8 = 2;

/// The whole program but the hook path: argv to exit status.
pub fn main(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    let cli = match Cli::try_parse_from(bridge::expand_spelling(args), document) {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version end well, everything else is wrong usage. Nobody may be reading.
            let _ = error.print();
            return if error.use_stderr() { Exit::Failed } else { Exit::Ok }.into();
        }
    };
    let mut report = Report::of_command(&cli);
    let ended = dispatch(cli, &mut report);
    report.finish(ended).into()
}

fn dispatch(cli: Cli, report: &mut Report) -> Result<Exit> {
    let command = match cli.command {
        Some(CliCommand::Completions(args)) => return print(generated::completions(args.shell)),
        Some(CliCommand::Man(_)) => return print(&generated::man()?),
        Some(CliCommand::Complete(args)) => return complete::run(cli.global, &args),
        Some(other) => other,
        None => return start(cli.global),
    };
    let context = Context::from_global(cli.global)?;
    let needs_config = match &command {
        // These make the directory, say it later, or take out what names it.
        CliCommand::Init(_) | CliCommand::Install(_) | CliCommand::Uninstall(_) => false,
        // What a hook started sends what there is, and has nobody to tell.
        CliCommand::Flush(args) => !args.quiet,
        // It takes a file as well.
        CliCommand::Replay(_) => false,
        _ => true,
    };
    if needs_config {
        context.check_config()?;
    }
    context.check_home(&command)?;
    context.check_state(&command)?;
    context.tell_missing_config(&command);
    match command {
        CliCommand::Install(args) => install::run(&context, &args, report),
        CliCommand::Uninstall(args) => uninstall::run(&context, &args, report),
        CliCommand::Status(args) => status::run(&context, &args),
        CliCommand::Doctor(args) => doctor::run(&context, &args),
        CliCommand::Agents(args) => agents::run(&context, &args),
        CliCommand::Events(args) => events::run(&context, &args, report),
        CliCommand::Check(args) => check::run(&context, &args),
        CliCommand::Explain(args) => explain::run(&context, &args),
        CliCommand::Test(args) => test::run(&context, &args),
        CliCommand::Trust(args) => trust::run(&context, &args, report),
        CliCommand::Pause(args) => pause::run(&context, &args, report),
        CliCommand::Resume(_) => pause::resume(&context, report),
        CliCommand::Packs(args) => packs::run(&context, &args),
        CliCommand::Log(args) => log::run(&context, &args),
        CliCommand::Replay(args) => replay::run(&context, &args),
        CliCommand::Suggest(args) => suggest::run(&context, &args, report),
        CliCommand::Allow(_) => exact::run(&context, Verb::Allow, report),
        CliCommand::Deny(_) => exact::run(&context, Verb::Deny, report),
        CliCommand::Stats(args) => stats::run(&context, &args),
        CliCommand::Report(args) => page::run(&context, &args, report),
        CliCommand::Import(args) => import::run(&context, &args, report),
        CliCommand::Init(args) => init::run(&context, &args, report),
        CliCommand::Ping(args) => ping::run(&context, &args, report),
        #[cfg(feature = "tls")]
        CliCommand::Bundle(args) => bundle::run(&context, &args, report),
        #[cfg(not(feature = "tls"))]
        CliCommand::Bundle(_) => {
            anyhow::bail!("this hookctl is built without TLS: it signs nothing")
        }
        CliCommand::Flush(args) => flush::run(&context, &args, report),
        CliCommand::Memory(args) => memory::run(&context, &args, report),
        CliCommand::Migrate(args) => migrate::run(&context, &args, report),
        CliCommand::Upgrade(_) => upgrade::run(report),
        CliCommand::Serve(args) => serve::run(&context, &args),
        CliCommand::ClaudeHook(args) => bridge::run(&context, "claude", &args),
        CliCommand::ClineHook(args) => bridge::run(&context, "cline", &args),
        CliCommand::GeminiHook(args) => bridge::run(&context, "gemini", &args),
        CliCommand::OpencodeHook(args) => bridge::run(&context, "opencode", &args),
        CliCommand::DroidHook(args) => bridge::run(&context, "droid", &args),
        CliCommand::AllHook(args) => bridge::run_all(&context, &args),
        // The hook path is taken before this; its arguments are here for their help.
        CliCommand::Hook(_)
        | CliCommand::Complete(_)
        | CliCommand::Completions(_)
        | CliCommand::Man(_) => Ok(Exit::Ok),
    }
}

/// Without a command: how it stands, and what to do next.
fn start(global: Global) -> Result<Exit> {
    let context = Context::from_global(global)?;
    context.check_config()?;
    let ended = status::run(&context, &args::StatusArgs::default())?;
    let next: &[(&str, &str)] = match (ended, context.paths.user_config().exists()) {
        (Exit::Ok, true) => &[
            ("hookctl log", "what was decided"),
            ("hookctl explain 'git push -f'", "what would be answered, and why"),
        ],
        (Exit::Ok, false) => &[
            ("hookctl explain 'git push -f'", "what would be answered, and why"),
            ("hookctl init", "a commented config, for rules of your own"),
        ],
        _ => &[
            ("hookctl install", "guard the agents of this machine"),
            ("hookctl doctor", "what is wrong, and what mends it"),
            ("hookctl explain 'git push -f'", "what would be answered, and why"),
        ],
    };
    let lines = next.iter().map(|(command, what)| format!("  {command:<31} {what}\n"));
    print(&format!("\nNext:\n{}", lines.collect::<String>()))?;
    Ok(ended)
}

/// What is printed, wherever it is: nothing in it controls the terminal but our own colours.
pub fn sanitise_output(text: &str) -> Cow<'_, str> {
    text::make_page_visible(text, &["1", "2", "31", "32", "33"])
}

/// Prints a value as JSON.
///
/// # Errors
/// As for [`print()`].
pub fn print_json(value: &(impl serde::Serialize + ?Sized)) -> Result<Exit> {
    print(&format!("{}\n", text::escape_json(&serde_json::to_string_pretty(value)?)))
}

/// Prints to stdout. A reader that went away (`| head`) is no failure.
///
/// # Errors
/// Where stdout cannot be written for another reason.
pub fn print(text: &str) -> Result<Exit> {
    let text = sanitise_output(text);
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(error).context("cannot write to stdout")
        }
        _ => Ok(Exit::Ok),
    }
}

/// Text of others on one line: none of it passes for a line of ours.
pub fn flatten_lines(text: &str) -> String {
    make_visible(text).replace('\n', "\u{23ce}").replace('\t', " ")
}

/// A text of several lines below a heading of that width: no line of it stands where headings do.
pub fn indent_following_lines(text: &str, width: usize) -> String {
    let mut lines = text.split('\n');
    let mut out = lines.next().unwrap_or_default().to_string();
    for line in lines {
        let indent = if line.starts_with(&" ".repeat(width)) { 0 } else { width };
        out.push_str(&format!("\n{:indent$}{line}", ""));
    }
    out
}

/// Text of others on one line, at most `width` characters of it.
pub fn one_line(text: &str, width: usize) -> String {
    let text = flatten_lines(text);
    if text.chars().count() <= width {
        return text;
    }
    let mut out: String = text.chars().take(width.saturating_sub(1)).collect();
    out.push('\u{2026}');
    out
}

/// Writes a file of the user's alone, so that it is there whole or not at all.
///
/// # Errors
/// Where its directory cannot be made or written.
pub fn write_private(path: &Path, bytes: &[u8]) -> Result<()> {
    let dir = path.parent().unwrap_or(Path::new("/"));
    files::private_dir(dir).with_context(|| format!("cannot make {}", dir.display()))?;
    // tempfile makes it 0600.
    let mut file = tempfile::Builder::new()
        .prefix(".hookctl-")
        .suffix(".tmp")
        .tempfile_in(dir)
        .with_context(|| format!("cannot write in {}", dir.display()))?;
    file.write_all(bytes)
        .and_then(|()| file.as_file().sync_all())
        .with_context(|| format!("cannot write in {}", dir.display()))?;
    file.persist(path).with_context(|| format!("cannot replace {}", path.display()))?;
    Ok(())
}

pub use crate::text::make_visible;

/// The path with the home directory as `~`.
pub fn display_path(context: &Context, path: &Path) -> String {
    let text = match path.strip_prefix(&context.paths.home) {
        Ok(rest) if rest.as_os_str().is_empty() => "~".to_string(),
        Ok(rest) => format!("~/{}", rest.display()),
        Err(_) => path.display().to_string(),
    };
    flatten_lines(&files::portable_text(&text))
}

/// Where a command may write its file: where nothing is yet, or what it wrote before, which starts so. A link leads to its file.
///
/// # Errors
/// Where something else is there, or no directory.
pub fn check_output(context: &Context, path: &Path, start: &[u8], what: &str) -> Result<PathBuf> {
    let path = std::path::absolute(path)?;
    let name = display_path(context, &path);
    if files::leads_nowhere(&path) {
        anyhow::bail!("{name} is a link that leads nowhere: name another file");
    }
    let real = files::real_path(&path).unwrap_or(path);
    match files::read_head(&real, start.len() as u64) {
        Ok(head) if !head.is_empty() && head != start => {
            anyhow::bail!("{name} is there and is no {what} of hookctl: name another file")
        }
        Ok(_) | Err(files::Refusal::Absent) => {}
        Err(refusal) => anyhow::bail!(refusal.describe_for(&real)),
    }
    match real.parent().filter(|dir| !dir.is_dir()) {
        Some(dir) => anyhow::bail!("there is no directory {}", display_path(context, dir)),
        None => Ok(real),
    }
}

/// Prints a line to stderr.
pub fn print_stderr(text: &str) {
    // There is no other place to say it.
    let _ = writeln!(io::stderr(), "hookctl: {}", sanitise_output(text));
}
