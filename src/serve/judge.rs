//! What hookctl itself sees in a call that a human is asked about: its effects, the rules that ask, and what was
//! said of calls like it. All of it takes looks at the disk, so it runs on threads that may wait.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use hookctl::config::{Config, LayerFile};
use hookctl::dialect;
use hookctl::dry::{self, Dry};
use hookctl::effect::{Analysis, Place};
use hookctl::event::Event;
use hookctl::files;
use hookctl::hook;
use hookctl::paths::Paths;
use hookctl::redact;
use hookctl::remote::effects::describe_effects;
use hookctl::remote::memory::{self, AskedCall, RememberedAnswer};
use hookctl::remote::questions::answer_pattern;
use hookctl::rule::Layer;
use hookctl::rule::fault::Gravity;
use hookctl::rule::file::Remote;
use hookctl::verdict::{Answer, Verb};
use serde_json::{Map, Value};

use crate::store::question::Rememberable;

/// The largest file of rules, in bytes.
const LARGEST_RULES: u64 = 1 << 20;

/// How calls are judged.
#[derive(Debug)]
pub struct Judge {
    paths: Paths,
    /// The only rules beside the shipped ones; None = those of the user and the project.
    rules: Option<(PathBuf, String)>,
    /// This server, as the memory knows it.
    remote: Remote,
}

/// A call as it was when the human was asked.
#[derive(Debug)]
pub struct SeenCall {
    event: Event,
    analysis: Analysis,
    place: Place,
    asks: BTreeSet<String>,
    /// Of one with several operations no single pattern says enough.
    is_one: bool,
    /// Its effects, in words.
    pub effects: String,
    /// The rule that asks and why; empty where none does.
    pub rule: String,
    /// Its reason.
    pub why: String,
    /// All that the rules say of it.
    pub answer: Answer,
    /// What an answer for the session would be remembered by; None = such an answer holds once.
    pub pattern: Option<String>,
}

/// What the memory says of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remembered {
    /// Yes or no.
    pub allow: bool,
    /// By what.
    pub pattern: String,
}

impl Judge {
    /// Reads the rules where a file is named.
    ///
    /// # Errors
    /// Where it cannot be read, or has a fault.
    pub fn new(paths: Paths, rules: Option<&Path>) -> Result<Judge> {
        let rules = match rules {
            None => None,
            Some(path) => {
                let text = files::read_text(path, LARGEST_RULES)
                    .map_err(|refusal| anyhow::anyhow!(refusal.describe_for(path)))?;
                let source = LayerFile::from_text(Layer::User, path.into(), text.clone());
                let config = Config::from_source(source);
                if let Some((_, fault)) =
                    config.faults().find(|(_, fault)| fault.gravity == Gravity::Error)
                {
                    bail!("{}: {}: `hookctl check` says more", path.display(), fault.message);
                }
                Some((path.to_path_buf(), text))
            }
        };
        let cdev = dialect::dialect_names().find(|(name, _)| *name == "cdev").map(|(_, one)| one);
        let remote = Remote::new("serve", cdev.unwrap_or(dialect::default_dialect()));
        Ok(Judge { paths, rules, remote })
    }

    /// Judges a call that nobody has answered yet. Nothing is run and nothing written.
    pub fn see(&self, payload: &Map<String, Value>) -> SeenCall {
        let (agent, event) = dry::parse_event(payload.clone(), None);
        let mut place = hook::session_place(&event, &self.paths);
        let config = match &self.rules {
            Some((path, text)) => {
                Config::from_source(LayerFile::from_text(Layer::User, path.clone(), text.clone()))
            }
            None => Config::load_for(&self.paths, &place, None),
        };
        config.complete_place(&mut place);
        let is_one = event.whole_if_split().is_none();
        let dry = Dry::judge((agent, event), place, &config, &self.paths, false);
        let asks =
            dry.judgement.spoke.iter().filter_map(|one| one.strip_suffix(" ask")).map(String::from);
        let answer = &dry.judgement.answer;
        let speaks = answer.verb.is_some_and(|verb| verb != Verb::Allow);
        let mut seen = SeenCall {
            effects: describe_effects(&dry.analysis),
            asks: asks.collect(),
            is_one,
            rule: if speaks { dry.judgement.rule.clone() } else { String::new() },
            why: if speaks {
                redact::mask_secrets(&answer.reason).into_owned()
            } else {
                String::new()
            },
            pattern: None,
            answer: dry.judgement.answer.clone(),
            event: dry.event,
            analysis: dry.analysis,
            place: dry.place,
        };
        seen.pattern =
            is_one.then(|| memory::session_pattern(&self.remote, &seen.asked())).flatten();
        seen
    }

    /// What was said in the session of calls like this.
    pub fn recall(
        &self,
        said: Vec<RememberedAnswer>,
        session: &str,
        seen: &SeenCall,
    ) -> Option<Remembered> {
        if session.is_empty() || !seen.is_one {
            return None;
        }
        let recall = memory::recall_from(said, &self.remote, session, &seen.asked())?;
        Some(Remembered { allow: recall.verb == Verb::Allow, pattern: recall.pattern })
    }

    /// What an answer for the session would be remembered by.
    pub fn rememberable(&self, session: &str, seen: &SeenCall) -> Rememberable {
        let usual = answer_pattern(&seen.event);
        if session.is_empty() || !seen.is_one {
            return Rememberable { usual, ..Rememberable::default() };
        }
        let of = |allow| RememberedAnswer::new(&self.remote, session, &seen.asked(), allow);
        Rememberable { allow: of(true), deny: of(false), usual }
    }
}

impl SeenCall {
    fn asked(&self) -> AskedCall<'_> {
        let SeenCall { event, analysis, place, asks, .. } = self;
        AskedCall { event, analysis, place, asks: asks.clone() }
    }
}

/// Runs that on a thread that may wait; None where it failed.
pub async fn on_thread<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    tokio::task::spawn_blocking(work).await.ok()
}
