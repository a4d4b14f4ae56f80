//! What a command that does something tells of it: lines for people as they come, or one JSON object at its end.
//!
//! The one owner of that object. Its keys are stable: `command`, `ok`, `exit_status`, `dry_run`, `messages`, and
//! beside them what the command itself has to say.

use anyhow::Result;
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::args::{Cli, CliCommand};
use super::{Exit, print, print_json, print_stderr};

/// Of what weight a message is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Level {
    /// It failed.
    Error,
    /// hookctl would not.
    Refused,
    /// Done, and something may keep it from working.
    Warning,
    /// Worth knowing.
    Note,
}

impl Level {
    fn name(self) -> &'static str {
        match self {
            Level::Error => "error",
            Level::Refused => "refused",
            Level::Warning => "warning",
            Level::Note => "note",
        }
    }
}

/// One message, without its level in the text.
#[derive(Debug, Serialize)]
struct Message {
    level: Level,
    text: String,
}

/// What is told of one run of a command.
#[derive(Debug)]
pub(super) struct Report {
    command: &'static str,
    json: bool,
    dry_run: bool,
    messages: Vec<Message>,
    facts: Map<String, Value>,
}

impl Report {
    /// The report of that command line; of a command that tells in its own way, one that only says errors.
    pub(super) fn of_command(cli: &Cli) -> Report {
        let (command, json, dry_run) = match &cli.command {
            Some(CliCommand::Install(args)) => ("install", args.json, args.dry_run),
            Some(CliCommand::Uninstall(args)) => ("uninstall", args.json, args.dry_run),
            Some(CliCommand::Migrate(args)) => ("migrate", args.json, args.dry_run),
            Some(CliCommand::Events(args)) => ("events", args.json, args.dry_run),
            Some(CliCommand::Init(args)) => ("init", args.json, false),
            Some(CliCommand::Ping(args)) => ("ping", args.json, false),
            Some(CliCommand::Flush(args)) => ("flush", args.json, false),
            Some(CliCommand::Bundle(args)) => ("bundle", args.json, false),
            Some(CliCommand::Pause(args)) => ("pause", args.json, false),
            Some(CliCommand::Resume(args)) => ("resume", args.json, false),
            Some(CliCommand::Upgrade(args)) => ("upgrade", args.json, false),
            Some(CliCommand::Report(args)) => ("report", args.json, false),
            Some(CliCommand::Trust(args)) if !args.list => ("trust", args.json, false),
            Some(CliCommand::Memory(args)) if args.edits() => ("memory", args.json, false),
            _ => ("", false, false),
        };
        Report { command, json, dry_run, messages: Vec::new(), facts: Map::new() }
    }

    /// Is it JSON that is wanted? Then nobody is asked on standard output.
    pub(super) fn is_json(&self) -> bool {
        self.json
    }

    /// Text for people on standard output.
    ///
    /// # Errors
    /// As for [`print()`].
    pub(super) fn tell(&self, text: &str) -> Result<()> {
        if !self.json {
            print(text)?;
        }
        Ok(())
    }

    /// A message: on standard error for people.
    pub(super) fn say(&mut self, level: Level, text: impl Into<String>) {
        let text = text.into();
        if !self.json {
            print_stderr(&format!("{}: {text}", level.name()));
        }
        self.messages.push(Message { level, text });
    }

    /// A refusal, and what the command ends with.
    pub(super) fn refuse(&mut self, why: impl Into<String>) -> Exit {
        self.say(Level::Refused, why);
        Exit::Found
    }

    /// A refusal that people have read already, where they were asked.
    pub(super) fn refuse_silently(&mut self, why: impl Into<String>) -> Exit {
        self.messages.push(Message { level: Level::Refused, text: why.into() });
        Exit::Found
    }

    /// A note that people read elsewhere.
    pub(super) fn note_silently(&mut self, text: impl Into<String>) {
        self.messages.push(Message { level: Level::Note, text: text.into() });
    }

    /// What a program reads under that key.
    pub(super) fn set(&mut self, key: &str, value: impl Into<Value>) {
        self.facts.insert(key.into(), value.into());
    }

    /// One more item of the list under that key.
    pub(super) fn push(&mut self, key: &str, item: Value) {
        let list = self.facts.entry(key).or_insert_with(|| json!([]));
        if let Value::Array(items) = list {
            items.push(item);
        }
    }

    /// Says what failed, prints the object where one is wanted, and gives what the process ends with.
    pub(super) fn finish(mut self, ended: Result<Exit>) -> Exit {
        let exit = ended.unwrap_or_else(|error| {
            self.say(Level::Error, format!("{error:#}"));
            Exit::Failed
        });
        if !self.json {
            return exit;
        }
        let mut whole = json!({
            "command": self.command,
            "ok": exit == Exit::Ok,
            "exit_status": exit as u8,
            "dry_run": self.dry_run,
            "messages": self.messages,
        });
        if let Value::Object(whole) = &mut whole {
            whole.extend(self.facts);
        }
        match print_json(&whole) {
            Ok(_) => exit,
            Err(error) => {
                print_stderr(&format!("error: {error:#}"));
                Exit::Failed
            }
        }
    }
}
