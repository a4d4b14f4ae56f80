//! Files that are wholly ours: a script for each event, or a plugin in the agent's own language.

use serde_json::{Map, Value};

use super::hooks::{EDITED, ELSEWISE, Outdated, WantedEntries};
use super::place::SettingsFile;
use super::survey::{Foreign, Own, Role, Survey, detect_role, split_program};
use crate::agent::wiring::{Form, OWN_MARK, PluginForm};
use crate::documents::document;
use crate::script::line::{is_own_program, shell_tail};

/// How many of the first lines may have the mark.
const HEAD: usize = 5;

/// Did hookctl write this?
pub(super) fn is_own(text: &str) -> bool {
    text.lines().take(HEAD).any(|line| line.contains(OWN_MARK))
}

/// What the file should hold; none = it should not be there.
pub(super) fn own_content(place: &SettingsFile, wanted: &WantedEntries) -> Option<String> {
    let uninstall = format!("hookctl uninstall --agent {}", place.agent);
    match place.form {
        Form::Entries(_) => None,
        Form::Scripts(form) => {
            let line = wanted.line(wanted.event_named(place.event?)?, form.shell);
            Some(form.template.replace("{uninstall}", &uninstall).replace("{command}", &line))
        }
        Form::Plugin(form) => Some(plugin_content(form, wanted)),
    }
}

/// How the line of a plugin begins that names the events which it tells nobody of: a JSON array follows.
const OFF_LINE: &str = "const OFF = ";

/// The plugin with our command in its line, and the events that are switched off in theirs.
fn plugin_content(form: &PluginForm, wanted: &WantedEntries) -> String {
    let command = std::iter::once(wanted.command.clone()).chain(wanted.arguments(None));
    let command = Value::from(command.collect::<Vec<_>>());
    // What is not asked for is not told either.
    let all = crate::agent::by_id(wanted.agent).map(|agent| agent.events()).unwrap_or_default();
    let mut off = wanted.off.clone();
    for spec in all.iter().filter(|spec| spec.by_default) {
        if wanted.event_named(spec.name).is_none() && !off.iter().any(|name| name == spec.name) {
            off.push(spec.name.to_string());
        }
    }
    let off = Value::from(off);
    let made = [(form.line, command), (OFF_LINE, off)];
    let line = |line: &str| match made.iter().find(|(start, _)| line.starts_with(start)) {
        Some((start, value)) => format!("{start}{value}\n"),
        None => format!("{line}\n"),
    };
    document(form.template).lines().map(line).collect()
}

/// What is not as it should be with a file of ours that starts `own`. `as_written`: nobody changed it since install wrote it.
pub fn content_faults(
    place: &SettingsFile,
    text: &str,
    wanted: &WantedEntries,
    own: &Own,
    as_written: bool,
) -> Vec<Outdated> {
    let Some(expected) = own_content(place, wanted).filter(|expected| expected != text) else {
        return Vec::new();
    };
    let fault = |breaks, why: &str| Outdated { breaks, why: why.to_string() };
    if !has_same_body(place.form, text, &expected) {
        let (breaks, why) = if as_written { (false, ELSEWISE) } else { (true, EDITED) };
        return vec![fault(breaks, why)];
    }
    let mut faults = Vec::new();
    if !is_own_program(&own.command) || own.args.first().is_none_or(|first| first != "hook") {
        faults.push(fault(true, &format!("runs {}, which does not judge", own.command)));
    }
    let other = |name: &str, wanted: &str| own.option_value(name).filter(|it| *it != wanted);
    if let Some(agent) = other("--agent", wanted.agent) {
        faults.push(fault(true, &format!("wired to agent `{agent}`")));
    }
    if let Some(event) = place.event.and_then(|event| other("--event", event)) {
        faults.push(fault(true, &format!("wired to `--event {event}`")));
    }
    if faults.is_empty() {
        let why = if as_written { ELSEWISE } else { EDITED };
        let program = format!("runs {}", own.command);
        faults.push(fault(false, if own.command == wanted.command { why } else { &program }));
    }
    faults
}

/// Is all as it should be but the call of hookctl, and what a plugin is told to be silent of?
fn has_same_body(form: Form, text: &str, expected: &str) -> bool {
    match form {
        Form::Entries(_) => true,
        Form::Plugin(form) => {
            let starts = [form.line, OFF_LINE];
            let same = |(a, b): (&str, &str)| {
                a == b || starts.iter().any(|start| a.starts_with(start) && b.starts_with(start))
            };
            text.lines().count() == expected.lines().count()
                && text.lines().zip(expected.lines()).all(same)
                && off_list(text).is_some()
        }
        Form::Scripts(form) => {
            let Some((before, after)) = form.template.split_once("{command}") else { return false };
            // How to take it out names the agent, and is a comment.
            let skip = before.lines().count().saturating_sub(1);
            let call = text.lines().nth(skip).unwrap_or_default();
            let start = before.rsplit('\n').next().unwrap_or_default();
            let rest: Vec<&str> = text.lines().skip(skip + 1).collect();
            text.lines().take(skip).eq(expected.lines().take(skip))
                && call.strip_prefix(start).is_some_and(|call| shell_tail(call).is_none())
                && rest == after.trim_start().lines().collect::<Vec<_>>()
        }
    }
}

/// What a change of the file is called.
pub(super) fn change_name(place: &SettingsFile) -> String {
    place.event.unwrap_or("plugin").to_string()
}

/// What such a file says of hooks.
pub(super) fn survey_content(place: &SettingsFile, text: &str) -> Survey {
    let mut survey = Survey::default();
    if !is_own(text) {
        survey.foreign.push(Foreign {
            event: change_name(place),
            command: place.file.display().to_string(),
            shell: false,
            known: None,
            path: Vec::new(),
        });
        return survey;
    }
    let Some((command, args)) = own_command(place.form, text) else { return survey };
    let all = crate::agent::by_id(place.agent).map(|agent| agent.events()).unwrap_or_default();
    let off = events_off(text);
    let all = all.iter().filter(|spec| spec.by_default).map(|spec| spec.name);
    let events: Vec<&str> = match place.event {
        Some(event) => vec![event],
        None => all.filter(|name| off.iter().all(|off| off != name)).collect(),
    };
    let list = match detect_role(&args) {
        Role::Guard => &mut survey.own,
        Role::Bridge => &mut survey.bridge,
    };
    list.extend(events.into_iter().map(|event| Own {
        event: event.to_string(),
        command: command.clone(),
        args: args.clone(),
        shell: place.event.is_some(),
        matcher: None,
        entry: Map::new(),
        seen: true,
        fails_closed: false,
        mangled: false,
        tail: None,
        lodger: None,
        path: Vec::new(),
    }));
    survey
}

/// The events that a plugin says nothing of; of a file without that line, none.
fn events_off(text: &str) -> Vec<String> {
    off_list(text).unwrap_or_default()
}

/// The list in that line; none where it is none.
fn off_list(text: &str) -> Option<Vec<String>> {
    let line = text.lines().find_map(|line| line.strip_prefix(OFF_LINE))?;
    serde_json::from_slice(line.trim_end().as_bytes()).ok()
}

/// The call of hookctl in the text.
fn own_command(form: Form, text: &str) -> Option<(String, Vec<String>)> {
    text.lines().find_map(|line| match form {
        Form::Plugin(form) => {
            let mut words: Vec<String> =
                serde_json::from_slice(line.strip_prefix(form.line)?.trim_end().as_bytes()).ok()?;
            (!words.is_empty()).then(|| (words.remove(0), words))
        }
        Form::Entries(_) | Form::Scripts(_) => split_program(line),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::wiring::{ScriptForm, Shell};

    #[test]
    fn what_is_ours_says_so_in_its_head() {
        assert!(is_own("#!/bin/sh\n# managed-by: hookctl (x)\n"));
        assert!(!is_own("#!/bin/sh\nexec hookctl hook\n"));
        assert!(!is_own(&format!("{}# managed-by: hookctl", "\n".repeat(HEAD))));
    }

    #[test]
    fn the_call_is_found_again() {
        let script =
            Form::Scripts(&ScriptForm { extension: "", template: "", shell: Shell::LOCAL });
        let plugin = Form::Plugin(&PluginForm { template: "", line: "const C = " });
        for (form, text) in [
            (script, "#!/bin/sh\n# managed-by: hookctl\nexec '/a b/hookctl' hook --agent cline\n"),
            (script, "# x\n& \"/a b/hookctl\" hook --agent cline\r\n"),
            (plugin, "x\nconst C = [\"/a b/hookctl\",\"hook\",\"--agent\",\"cline\"]\ny"),
        ] {
            let (program, args) = own_command(form, text).unwrap();
            assert_eq!((program.as_str(), args.len()), ("/a b/hookctl", 3), "{text}");
        }
        assert!(own_command(script, "#!/bin/sh\necho hookctl\n").is_none());
    }
}
