//! Cline: the CLI (observed with cline 3.0.65) and the VS Code extension (its source at 4.1.13). One agent
//! with one hook file for both, and two hosts that differ in what their hooks can do.
//!
//! Facts: contracts, agents/cline. `hooks` is the table of what each event can do, `tools` knows Cline's
//! tools.

mod hooks;
pub(super) mod tools;

use serde_json::{Map, Value, json};

use self::hooks::Hook;
use super::fields::{is_absolute, text_field};
use super::fingerprint::{Field, Fingerprint};
use super::settled::{Settled, settle_answer};
use super::wiring::{Form, Headless, Scope, ScriptForm, SettingsPlace, Shell, Wiring};
use super::{Agent, AgentFacts, EventSpec, FailureForms, Mark, Output};
use crate::event::{Event, Kind, Operation};
use crate::text;
use crate::verdict::{Answer, Verb};
use crate::watchdog::FailureForm;

/// Cline, in a terminal or in VS Code.
pub struct Cline;

const ID: &str = "cline";

/// Which of the two products runs the hook. They read one hook file, so only the payload tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Host {
    /// The CLI and whatever else is built on Cline's SDK.
    Cli,
    /// The VS Code extension.
    VsCode,
}

impl Host {
    /// Only the CLI names an agent and hands on the call itself. Whoever does neither can do less.
    fn from_payload(payload: &Map<String, Value>) -> Host {
        match ["agent_id", "tool_call", "tool_result"].iter().any(|key| payload.contains_key(*key))
        {
            true => Host::Cli,
            false => Host::VsCode,
        }
    }

    fn from_event(event: &Event) -> Host {
        match event.native.get("host").and_then(Value::as_str) {
            Some("cli") => Host::Cli,
            _ => Host::VsCode,
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Host::Cli => "cli",
            Host::VsCode => "vscode",
        }
    }
}

/// A call as Cline tells of it.
struct Call {
    /// Its tool, by Cline's name.
    tool: String,
    /// The tool's input, by Cline's keys.
    input: Value,
}

/// What is known of it.
static FACTS: AgentFacts = AgentFacts {
    id: ID,
    title: "Cline",
    environment: &["CLINE_WRAPPER_PATH"],
    events: hooks::EVENTS,
    common_input: "clineVersion, hookName, timestamp, taskId, workspaceRoots[], userId; CLI: sessionContext{rootSessionId}, \
         workspaceInfo{rootPath}, agent_id, parent_agent_id; VS Code: model{provider, slug}",
    tool_names: tools::TOOLS,
    // Nobody can be asked; a message without a cancel is told to the model.
    failure: FailureForms {
        call: FailureForm::Stop(r#"{"cancel":true,"errorMessage":""#, r#""}"#),
        rest: FailureForm::Silence,
        silent: &[],
    },
    sample: r#"{"clineVersion":"","taskId":"{session}","hookName":"tool_call","workspaceRoots":["{cwd}"],"tool_call":{"name":"run_commands","input":{"commands":["{command}"]}}}"#,
    wiring: Some(&WIRING),
    ..AgentFacts::UNKNOWN
};

impl Agent for Cline {
    fn facts(&self) -> &'static AgentFacts {
        &FACTS
    }

    fn detect(&self, payload: &Fingerprint) -> Option<Mark> {
        // The version may be an empty text.
        let own = payload.has(Field::ClineVersion) && payload.has(Field::TaskId);
        (own && !payload.has_usual_call()).then_some(Mark::Strong)
    }

    /// It names its events in another field, and always its task.
    fn excludes(&self, payload: &Fingerprint) -> bool {
        payload.has(Field::HookEventName) && !payload.has(Field::TaskId)
    }

    fn parse(&self, mut payload: Map<String, Value>, named: Option<&str>) -> Event {
        let host = Host::from_payload(&payload);
        let own = text_field(&payload, "hookName");
        let hook = own
            .and_then(hooks::by_name)
            .or_else(|| hooks::by_shape(&payload))
            .or_else(|| named.and_then(hooks::by_name));
        let name = hook.map(|hook| hook.file).or(own).or(named).unwrap_or_default().to_string();
        let kind = hook.map_or(Kind::from_name(&name), |hook| hook.kind_of(&payload));
        let call = hook.filter(|_| kind.is_tool()).map(|hook| read_call(&payload, hook));
        rename_payload(&mut payload, hook, kind);
        let mut operations =
            call.as_ref().map_or_else(Vec::new, |call| tools::operations(&call.tool, &call.input));
        let mut event = Event {
            agent: ID,
            kind,
            name,
            tool: String::new(),
            input: Value::Null,
            cwd: working_directory(&payload).unwrap_or_default().to_string(),
            session: text_field(&payload, "session_id").unwrap_or_default().to_string(),
            more: Vec::new(),
            raw: payload,
            native: json!({ "host": host.name() }),
        };
        if let Some(Call { tool, input }) = call {
            let Operation { tool: first, input: own } = operations.remove(0);
            event.raw.insert("tool_name".into(), first.as_str().into());
            event.raw.insert("tool_input".into(), own.clone());
            (event.tool, event.input, event.more) = (first, own, operations);
            event.native = json!({ "host": host.name(), "tool": tool, "input": input });
        }
        event
    }

    /// Status 0 always: Cline reads no other (observed).
    fn render(&self, event: &Event, answer: &Answer) -> Output {
        let Some(spec) = self.spec_of(event) else { return Output::default() };
        let settled = settle_answer(spec, answer);
        let host = Host::from_event(event);
        let context = match host {
            Host::Cli => "context",
            Host::VsCode => "contextModification",
        };
        let mut body = Map::new();
        let mut told = settled.context.clone();
        let soft = answer.soft && host == Host::Cli && settled.verb == Some(Verb::Deny);
        if soft && event.kind != Kind::PreToolUse {
            // The call has happened: its reason is told, as the other agents tell it.
            told = join_texts(&settled.reason, &told);
        } else if soft && takes_no_empty_input(event) {
            // The tool fails its own check of an empty input, and the run goes on (observed).
            body.insert("overrideInput".into(), json!({}));
            told = join_texts(&format!("Denied: {}", settled.reason), &told);
        } else if settled.refuses() {
            body.insert("cancel".into(), true.into());
            body.insert("errorMessage".into(), settled.reason.as_str().into());
        } else if let Some(input) = new_input(event, &settled) {
            body.insert("overrideInput".into(), input.into());
        }
        if !told.is_empty() {
            body.insert(context.into(), told.into());
        }
        let stdout = if body.is_empty() { String::new() } else { Value::Object(body).to_string() };
        let stderr = if host == Host::Cli { text_for_terminal(&settled) } else { String::new() };
        let refusal = settled.refuses().then_some(settled.reason);
        Output { stdout, stderr, status: 0, refusal }
    }

    /// By the host that sent it: the CLI rewrites input and refuses no prompt, VS Code the other way round.
    fn spec_of(&self, event: &Event) -> Option<&'static EventSpec> {
        let table = match Host::from_event(event) {
            Host::VsCode => hooks::VSCODE,
            Host::Cli if has_fixed_input(event) => hooks::CLI_FIXED,
            Host::Cli => hooks::CLI,
        };
        table.iter().find(|spec| spec.kind == event.kind)
    }
}

/// The call: the CLI's own, else what there is of it in the block that both hosts send.
fn read_call(payload: &Map<String, Value>, hook: &Hook) -> Call {
    let own = payload.get(hook.call).and_then(Value::as_object);
    let block = payload.get(hook.block).and_then(Value::as_object);
    let text = |map: Option<&Map<String, Value>>, keys: &[&str]| {
        keys.iter().find_map(|key| text_field(map?, key)).map(str::to_string)
    };
    let given = |map: Option<&Map<String, Value>>, key| {
        map?.get(key).filter(|value| !value.is_null()).cloned()
    };
    Call {
        tool: text(own, &["name"])
            .or_else(|| text(block, &["toolName", "tool"]))
            .unwrap_or_else(|| tools::UNNAMED.into()),
        input: given(own, "input")
            .or_else(|| given(block, "parameters"))
            .unwrap_or_else(|| json!({})),
    }
}

/// Puts beside Cline's fields what Claude Code calls them.
fn rename_payload(payload: &mut Map<String, Value>, hook: Option<&Hook>, kind: Kind) {
    let mut new: Vec<(&str, Value)> = vec![("hook_event_name", kind.name().into())];
    let pointer = |path: &[&str]| {
        let (first, rest) = path.split_first()?;
        rest.iter().try_fold(payload.get(*first)?, |value, key| value.get(key))
    };
    let first_of = |paths: &[&[&str]]| {
        paths.iter().filter_map(|path| pointer(path)).find(|value| !value.is_null()).cloned()
    };
    // To Claude Code only an agent that another started has an id.
    let own_id = text_field(payload, "parent_agent_id").is_none();
    let mut put = |key, value: Option<Value>| new.extend(value.map(|value| (key, value)));
    put("session_id", first_of(&[&["sessionContext", "rootSessionId"], &["taskId"]]));
    put("cwd", working_directory(payload).map(Value::from));
    match hook.map(|hook| hook.file).unwrap_or_default() {
        "PreToolUse" => put("tool_use_id", first_of(&[&["tool_call", "id"]])),
        "PostToolUse" => {
            put("tool_use_id", first_of(&[&["tool_result", "id"]]));
            let result = first_of(&[&["tool_result", "output"], &["postToolUse", "result"]]);
            if kind == Kind::PostToolUseFailure {
                let message = first_of(&[
                    &["tool_result", "error", "message"],
                    &["tool_result", "error"],
                    &["postToolUse", "result"],
                ]);
                put("error", message.map(text_of));
            }
            put("tool_response", result);
            put(
                "duration_ms",
                first_of(&[
                    &["tool_result", "durationMs"],
                    &["postToolUse", "executionTimeMs"],
                    &["postToolUse", "durationMs"],
                ]),
            );
        }
        "UserPromptSubmit" => put("prompt", first_of(&[&["userPromptSubmit", "prompt"]])),
        "TaskStart" => put("source", Some("startup".into())),
        "TaskResume" => put("source", Some("resume".into())),
        "TaskComplete" => {
            let said = [&["turn", "outputText"][..], &["taskComplete", "taskMetadata", "result"]];
            put("last_assistant_message", first_of(&said));
        }
        "TaskCancel" => {
            let why = [&["reason"][..], &["taskCancel", "taskMetadata", "completionStatus"]];
            put("reason", first_of(&why).or(Some("cancelled".into())));
        }
        "TaskError" => {
            put("error", first_of(&[&["error", "message"], &["error"]]).map(text_of));
            put("error_details", first_of(&[&["error", "stack"]]));
        }
        _ => {}
    }
    if own_id {
        payload.remove("agent_id");
    }
    payload.extend(new.into_iter().map(|(key, value)| (key.to_string(), value)));
}

/// A text as it is, anything else as JSON.
fn text_of(value: Value) -> Value {
    if value.is_string() { value } else { value.to_string().into() }
}

/// The first of the workspace's roots, where a call runs.
fn working_directory(payload: &Map<String, Value>) -> Option<&str> {
    let roots = payload.get("workspaceRoots").and_then(Value::as_array);
    let info = payload.get("workspaceInfo").and_then(|info| info.get("rootPath"));
    let mut all = roots.into_iter().flatten().chain(info).filter_map(Value::as_str);
    all.find(|path| is_absolute(path))
}

fn native_call(event: &Event) -> Option<(&str, &Value)> {
    Some((event.native.get("tool")?.as_str()?, event.native.get("input")?))
}

/// Is it the call of a tool whose input cannot be written anew?
fn has_fixed_input(event: &Event) -> bool {
    native_call(event).is_some_and(|(tool, input)| !tools::can_rebuild(tool, input))
}

/// Only of these tools was it seen that they refuse an empty input.
fn takes_no_empty_input(event: &Event) -> bool {
    native_call(event).is_some_and(|(tool, _)| matches!(tool, "run_commands" | "editor"))
}

/// The complete input by Cline's keys, where a rule changed it.
fn new_input(event: &Event, settled: &Settled) -> Option<Map<String, Value>> {
    let (tool, input) = native_call(event)?;
    let mut changes = settled.elements.clone();
    changes.extend(settled.input.clone().map(|input| (0, input)));
    (!changes.is_empty()).then(|| tools::rebuild(tool, input, changes))
}

fn join_texts(first: &str, second: &str) -> String {
    if second.is_empty() { first.into() } else { format!("{first}\n{second}") }
}

/// What the CLI shows of neither a refusal nor a notice: for its log, and for whoever looks at the terminal.
fn text_for_terminal(settled: &Settled) -> String {
    let refusal = if settled.refuses() { settled.reason.as_str() } else { "" };
    let all = [refusal, settled.notice.as_str()];
    let all = all.iter().filter(|text| !text.is_empty());
    all.map(|text| text::make_visible(&format!("hookctl: {text}"))).collect::<Vec<_>>().join("\n")
}

/// One script for each event, in the only directories that its CLI and its extension both read.
static WIRING: Wiring = Wiring {
    programs: &["cline"],
    traces: &[".cline", "Documents/Cline"],
    files: &[
        SettingsPlace::own(Scope::User, "Documents/Cline/Hooks", Form::Scripts(&SCRIPTS)),
        SettingsPlace::own(Scope::Project, ".clinerules/hooks", Form::Scripts(&SCRIPTS)),
    ],
    notes: &["In VS Code, Cline's setting `hooksEnabled` must be on."],
    // Its CLI approves every tool by default.
    headless: Some(Headless {
        args: &["--json", "{prompt}"],
        env: &[],
        subagent: Some("spawn_agent"),
    }),
    ..Wiring::UNKNOWN
};

/// Its CLI takes a program under an event's name for a bash script, so a script it is.
#[cfg(not(windows))]
static SCRIPTS: ScriptForm = ScriptForm {
    extension: "",
    template: "#!/bin/sh\n# managed-by: hookctl (do not edit; remove with `{uninstall}`)\nexec {command}\n",
    shell: Shell::Posix,
};

/// PowerShell hands its own standard input to what it calls.
#[cfg(windows)]
static SCRIPTS: ScriptForm = ScriptForm {
    extension: ".ps1",
    template: "# managed-by: hookctl (do not edit; remove with `{uninstall}`)\r\n& {command}\r\nexit $LASTEXITCODE\r\n",
    shell: Shell::PowerShell,
};
