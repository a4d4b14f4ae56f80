//! `hookctl ping`: is a configured server there?

use std::time::Duration;

use anyhow::{Result, bail};

use super::args::PingArgs;
use super::{Context, Exit, print};
use crate::config::Config;
use crate::remote::transport;
use crate::rule::file::Remote;

/// How long a server may take, as for a decision.
const TIMEOUT: Duration = Duration::from_secs(5);

/// Reaches for every address of the server and says what came.
///
/// # Errors
/// Where no such server is configured.
pub fn run(context: &Context, args: &PingArgs) -> Result<Exit> {
    let config = Config::load(&context.paths, &context.root, None);
    // A project's file names no server before a human has trusted it.
    let remotes: Vec<&Remote> =
        config.sources.iter().filter(|s| s.trusted).flat_map(|s| &s.file.remotes).collect();
    let Some(remote) = remotes.iter().find(|remote| remote.name == args.name) else {
        let known: Vec<&str> = remotes.iter().map(|remote| remote.name.as_str()).collect();
        if known.is_empty() {
            bail!("no server is configured: add [remote.{}] with its url", args.name);
        }
        bail!("no server is called `{}`: there are {}", args.name, known.join(", "));
    };
    if remote.urls.is_empty() {
        bail!("[remote.{}] has no url", remote.name);
    }
    let mut exit = Exit::Ok;
    let mut out = String::new();
    for url in &remote.urls {
        match transport::reach(url, TIMEOUT) {
            Ok(reached) => {
                let ms = reached.took.as_millis();
                out.push_str(&format!("{url}  up, HTTP {} after {ms} ms\n", reached.status));
            }
            Err(why) => {
                exit = Exit::Found;
                out.push_str(&format!("{url}  down: {why}\n"));
            }
        }
    }
    print(&out)?;
    Ok(exit)
}
