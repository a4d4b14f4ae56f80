//! In which place of a request a word stands: where a host knows its callers, the address, or anywhere else.

use super::super::analysis::{Said, Secrets};
use super::super::secret::is_variable;
use super::super::value::{BLANK, Value};
use super::super::{Opt, SubCommand};
use super::Flow;
use super::origin::{Origin, origin_of_token};
use super::printer::begins;
use crate::names::flow::{ADDRESSES, CODES, FEEDERS, LOGINS, PUBLISHERS, SHELLS};
use crate::tokens;

impl Flow {
    /// What a command's words hold, and where.
    pub fn words_said(&self, command: &SubCommand, args: &[Value]) -> Said {
        let mut said = Said::default();
        let name = command.name.as_str();
        for (at, arg) in args.iter().enumerate().filter(|(_, arg)| arg.secrets != 0) {
            let text = arg.text().or(arg.outline()).or(arg.prefix()).unwrap_or_default();
            match spot_at(command, at, text) {
                Spot::Login => said.login |= arg.secrets,
                Spot::Address => {
                    let left = arg.secrets & !self.addresses();
                    said.sent |= if left & !self.loaded == 0 { 0 } else { left };
                }
                Spot::Else => said.sent |= arg.secrets,
            }
        }
        said.sent |= if reads_stdin(name, args) { self.fed } else { 0 };
        said
    }

    /// The same of a program's text on standard input.
    pub fn text_said(&self, text: &str, code: Secrets) -> Said {
        match tells_caller(&text.to_ascii_lowercase()) {
            true => Said { login: code, ..Said::default() },
            false => Said { sent: code, ..Said::default() },
        }
    }

    /// Those that are addresses themselves: `$WEBHOOK_URL`.
    fn addresses(&self) -> Secrets {
        let is_address = |origin: &Origin| match origin {
            Origin::Variable(name) => {
                ADDRESSES.contains(&name.rsplit('_').next().unwrap_or_default())
            }
            Origin::Command(_) | Origin::Environment => true,
            Origin::File(_) | Origin::Loaded(_) => false,
        };
        let bits = self.origins.iter().enumerate().filter(|(_, origin)| is_address(origin));
        bits.fold(0, |all, (bit, _)| all | 1 << bit)
    }
}

/// Is it the value of an option that says who asks?
pub(super) fn is_login(command: &SubCommand, span: &std::ops::Range<usize>) -> bool {
    let at = command.args.iter().position(|arg| arg.span == *span);
    let option = at.and_then(|at| option_at(command, at));
    option.is_some_and(|option| LOGINS.contains(&option))
}

/// The option whose value stands at that place.
fn option_at(command: &SubCommand, at: usize) -> Option<&str> {
    let own = |o: &&Opt| {
        o.at == at || o.at + 1 == at && o.value.is_some() && !command.operands.contains(&at)
    };
    command.options.iter().find(own).map(|option| option.name.as_str())
}

/// Does what stands on its standard input leave with the command?
fn reads_stdin(name: &str, args: &[Value]) -> bool {
    !FEEDERS.contains(&name)
        || args.iter().any(|arg| {
            let text = arg.known_start();
            arg.is_pipe()
                || matches!(text, "-" | "-T-" | "-T.")
                || ["@-", "=-", "<-"].iter().any(|end| text.ends_with(end))
                || ["/dev/stdin", "/dev/fd/0"].iter().any(|own| text.contains(own))
        })
}

enum Spot {
    Login,
    /// The address itself.
    Address,
    Else,
}

/// Where a word stands; what others read later tells no host who asks.
fn spot_at(command: &SubCommand, at: usize, text: &str) -> Spot {
    match place_of(&command.name, option_at(command, at), text) {
        Spot::Login if begins(command, PUBLISHERS).is_some_and(|row| row != "gh api") => Spot::Else,
        spot => spot,
    }
}

/// Does a program's text say who calls?
fn tells_caller(text: &str) -> bool {
    ["authorization", "headers", "auth=", "auth:"].iter().any(|word| text.contains(word))
}

fn place_of(name: &str, option: Option<&str>, text: &str) -> Spot {
    let lower = text.to_ascii_lowercase();
    // `$WEBHOOK_URL`, `https://$HOST/x`: nothing stands before it.
    let rest = lower.split_once("://").map_or(lower.as_str(), |(_, rest)| rest);
    if SHELLS.contains(&name) || name == "git" {
        return Spot::Login;
    }
    if CODES.contains(&name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.')) {
        let login = tells_caller(&lower);
        return if login { Spot::Login } else { Spot::Else };
    }
    let header = |text: &str| {
        let name = text.split_once(':').map_or("", |(name, _)| name);
        is_variable(name) || matches!(name, "apikey" | "x-vault-token")
    };
    match option {
        Some("-H" | "--header" | "--headers") => {
            let text = lower.trim_start_matches("-h").trim_start_matches("--header=");
            if header(text) || text.starts_with(BLANK) { Spot::Login } else { Spot::Else }
        }
        Some(option) if LOGINS.contains(&option) => Spot::Login,
        Some(_) => Spot::Else,
        None if rest.split('/').next().is_some_and(|host| {
            host.split_once('@').is_some_and(|(user, _)| user.contains(BLANK))
        }) && lower.contains("://") =>
        {
            Spot::Login
        }
        None if matches!(name, "http" | "https" | "xh" | "xhs")
            && header(&lower)
            && !lower.contains("://") =>
        {
            Spot::Login
        }
        None if rest.starts_with(BLANK) && !rest.starts_with(&format!("{BLANK}."))
            || lower.is_empty() =>
        {
            Spot::Address
        }
        None => Spot::Else,
    }
}

/// Tokens that stand in a command's words as they are, and whether they say who asks.
pub(super) fn literal_tokens(command: &SubCommand) -> Vec<(Origin, bool)> {
    let mut out = Vec::new();
    for (at, arg) in command.args.iter().enumerate() {
        let Some(text) = arg.text.as_deref() else { continue };
        for token in tokens::named_tokens(text) {
            let masked = text.replacen(token, &BLANK.to_string(), 1);
            let login = matches!(spot_at(command, at, &masked), Spot::Login);
            out.push((origin_of_token(token), login));
        }
    }
    out
}
