//! Humans who are not looking: a push of ntfy, or a webhook. What is told is who asks for which tool, never what
//! it is called on: such services are read by others.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Result, bail};
use serde_json::json;
use tokio::sync::Semaphore;

/// How long a service may take.
const TIMEOUT: Duration = Duration::from_secs(5);
/// How many are told at once; what is more is not told.
const AT_ONCE: usize = 8;
/// The longest name in a message, in characters.
const NAME: usize = 60;

/// Is that an address that can be told something? Asked at the start: it may hold a secret, which no log is to have.
///
/// # Errors
/// Where it is none.
pub fn check_address(url: &str) -> Result<()> {
    let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"));
    let is_plain = |c: char| c.is_ascii_graphic();
    if rest
        .is_none_or(|rest| rest.is_empty() || rest.starts_with('/') || !rest.chars().all(is_plain))
    {
        bail!("--ntfy and --webhook take addresses: https://HOST/...");
    }
    Ok(())
}

/// Where humans are told.
#[derive(Debug, Clone)]
pub struct Notifier {
    ntfy: Option<String>,
    webhook: Option<String>,
    turns: Arc<Semaphore>,
}

impl Notifier {
    /// With the addresses of a topic of ntfy, and of anything that takes a POST of JSON.
    pub fn new(ntfy: Option<String>, webhook: Option<String>) -> Notifier {
        Notifier { ntfy, webhook, turns: Arc::new(Semaphore::new(AT_ONCE)) }
    }

    /// Tells them that a question waits. Never waits itself.
    pub fn tell(&self, tool: &str, workspace: &str) {
        let text = message(tool, workspace);
        for (url, is_ntfy) in [(&self.ntfy, true), (&self.webhook, false)] {
            let Some(url) = url.clone() else { continue };
            let Ok(turn) = Arc::clone(&self.turns).try_acquire_owned() else {
                tracing::warn!(
                    "a notification is left out: those before it are still on their way"
                );
                continue;
            };
            let text = text.clone();
            tokio::task::spawn_blocking(move || {
                if let Err(error) = send(&url, &text, is_ntfy) {
                    // The address may hold a secret.
                    tracing::warn!("a notification did not arrive: {error}");
                }
                drop(turn);
            });
        }
    }
}

fn message(tool: &str, workspace: &str) -> String {
    let name = |text: &str| hookctl::cli::one_line(text, NAME);
    match workspace {
        "" => format!("{} needs approval", name(tool)),
        _ => format!("{} in {} needs approval", name(tool), name(workspace)),
    }
}

fn send(url: &str, text: &str, is_ntfy: bool) -> Result<(), ureq::Error> {
    let agent = ureq::Agent::new_with_config(
        ureq::Agent::config_builder().timeout_global(Some(TIMEOUT)).max_redirects(0).build(),
    );
    if is_ntfy {
        let request = agent.post(url).header("Title", "hookctl").header("Tags", "question");
        return request.send(text).map(drop);
    }
    let body = json!({ "title": "hookctl", "text": text, "message": text }).to_string();
    agent.post(url).header("Content-Type", "application/json").send(&body).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s0_53_the_message_names_tool_and_project() {
        assert_eq!(message("Bash", "project"), "Bash in project needs approval");
        assert_eq!(message("Bash", ""), "Bash needs approval");
        assert_eq!(message("B\n\u{202e}", "p\r\nX: y").lines().count(), 1);
    }
}
