//! The event bridge of agent-hooks: every event as the agent sent it to a listener on this machine, and
//! into a file where none takes it, which `remote::bridge` sees to. Nothing comes back.

use super::{Defaults, Dialect, Key, Request, Rival, Settings, Takes};

mod cline;
pub mod json;

/// The protocol.
pub struct Bridge;

/// Where its files are.
pub const DIR: Key = Key {
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

impl Dialect for Bridge {
    fn names(&self) -> &'static [&'static str] {
        &["bridge"]
    }

    fn keys(&self) -> &'static [Key] {
        &[DIR]
    }

    /// What it does not take has a file to go to.
    fn defaults(&self) -> Defaults {
        Defaults { retries: 0, ..Defaults::SLOW }
    }

    fn lacks(&self) -> &'static [(&'static str, &'static str)] {
        const WHY: &str = "what a bridge does not take goes into its file";
        &[("retry_count", WHY), ("retry_delay_ms", WHY)]
    }

    fn page_of(&self, agent: &str) -> Option<String> {
        Some(format!("/{}", route(agent).name))
    }

    fn port(&self) -> Option<u16> {
        Some(PORT)
    }

    fn decides(&self) -> bool {
        false
    }

    fn keeps_files(&self) -> bool {
        true
    }

    fn rival(&self) -> Option<&'static Rival> {
        Some(&PACKAGE)
    }

    fn body(&self, request: &Request, _: &Settings) -> Vec<u8> {
        // Of one agent the listener wants more than that sends.
        let native = (request.event.agent == "cline").then(|| cline::native(&request.bytes));
        native.flatten().unwrap_or_else(|| request.bytes.clone())
    }

    fn is_own(&self) -> bool {
        true
    }
}

/// Of an agent that the listener knows nothing of, its events are of the first.
pub fn route(agent: &str) -> &'static Route {
    ROUTES.iter().find(|route| route.agent == agent).unwrap_or(&ROUTES[0])
}

/// The agent whose hook has that name: `claude-hook`.
pub fn agent_of(hook: &str) -> Option<&'static str> {
    ROUTES.iter().find(|route| route.name == hook).map(|route| route.agent)
}

/// That agent, where the listener knows it.
pub fn known(agent: &str) -> Option<&'static str> {
    Some(route(agent).agent).filter(|known| *known == agent)
}
