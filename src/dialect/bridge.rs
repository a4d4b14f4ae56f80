//! The event bridge of agent-hooks: every event as the agent sent it to a listener on this machine, and
//! into a file where none takes it, which `remote::bridge` sees to. Nothing comes back.

use super::{Defaults, Dialect, Facts, Request, Rival, SettingKey, Settings, Takes};

mod cline;
pub mod json;

/// The protocol.
pub struct Bridge;

/// Where its files are.
pub const DIR: SettingKey = SettingKey {
    name: "dir",
    doc: "bridge: the directory of the files for what its listener does not take",
    takes: Takes::Path,
};

/// The port of its listener.
pub const PORT: u16 = 3043;

/// The npm package, whose hooks do the same.
pub static PACKAGE: Rival = Rival {
    name: "agent-hooks",
    remote: Some("[remote.bridge]\ndialect = \"bridge\"\nevents = \"*\"\n"),
    twice: "every event would be posted twice",
    marks: &["agent-hooks", "claude-hook.cjs"],
    told: None,
    group_key: None,
};

/// Where the events of one agent go.
pub struct Route {
    /// The agent's id.
    pub agent: &'static str,
    /// What the listener calls them, which is what their files are called after.
    pub name: &'static str,
    /// Where these are below the home directory.
    pub dir: &'static str,
}

/// All of them.
pub const ROUTES: &[Route] = &[
    Route { agent: "claude", name: "claude-hook", dir: ".a24z/hooks" },
    Route { agent: "cline", name: "cline-hook", dir: ".cline/hook-events" },
    Route { agent: "gemini", name: "gemini-hook", dir: ".a24z/hooks" },
    Route { agent: "opencode", name: "opencode-hook", dir: ".a24z/hooks" },
    Route { agent: "droid", name: "droid-hook", dir: ".a24z/hooks" },
];

/// Why nothing is tried again.
const FILED: &str = "what a bridge does not take goes into its file";

static FACTS: Facts = Facts {
    names: &["bridge"],
    keys: &[DIR],
    defaults: Defaults { retries: 0, ..Defaults::SLOW },
    lacks: &[("retry_count", FILED), ("retry_delay_ms", FILED)],
    port: Some(PORT),
    keeps_files: true,
    rival: Some(&PACKAGE),
    is_own: true,
    ..Facts::TOLD
};

impl Dialect for Bridge {
    fn facts(&self) -> &'static Facts {
        &FACTS
    }

    fn page_of(&self, agent: &str) -> Option<String> {
        Some(format!("/{}", agent_route(agent).name))
    }

    fn body(&self, request: &Request, _: &Settings) -> Vec<u8> {
        // Of one agent the listener wants more than that sends.
        let native =
            (request.event.agent == "cline").then(|| cline::complete_event(&request.bytes));
        native.flatten().unwrap_or_else(|| request.bytes.clone())
    }
}

/// Of an agent that the listener knows nothing of, its events are of the first.
pub fn agent_route(agent: &str) -> &'static Route {
    ROUTES.iter().find(|route| route.agent == agent).unwrap_or(&ROUTES[0])
}

/// The agent whose hook has that name: `claude-hook`.
pub fn agent_of(hook: &str) -> Option<&'static str> {
    ROUTES.iter().find(|route| route.name == hook).map(|route| route.agent)
}

/// That agent, where the listener knows it.
pub fn known_agent(agent: &str) -> Option<&'static str> {
    Some(agent_route(agent).agent).filter(|known| *known == agent)
}
