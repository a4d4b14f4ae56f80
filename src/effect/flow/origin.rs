//! Where a secret comes from, and what its name tells.

use super::super::secret::{is_file, is_variable};
use super::super::{Extent, Target};
use crate::names::secret::{KEYS, PLAIN_KEYS};

/// Where something comes from that may be a secret.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Origin {
    /// A variable of the agent's environment.
    Variable(String),
    /// What a command prints whose words say whose it is.
    Command(String),
    /// All variables.
    Environment,
    /// A file.
    File(String),
    /// Any variable, once the shell has loaded that file.
    Loaded(String),
}

impl Origin {
    pub fn may_be_secret(&self) -> bool {
        match self {
            Origin::Variable(name) => is_secret_name(name),
            Origin::File(path) | Origin::Loaded(path) => is_file(path),
            Origin::Command(_) | Origin::Environment => true,
        }
    }

    pub fn is_file(&self) -> bool {
        matches!(self, Origin::File(_) | Origin::Loaded(_))
    }

    pub fn as_target(&self) -> Target {
        let lexical = self.name();
        Target { resolved: lexical.clone(), lexical, extent: Extent::Exact }
    }

    /// As people are told of it, where a path would stand.
    fn name(&self) -> String {
        match self {
            Origin::Variable(name) => format!("${name}"),
            Origin::Command(name) => format!("$({name} ...)"),
            Origin::Environment => "$environment".into(),
            Origin::File(path) | Origin::Loaded(path) => path.clone(),
        }
    }
}

pub(super) fn file_origin(path: &Target) -> Origin {
    match path.lexical.starts_with("/proc/") && path.lexical.ends_with("/environ") {
        true => Origin::Environment,
        false => Origin::File(path.lexical.clone()),
    }
}

/// A token as the variable that would hold it.
pub(super) fn origin_of_token(token: &str) -> Origin {
    let lead = token.split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default();
    // As long as the shortest head that tells a vendor (`AKIA`, `ghp`).
    let lead = lead.get(..4).unwrap_or(lead);
    Origin::Variable(format!("{}_TOKEN", lead.to_ascii_uppercase()))
}

/// A name in capitals, as those of an environment are.
pub(super) fn is_shouted(name: &str) -> bool {
    name.len() > 2
        && name.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_')
        && !name.as_bytes()[0].is_ascii_digit()
}

/// Does a variable's name tell of a secret, and not of where one lies or who asks?
pub fn is_secret_name(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    let about = ["_path", "_file", "_dir", "_name", "_id", "_region", "_sock", "_proxy", "_author"];
    is_variable(name)
        && !about.iter().any(|end| lower.ends_with(end))
        && !["keyboard", "author_", "xauthority", "keymap", "passed", "bypass", "tokenizer"]
            .iter()
            .any(|part| lower.contains(part))
        && !lower.ends_with("proxy")
        && !is_plain_key(&lower)
}

/// Is it a secret by nothing but `key`, and that is no word of its own (`MONKEY`) or the key of a table or store (`CACHE_KEY`)?
fn is_plain_key(lower: &str) -> bool {
    let mut before = "";
    let mut plain = true;
    for word in lower.split('_') {
        plain &= match word {
            "key" | "keys" => PLAIN_KEYS.contains(&before),
            _ => !word.strip_suffix("key").is_some_and(|kind| KEYS.contains(&kind)),
        };
        before = word;
    }
    plain && !is_variable(&lower.replace("key", ""))
}
