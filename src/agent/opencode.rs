//! OpenCode, which has plugins in the place of hook commands: ours (`plugin.js`) starts hookctl, and both
//! sides of what they say are ours. Observed with opencode-ai 1.18.33.
//!
//! The plugin says what Claude Code would, with OpenCode's tools, and does what the answer says: `decision`
//! and `reason`, `updatedInput` (the complete arguments), `additionalContext`, `updatedToolOutput`,
//! `systemMessage`; nothing where there is nothing to say.

mod tools;

use std::time::Duration;

use serde_json::{Map, Value, json};

use super::fields::{restore_fields, text_field};
use super::fingerprint::{Field, Fingerprint};
use super::reply::{DENY_DECISION, NOTICE};
use super::settled::{Settled, settle_answer};
use super::wiring::{Directory, Form, Headless, PluginForm, Scope, SettingsPlace, Wiring};
use super::{Agent, AgentFacts, EventSpec, FailureForms, Mark, Output, default_agent};
use crate::event::{Event, Kind, Operation};
use crate::verdict::{Answer, Verb};

/// How the line of the plugin begins that says what it starts; a JSON array of texts and nothing else follows. The rest is
/// installed as it is.
pub const COMMAND_LINE: &str = "const COMMAND = ";

/// OpenCode.
pub struct OpenCode;

const ID: &str = "opencode";
/// A throw in the plugin, which is all that stops.
const DENY: &[Verb] = &[Verb::Deny];

const PRE_TOOL: EventSpec = EventSpec::new(Kind::PreToolUse)
    .input("tool_name, tool_input, tool_use_id, mcp_server? (from tool.execute.before)")
    .output(
        "decision deny + reason: the plugin throws; updatedInput: the arguments, complete; additionalContext: kept by \
         the plugin until the tool is done",
    )
    .verbs(DENY)
    .tells()
    .by_default();
/// The same about a tool whose arguments cannot be written anew.
static FIXED: EventSpec = PRE_TOOL;

/// How long the plugin waits where nothing is to be refused before it happens (`SECONDS` there).
const LIMIT: Duration = Duration::from_secs(60);

const fn plugin_spec(kind: Kind) -> EventSpec {
    EventSpec::new(kind).patience(LIMIT)
}

static EVENTS: &[EventSpec] = &[
    PRE_TOOL.rewrites(),
    plugin_spec(Kind::PostToolUse)
        .input("tool_name, tool_input, tool_use_id, tool_response{output, metadata} (from tool.execute.after)")
        .output(
            "decision deny + reason: told in the result's place; updatedToolOutput{output, metadata}; \
             additionalContext: behind the result",
        )
        .verbs(DENY)
        .replaces()
        .tells()
        .by_default(),
    plugin_spec(Kind::UserPromptSubmit)
        .input("prompt (from chat.message)")
        .output(
            "decision deny + reason: the plugin throws, OpenCode shows an error without the reason; additionalContext: \
             behind the prompt",
        )
        .verbs(DENY)
        .tells()
        .by_default(),
    plugin_spec(Kind::SessionStart)
        .input("source startup|resume (before the session's first request to the model)")
        .output("additionalContext: a system message (experimental.chat.system.transform)")
        .tells()
        .by_default(),
    plugin_spec(Kind::SubagentStart)
        .input("agent_id (a session with a parent)")
        .output("additionalContext: a system message")
        .tells(),
    plugin_spec(Kind::Stop)
        .input("nothing more (from session.idle)")
        .output("nothing: plugins only observe the end")
        .by_default(),
    plugin_spec(Kind::SubagentStop)
        .input("agent_id (a session with a parent)")
        .output("nothing: plugins only observe the end"),
    plugin_spec(Kind::PreCompact)
        .input("trigger auto (from experimental.session.compacting)")
        .output("additionalContext: for the summary")
        .tells()
        .by_default(),
];

/// What is known of it.
static FACTS: AgentFacts = AgentFacts {
    id: ID,
    title: "OpenCode",
    events: EVENTS,
    common_input: "agent, hook_event_name, session_id, cwd",
    common_output: "systemMessage",
    tool_names: tools::TOOLS,
    // Nobody can be asked.
    failure: FailureForms { call: DENY_DECISION, rest: NOTICE, silent: &[] },
    sample: r#"{"hook_event_name":"{event}","session_id":"{session}","cwd":"{cwd}","tool_name":"bash","tool_input":{"command":"{command}"},"agent":"opencode"}"#,
    wiring: Some(&WIRING),
    ..AgentFacts::UNKNOWN
};

impl Agent for OpenCode {
    fn facts(&self) -> &'static AgentFacts {
        &FACTS
    }

    fn detect(&self, payload: &Fingerprint) -> Option<Mark> {
        (payload.text(Field::Agent) == ID).then_some(Mark::Strong)
    }

    fn parse(&self, payload: Map<String, Value>, named: Option<&str>) -> Event {
        let mut event = Event { agent: ID, ..default_agent().parse(payload, named) };
        if !event.kind.is_tool() {
            return event;
        }
        let own = text_field(&event.raw, "tool_name").unwrap_or(tools::UNNAMED).to_string();
        let server = text_field(&event.raw, "mcp_server");
        let mut operations = tools::operations(&own, &event.input, server);
        let Operation { tool, input } = operations.remove(0);
        event.native = json!({ "tool": own });
        event.raw.insert("tool_name".into(), tool.as_str().into());
        event.raw.insert("tool_input".into(), input.clone());
        (event.tool, event.input, event.more) = (tool, input, operations);
        event
    }

    fn render(&self, event: &Event, answer: &Answer) -> Output {
        let Some(spec) = self.spec_of(event) else { return Output::default() };
        let settled = settle_answer(spec, answer);
        let mut body = Map::new();
        if settled.refuses() {
            body.insert("decision".into(), "deny".into());
            body.insert("reason".into(), settled.reason.as_str().into());
        }
        if let Some(input) = new_input(event, &settled) {
            body.insert("updatedInput".into(), input.into());
        }
        if let Some(response) = &settled.response {
            body.insert("updatedToolOutput".into(), response.clone());
        }
        for (key, text) in
            [("additionalContext", &settled.context), ("systemMessage", &settled.notice)]
        {
            if !text.is_empty() {
                body.insert(key.into(), text.as_str().into());
            }
        }
        if body.is_empty() {
            return Output::default();
        }
        Output::of_object(body, settled.refuses().then_some(settled.reason))
    }

    fn spec_of(&self, event: &Event) -> Option<&'static EventSpec> {
        let own = own_tool(event).filter(|_| event.kind == Kind::PreToolUse);
        match own.is_some_and(|own| !tools::can_rebuild(own)) {
            true => Some(&FIXED),
            false => self.facts().event_spec(event.kind),
        }
    }
}

fn own_tool(event: &Event) -> Option<&str> {
    event.native.get("tool").and_then(Value::as_str)
}

/// The complete arguments by OpenCode's keys, where a rule changed them: of several readings of one call the
/// first that it changed.
fn new_input(event: &Event, settled: &Settled) -> Option<Map<String, Value>> {
    let first = settled.elements.first().map(|(_, input)| input);
    let mut new = settled.input.as_ref().or(first)?.clone();
    restore_fields(&mut new, tools::keys(own_tool(event)?));
    Some(new)
}

/// A plugin of hookctl's own: it has no other hooks.
static WIRING: Wiring = Wiring {
    programs: &["opencode"],
    traces: &[".config/opencode", ".opencode"],
    directory: Directory { variable: Some(crate::env::XDG_CONFIG_HOME), home: ".config" },
    files: &[
        SettingsPlace::own(
            Scope::User,
            "opencode/plugins/hookctl.js",
            Form::Plugin(&PluginForm { template: "plugin.js", line: COMMAND_LINE }),
        ),
        SettingsPlace::own(
            Scope::Project,
            ".opencode/plugins/hookctl.js",
            Form::Plugin(&PluginForm { template: "plugin.js", line: COMMAND_LINE }),
        ),
    ],
    // Plugins are loaded when it starts (observed).
    rereads: Some(false),
    headless: Some(Headless {
        args: &["run", "{prompt}"],
        env: &[("OPENCODE_PERMISSION", r#"{"bash":{"{command}":"allow"}}"#)],
        subagent: Some("Agent"),
    }),
    ..Wiring::UNKNOWN
};
