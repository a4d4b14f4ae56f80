//! The protocols by name, and what each means where a file does not say otherwise.

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
    /// One text or JSON body for each decision; nothing comes back.
    Webhook,
    /// Decisions as OpenTelemetry logs; nothing comes back.
    Otlp,
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
        ("webhook", Dialect::Webhook),
        ("otlp", Dialect::Otlp),
    ];

    /// Is it asked for its decision? Else it is told of decisions, afterwards.
    pub fn decides(self) -> bool {
        !matches!(self, Dialect::Webhook | Dialect::Otlp)
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
            Dialect::Webhook | Dialect::Otlp => Defaults { retries: 1, delay: 500, ..slow },
        }
    }
}
