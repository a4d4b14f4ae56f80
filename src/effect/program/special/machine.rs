//! Programs on the machine itself: asking its state or changing it.

use super::super::effects::{Call, Next, emit_file_write, emit_role, maybe_path};
use super::super::table::{Role, mark};
use super::files::emit_members;
use super::search::compile_expression;
use crate::effect::emitter::Emitter;
use crate::effect::guarded;
use crate::effect::value::{BLANK, Value};
use crate::effect::{Extent, Grade, Source, Word};
use crate::names::machine::{ASKING, ASKING_STARTS, IP_CHANGES};

/// The state of the machine changes, unless the words only ask.
pub fn emit_machine_change(out: &mut Emitter, call: &Call, values: &[Value]) {
    let any = |asks: &dyn Fn(&str) -> bool| values.iter().any(|v| v.plain_text().is_some_and(asks));
    let changes = match call.name {
        "ip" => any(&|word| IP_CHANGES.contains(&word)),
        "sysctl" => values.iter().any(|v| v.text().is_none() || v.known_start().contains('=')),
        // A device alone is only looked up.
        "ifconfig" | "iwconfig" | "ethtool" | "arp" | "losetup" => values.len() > 1,
        "nmcli" => any(&|word| {
            matches!(word, "up" | "down" | "add" | "modify" | "delete" | "connect" | "disconnect")
                || matches!(
                    word,
                    "on" | "off" | "edit" | "reload" | "import" | "reapply" | "hotspot"
                )
        }),
        _ => {
            !values.is_empty()
                && !any(&|word| {
                    ASKING.contains(&word)
                        || ASKING_STARTS.iter().any(|start| word.starts_with(start))
                        || word.ends_with("-status")
                })
        }
    };
    if changes && call.name == "mount" && !call.is_dry_run() {
        // What is mounted elsewhere has a second name, and what is mounted over has none.
        for value in values {
            out.emit_mount(value);
        }
    }
    // The row says `system` for options that change something.
    if changes && !call.is_dry_run() && !call.parsed.has_mark(mark::SYSTEM) {
        call.does(out, Word::System);
    }
}

/// `parted DEVICE VERB ...`: printing changes nothing.
pub fn emit_parted(out: &mut Emitter, call: &Call, values: &[Value]) {
    let Some((disk, verbs)) = values.split_first() else { return };
    let reads = ["print", "p", "unit", "u", "help", "align-check", "version", "quit"];
    let first = verbs.first().map(|v| v.plain_text().unwrap_or_default());
    let changing = ["mklabel", "mktable", "mkpart", "rm", "resizepart", "set", "name", "rescue"];
    let asks = first.is_some_and(|verb| reads.contains(&verb))
        && !verbs.iter().any(|v| changing.contains(&v.plain_text().unwrap_or("rm")));
    if asks {
        out.operand(Word::Read, disk);
    } else if !call.is_dry_run() {
        emit_file_write(out, disk);
    }
}

/// cpio: `-i` unpacks here, `-p` copies to a directory.
pub fn emit_cpio(out: &mut Emitter, call: &Call, values: &[Value]) {
    let has = |name: &str| call.has(name);
    if has("-i") && !has("-t") {
        out.own_path(Word::Write, ".", Extent::Tree, Grade::Certain, call.span.clone());
        emit_members(out, values, true);
    }
    if has("-p") {
        for value in values {
            out.operand_tree(Word::Write, value);
        }
    }
}

/// `chattr +i FILE`, `chattr =e FILE`: the mode may be an option or the first operand.
pub fn emit_chattr(out: &mut Emitter, call: &Call, values: &[Value], next: &mut Vec<Next>) {
    let modes = values.first().is_some_and(|v| v.known_start().starts_with(['+', '-', '=']));
    for value in &values[usize::from(modes)..] {
        emit_role(out, call, Role::Permission, value, next);
    }
}

/// Processes are signalled: by number, by name, or those that use a file.
pub fn emit_kill(out: &mut Emitter, call: &Call, values: &[Value]) {
    if call.name == "fuser" && !call.parsed.has_mark(mark::SPARE) {
        return;
    }
    call.does(out, Word::Process);
    for value in values {
        if call.name == "fuser" {
            out.operand(Word::Process, value);
        } else if could_name_guard(call, value) {
            out.guard_ended(value.span.clone());
        } else if value.is_fed() && call.name != "kill" {
            out.emit_unknown("processes that another command names", value.span.clone());
        }
    }
}

/// Is hookctl among them? Of a name that is known in part the rest may be anything (`"hook$X"`).
fn could_name_guard(call: &Call, value: &Value) -> bool {
    match (value.plain_text(), value.outline()) {
        (Some(pattern), _) => names_guard(call, pattern),
        (None, Some(text)) if text.contains(|c: char| c.is_ascii_alphanumeric()) => {
            names_guard(call, &text.replace(BLANK, ".*"))
        }
        _ => false,
    }
}

/// Is hookctl among the processes of that name? pkill's is an expression that is found anywhere in it.
fn names_guard(call: &Call, pattern: &str) -> bool {
    let has = |name: &str| call.has(name);
    if matches!(call.name, "kill") || call.name == "killall" && !has("-r") {
        return pattern == guarded::NAME;
    }
    let exact = has("-x") || call.name == "skill";
    let fold = if has("-i") { "(?i)" } else { "" };
    let whole = if exact { format!("{fold}^(?:{pattern})$") } else { format!("{fold}{pattern}") };
    let line =
        if has("-f") { format!("{} hook", guarded::NAME) } else { guarded::NAME.to_string() };
    compile_expression(&whole).is_none_or(|re| re.is_match(&line))
}

/// `open URL` goes to a host, `open FILE` hands it to whatever opens such files.
pub fn emit_open(out: &mut Emitter, values: &[Value]) {
    for value in values {
        if value.known_start().starts_with("http") && value.known_start().contains("://") {
            out.emit_contact(value, false, Source::Operand);
        } else {
            maybe_path(out, value);
        }
    }
}
