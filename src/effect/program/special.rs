//! Programs whose arguments follow no common pattern: find, dd, tar, git's tree, shells, curl ...

mod added;
mod cloud;
mod containers;
mod files;
mod forge;
mod git;
mod lookalike;
mod machine;
mod network;
mod packages;
mod remote;
mod reveal;
mod search;
mod session;
mod stage;
mod text;
mod web;
mod windows;
mod wrap;

pub use added::{ADD, emit_added};
pub use files::{
    deletes_operands, directory_glob, lasting_found, lasting_glob, named_globs,
    printed_guarded_files,
};
pub use forge::emit_forge;
pub use git::{names_git, redirects_git, spare_throwaway};
pub use stage::{is_client, is_watched, settle, settle_drops};
pub use wrap::fill_row;

use super::effects::{Call, Next};
use super::table::{Program, Special};
use crate::effect::emitter::Emitter;
use crate::effect::value::Value;

/// A call of a program with code of its own, and where its effects go.
pub struct Invocation<'i, 'c, 'e> {
    out: &'i mut Emitter<'e>,
    call: &'i Call<'c>,
    program: &'i Program,
    /// The operands behind the sub-command.
    values: Vec<Value>,
    next: &'i mut Vec<Next>,
}

impl Invocation<'_, '_, '_> {
    /// The operands mean what the row says.
    fn operands(&mut self) {
        super::effects::emit_operands(self.out, self.call, self.program, self.next);
    }

    /// What standard input holds is a program in the language of the row.
    fn reads_program(&mut self) {
        self.next.push(Next::Stdin { lang: self.program.language() });
    }
}

/// What holds for every sub-command of a program, also for those that nobody knows; true = this is
/// all that there is to say.
pub fn emit_common(out: &mut Emitter, call: &Call, next: &mut Vec<Next>) -> bool {
    if matches!(call.name, "tmux" | "tmate" | "byobu" | "byobu-tmux") {
        session::multiplexed(call, next);
    }
    matches!(call.name, "git" | "hub") && git::emit_settings(out, call, next)
}

/// What holds where it runs: a directory that is itself laid out like a repository (such may be
/// committed, unlike `.git`) brings its own settings along, which name programs.
pub fn check_location(out: &mut Emitter, call: &Call) {
    if call.parsed.program.is_some_and(|row| row.name.contains("compose")) {
        containers::emit_compose_project(out, call);
    }
    if !matches!(call.name, "git" | "hub") {
        return;
    }
    let Some(cwd) = out.cwd.clone() else { return };
    let holds = |out: &mut Emitter, name: &str| out.resolver.exists(&format!("{cwd}/{name}"));
    if holds(out, "HEAD") && holds(out, "objects") && holds(out, "refs") {
        out.disown();
    }
}

/// What an allow on the program has to name to mean this call. `from` = its first effect.
pub fn note_scope(out: &mut Emitter, call: &Call, from: usize) {
    if matches!(call.name, "git" | "hub") {
        git::note_scope(out, call, from);
    }
    if matches!(call.name, "npm" | "pnpm" | "yarn") {
        packages::note_scope(out, call);
    }
}

/// The code of a program.
type Handler = fn(&mut Invocation);

/// What each word of `special` stands for, in the order of the vocabulary.
const HANDLERS: [(Special, Handler); Special::ALL.len()] = [
    (Special::Ansible, |i| containers::emit_ansible(i.out, i.call, i.next)),
    (Special::Api, |i| forge::emit_api(i.out, i.call, &i.values)),
    (Special::Behind, session::behind),
    (Special::Chattr, |i| machine::emit_chattr(i.out, i.call, &i.values, i.next)),
    (Special::Client, network::emit_database_client),
    (Special::ContainerRun, |i| containers::emit_run(i.out, i.call, &i.values, i.next)),
    (Special::Copy, |i| remote::emit_copy(i.out, i.call, &i.values)),
    (Special::CopyNear, |i| remote::emit_copy(i.out, i.call, &i.values)),
    (Special::Cpio, |i| machine::emit_cpio(i.out, i.call, &i.values)),
    (Special::Daemon, session::daemon),
    (Special::Dd, |i| files::emit_dd(i.out, &i.values)),
    (Special::Debugger, session::debugger),
    (Special::Download, |i| remote::emit_download(i.out, i.call, &i.values)),
    (Special::Drive, |i| windows::emit_drive(i.out, i.call, &i.values)),
    (Special::Editor, text::editor),
    (Special::Env, wrap::run_env),
    (Special::Eval, session::eval),
    (Special::Fd, |i| files::emit_fd(i.out, i.call, i.next)),
    (Special::Find, |i| files::emit_find(i.out, i.call, i.next)),
    (Special::FlagC, session::flock),
    (Special::GhAlias, |i| forge::emit_alias(i.out, &i.values)),
    (Special::GhClone, |i| forge::emit_clone(i.out, &i.values)),
    (Special::GitCheckout, |i| git::emit_checkout(i.out, i.call, &i.values)),
    (Special::GitClean, |i| git::emit_clean(i.out, i.call, &i.values)),
    (Special::GitClone, |i| git::emit_clone(i.out, &i.values)),
    (Special::GitFill, |i| git::fill(i.out, i.call, &i.values)),
    (Special::GitConfig, |i| git::emit_config(i.out, i.call, &i.values)),
    (Special::GitContents, git::emit_contents),
    (Special::GitDiff, |i| git::emit_shown(i.out, i.call, &i.values, i.next)),
    (Special::GitGc, |i| git::emit_gc(i.out, i.call)),
    (Special::GitOwn, git::own),
    (Special::GitPull, |i| git::pull(i.out, i.call, &i.values)),
    (Special::GitPush, |i| git::emit_push(i.out, i.call, &i.values)),
    (Special::GitRefs, |i| git::refs(i.out, i.call, &i.values)),
    (Special::GitRemote, |i| git::remotes(i.out, i.call, &i.values)),
    (Special::GitRemoteRead, |i| git::emit_remote(i.out, i.values.first(), false)),
    (Special::GitReset, |i| git::reset(i.out, i.call)),
    (Special::GitRestore, |i| git::emit_restore(i.out, i.call, &i.values)),
    (Special::GitTree, git::tree),
    (Special::GitWorktree, |i| git::worktree(i.out, i.call, &i.values)),
    (Special::Gzip, |i| files::emit_gzip(i.out, i.call, &i.values)),
    (Special::Httpie, |i| network::emit_httpie(i.out, i.call, &i.values)),
    (Special::Inside, |i| containers::run_inside(i.call, &i.values, 1, i.next)),
    (Special::InsideOnly, containers::inside_only),
    (Special::Interpreter, wrap::run_interpreter),
    (Special::Jq, text::jq),
    (Special::Kill, |i| machine::emit_kill(i.out, i.call, &i.values)),
    (Special::KubectlDelete, |i| containers::emit_delete(i.out, i.call, &i.values)),
    (Special::KubectlGet, |i| containers::emit_get(i.out, i.call, &i.values)),
    (Special::Ln, |i| files::emit_ln(i.out, i.call, &i.values)),
    (Special::Machine, |i| machine::emit_machine_change(i.out, i.call, &i.values)),
    (Special::Make, text::make),
    (Special::Maven, |i| packages::emit_build(i.out, i.call, &i.values)),
    (Special::Nc, |i| network::emit_nc(i.out, i.call, &i.values, i.next)),
    (Special::Nested, wrap::run_nested),
    (Special::NpmPkg, |i| packages::emit_package_fields(i.out, i.call, &i.values)),
    (Special::Open, |i| machine::emit_open(i.out, &i.values)),
    (Special::OwnShell, session::own_shell),
    (Special::OwnText, windows::own_text),
    (Special::Packages, packages::emit_packages),
    (Special::Pager, text::pager),
    (Special::Parted, |i| machine::emit_parted(i.out, i.call, &i.values)),
    (Special::PackageConfig, |i| packages::emit_config(i.out, i.call, i.program, &i.values)),
    (Special::Piped, windows::emit_piped),
    (Special::Ps, reveal::processes),
    (Special::Redis, text::redis),
    (Special::Reveals, reveal::operands),
    (Special::Robocopy, windows::emit_robocopy),
    (Special::Runner, packages::run),
    (Special::Scp, remote::scp),
    (Special::Screen, session::screen),
    (Special::Script, packages::emit_script),
    (Special::ScriptFile, session::script_file),
    (Special::Session, session::session),
    (Special::Setting, reveal::setting),
    (Special::Sftp, remote::sftp),
    (Special::Shell, wrap::run_shell),
    (Special::Socat, |i| network::emit_socat(i.out, &i.values, i.next)),
    (Special::Source, session::source),
    (Special::Ssh, remote::emit_ssh),
    (Special::Start, windows::run_start),
    (Special::Tar, |i| files::emit_tar(i.out, i.call, &i.values, i.next)),
    (Special::Test, |i| files::test(i.out, i.call)),
    (Special::Transfer, remote::transfer),
    (Special::Typed, session::typed),
    (Special::Unzip, |i| files::emit_unzip(i.out, i.call, &i.values)),
    (Special::Verbs, |i| cloud::emit_verbs(i.out, i.call, i.program)),
    (Special::WindowsShell, |i| windows::emit_windows_shell(i.out, i.call, i.program, i.next)),
    (Special::Xargs, wrap::run_xargs),
    (Special::Zip, files::zip),
];

const _: () = {
    let mut at = 0;
    while at < HANDLERS.len() {
        assert!(HANDLERS[at].0 as usize == at, "a handler stands in another place than its word");
        at += 1;
    }
};

/// Runs the program's own code; false = it has none, the row says everything.
pub fn emit_special(
    out: &mut Emitter,
    call: &Call,
    program: &Program,
    next: &mut Vec<Next>,
) -> bool {
    let Some(special) = program.special else { return false };
    let (_, handler) = HANDLERS[special as usize];
    handler(&mut Invocation { out, call, program, values: call.operands(), next });
    true
}
