//! Whose a secret is, and what it means that it leaves for a host.

use super::super::Grade;
use super::leave::Road;
use super::origin::Origin;
use crate::names::flow::{GENERIC, HOMELESS, OWNERS};

/// What it is that a secret leaves there; None where it may.
pub(super) fn judge(
    origin: &Origin,
    host: Option<&str>,
    road: Road,
    login: bool,
) -> Option<(&'static str, Grade)> {
    const SEND: &str = "secret.send";
    const LEND: &str = "secret.lend";
    const SHOW: &str = "secret.show";
    if !origin.may_be_secret() {
        return None;
    }
    if road == Road::Shown {
        return (!login).then_some((SHOW, Grade::Certain));
    }
    let name = match origin {
        Origin::Environment => return Some((SEND, Grade::Certain)),
        Origin::Loaded(_) => return Some((if login { LEND } else { SEND }, Grade::Certain)),
        Origin::File(path) => {
            let key = path.contains("/.ssh/") || path.ends_with(".pem") || path.ends_with(".key");
            return (!login || key).then_some((SEND, Grade::Certain));
        }
        Origin::Variable(name) | Origin::Command(name) => name.to_ascii_lowercase(),
    };
    let words: Vec<&str> = name.split(['_', '-']).filter(|word| word.len() > 1).collect();
    let owner = OWNERS.iter().find(|(own, _)| own.split(' ').any(|own| words.contains(&own)));
    let known = host.map(|host| belongs(host, owner.map(|(_, hosts)| *hosts), &words));
    match known {
        Some(Own::Sure) => return None,
        Some(Own::Likely) if login => return None,
        Some(Own::Likely) => return Some((LEND, Grade::Certain)),
        _ => {}
    }
    let homeless = HOMELESS.iter().any(|own| match own.split_once('_') {
        Some(_) => name.contains(own),
        None => words.contains(own),
    });
    let stored = matches!(origin, Origin::Command(_)) && owner.is_none();
    match (owner.is_some(), login) {
        _ if (homeless || stored) && !login => Some((SEND, Grade::Certain)),
        _ if stored => None,
        (true, false) if host.is_some() || road == Road::Raw => Some((SEND, Grade::Certain)),
        (true, true) if host.is_some() => Some((LEND, Grade::Certain)),
        (true, false) => Some((LEND, Grade::Certain)),
        (true, true) => Some((LEND, Grade::Possible)),
        (false, false) if road == Road::Raw => Some((LEND, Grade::Certain)),
        (false, false) => Some((LEND, Grade::Possible)),
        (false, true) => None,
    }
}

/// How surely a host belongs to the owner of a secret.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Own {
    /// It does.
    Sure,
    /// People run it themselves, and this is how they call it.
    Likely,
    /// Nothing tells of it.
    No,
}

/// Does a host belong to the owner of a secret, or tell of it by its name?
fn belongs(host: &str, hosts: Option<&str>, words: &[&str]) -> Own {
    let below = |end: &str| host == end || host.strip_suffix(end).is_some_and(|r| r.ends_with('.'));
    let Some(hosts) = hosts else {
        let own = |word: &&&str| word.len() > 2 && !GENERIC.contains(*word);
        let named = words.iter().filter(own).any(|word| host.contains(*word));
        return if named { Own::Sure } else { Own::No };
    };
    // At the front, as in `gitlab.corp.example`, and not as in `github.com.example.org`.
    let first = host.split('.').next().unwrap_or_default();
    let forged = hosts.split(' ').any(|own| !own.starts_with('~') && host.contains(own));
    let kept = |own: &str| {
        let name = own.strip_prefix('~');
        !forged && name.is_some_and(|name| name == first || name == "*")
    };
    if hosts.split(' ').any(below) {
        Own::Sure
    } else if hosts.split(' ').any(kept) {
        Own::Likely
    } else {
        Own::No
    }
}
