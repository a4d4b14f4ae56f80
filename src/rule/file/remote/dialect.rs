//! The protocols by name, and what each means where a file does not say otherwise.

use crate::event::Kind;

/// What a server speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Dialect {
    /// The Claude Hooks Server Protocol 1.0.
    #[default]
    HooksServer,
    /// The same, with the bytes of its first client.
    CchdV1,
    /// The same answers, asked for in the CloudEvents envelope of its later clients.
    CloudEvents,
    /// What Claude Code's own `http` hooks speak.
    ClaudeHttp,
    /// Open Policy Agent's Data API.
    Opa,
    /// cdev: a human at a phone decides about calls, and is told of what else happens.
    Cdev,
    /// One text or JSON body for each decision; nothing comes back.
    Webhook,
    /// Decisions as OpenTelemetry logs; nothing comes back.
    Otlp,
    /// The event bridge of agent-hooks: events as they came; nothing comes back.
    Bridge,
}

/// What holds where a file does not say otherwise; times in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Defaults {
    /// One attempt.
    pub timeout: u64,
    /// Retries after the first attempt.
    pub retries: u32,
    /// The pause before each.
    pub delay: u64,
    /// Everything together.
    pub deadline: u64,
    /// What cannot be asked goes on.
    pub fail_open: bool,
}

impl Dialect {
    /// Every name of every protocol.
    pub const NAMES: &[(&str, Dialect)] = &[
        ("hooks-server", Dialect::HooksServer),
        ("cchd-v1", Dialect::CchdV1),
        ("cloudevents", Dialect::CloudEvents),
        ("claude-http", Dialect::ClaudeHttp),
        ("raw", Dialect::ClaudeHttp),
        ("opa", Dialect::Opa),
        ("cdev", Dialect::Cdev),
        ("webhook", Dialect::Webhook),
        ("otlp", Dialect::Otlp),
        ("bridge", Dialect::Bridge),
    ];

    /// Is it asked for its decision? Else it is told of decisions, afterwards.
    pub fn decides(self) -> bool {
        !matches!(self, Dialect::Webhook | Dialect::Otlp | Dialect::Bridge)
    }

    /// Is it asked about events of this kind?
    pub fn asks(self, kind: Kind) -> bool {
        self.decides() && (self != Dialect::Cdev || kind.is_gate())
    }

    /// Is it told of events of this kind, for nothing but its `events`, or a rule, wants it?
    pub fn tells(self, kind: Kind) -> bool {
        match self {
            Dialect::Cdev => matches!(
                kind,
                Kind::SessionStart
                    | Kind::Notification
                    | Kind::PostToolUse
                    | Kind::PostToolUseFailure
            ),
            _ => !self.decides(),
        }
    }

    /// Is what it is told of use only at once? Then nothing is kept for it.
    pub fn is_live(self) -> bool {
        self == Dialect::Cdev
    }

    /// Does a human answer there, whatever the file says?
    pub fn is_human(self) -> bool {
        self == Dialect::Cdev
    }

    /// Does it answer from a memory of its own, which its answers do not tell?
    pub fn remembers(self) -> bool {
        self == Dialect::Cdev
    }

    /// What is asked for where an address names no path.
    pub fn path(self) -> Option<&'static str> {
        match self {
            Dialect::Opa => Some("/v1/data/hookctl/decision"),
            Dialect::Otlp => Some("/v1/logs"),
            _ => None,
        }
    }

    /// What holds where a file does not say otherwise.
    pub fn defaults(self) -> Defaults {
        let slow = Defaults {
            timeout: 5_000,
            retries: 3,
            delay: 1_000,
            deadline: 25_000,
            fail_open: true,
        };
        match self {
            Dialect::HooksServer | Dialect::CchdV1 | Dialect::ClaudeHttp => slow,
            // As its own clients have it.
            Dialect::CloudEvents => Defaults { retries: 2, fail_open: false, ..slow },
            // A daemon on this machine answers within milliseconds.
            Dialect::Opa => Defaults { timeout: 500, retries: 1, delay: 50, ..slow },
            // It answers by itself after 60 s. A question that is asked twice cannot be answered.
            Dialect::Cdev => {
                Defaults { timeout: 65_000, retries: 0, delay: 0, deadline: 66_000, ..slow }
            }
            // What it does not take has a file to go to.
            Dialect::Bridge => Defaults { retries: 0, ..slow },
            Dialect::Webhook | Dialect::Otlp => Defaults { retries: 1, delay: 500, ..slow },
        }
    }
}
