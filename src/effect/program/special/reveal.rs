//! What is printed and may hold secrets: settings, the environment of processes.

use super::Invocation;
use crate::effect::secret;

/// What the operands name is shown, and no path tells what is in it.
pub(super) fn operands(i: &mut Invocation) {
    i.operands();
    i.out.emit_disclosure("what may hold secrets is printed", i.call.span.clone());
}

/// A setting that is asked for; without a key all of them are.
pub(super) fn setting(i: &mut Invocation) {
    if i.values.is_empty() || i.values.iter().any(|key| secret::is_setting(key.known_start())) {
        i.out.emit_disclosure("settings that may hold secrets are printed", i.call.span.clone());
    }
}

/// `ps e`, `ps -o env`: the environments of processes.
pub(super) fn processes(i: &mut Invocation) {
    let shows = |text: &str| text.contains('e') && !text.contains("pid");
    let mut format = i.call.parsed.options.iter().filter_map(|option| option.value.as_ref());
    if i.values.iter().any(|value| shows(value.known_start()))
        || format.any(|value| value.known_start().contains("env"))
    {
        i.out.emit_disclosure("the environments of processes are printed", i.call.span.clone());
    }
}
