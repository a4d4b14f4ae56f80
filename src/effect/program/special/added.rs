//! What a call installs: each package with its name and where it comes from.

use super::lookalike;
use crate::effect::emitter::Emitter;
use crate::effect::program::effects::{Call, has_effect};
use crate::effect::program::options::ParsedOption;
use crate::effect::value::Value;
use crate::effect::{Grade, Origin, Package, Source, Word};
use crate::limits;
use crate::names::added::{
    ARCHIVES, BUILT_IN, CHANNELS, HOSTED, LISTS, LOCAL, MANIFESTS, OFFICIAL, OTHERS, REGISTRIES,
};

/// A package is added to a project or to the machine.
pub const ADD: Word = Word::Named("package.add");
/// Its name looks like a much-used one.
const LOOKALIKE: Word = Word::Named("package.lookalike");

/// Where a package's own programs lie.
pub const INSTALLED: &str = "node_modules/.bin/";

/// Does the option say that packages are added: its value, or the operands?
fn adds(option: &ParsedOption) -> bool {
    option.spec.is_some_and(|spec| spec.effect == Some(ADD))
}

/// The packages that the row, its verb or an option says are added.
pub fn emit_added(out: &mut Emitter, call: &Call) {
    let options = || call.parsed.options.iter();
    let operands = has_effect(call, ADD) || options().any(|o| adds(o) && o.value.is_none());
    if call.is_dry_run() || !operands && !options().any(adds) {
        return;
    }
    let channels = registry_of(call.row()) == "conda";
    let index =
        options().any(|o| names_index(o) || channels && names_channel(o)) || sets_index(out);
    for option in options() {
        match &option.value {
            Some(value) if adds(option) => emit_package(out, call.row(), value, index),
            Some(value) if operands && option.is_option("--git") => {
                emit_repository(out, call.row(), value)
            }
            Some(value) if operands && option.is_option("--github") => {
                let address = format!("github:{}", value.known_start());
                emit_repository(out, call.row(), &Value::known(address, value.span.clone()));
            }
            Some(value) if operands && option.is_option("--editable") => {
                // A plain name is a directory.
                match value.text().filter(|text| !text.contains(['/', ':'])) {
                    None => emit_package(out, call.row(), value, false),
                    Some(dir) => {
                        let dir = format!("./{dir}");
                        push(out, ADD, call.row(), value, dir, Origin::Path, None);
                    }
                }
            }
            // Nobody has read which they are.
            Some(list) if operands && LISTS.iter().any(|name| option.is_option(name)) => {
                out.push(ADD, Grade::Certain, Source::Operand, list.span.clone());
            }
            _ => {}
        }
    }
    // `PIP_INDEX_URL=https://x pip install -r requirements.txt`: what the project names comes from there.
    if operands && call.operands().is_empty() && sets_index(out) {
        let named = Value::known("what the project names", call.span.clone());
        push(out, ADD, call.row(), &named, named.known_start().to_string(), Origin::Index, None);
    }
    if operands && !call.has_any(&["--git", "--github"]) {
        call.operands().iter().for_each(|value| emit_package(out, call.row(), value, index));
    }
}

/// Is it an address that packages come from, which is not the registry's own?
fn names_index(option: &ParsedOption) -> bool {
    let address =
        option.value.as_ref().filter(|_| !OTHERS.iter().any(|other| option.is_option(other)));
    address.is_some_and(|value| is_foreign_index(value.known_start()))
}

/// Is it a channel of conda's that not everybody knows?
fn names_channel(option: &ParsedOption) -> bool {
    let unknown = |text: &str| !text.contains("://") && !CHANNELS.contains(&text);
    option.is_option("--channel")
        && option.value.as_ref().is_some_and(|value| value.text().is_none_or(unknown))
}

/// Does that lead to another registry than everybody's?
fn is_foreign_index(address: &str) -> bool {
    let host = address.contains("://").then(|| place(address)).flatten();
    host.is_some_and(|(host, _)| {
        !OFFICIAL.contains(&host.as_str()) && !address.starts_with("file:")
    })
}

/// Does a variable of the call name another registry?
fn sets_index(out: &Emitter) -> bool {
    let set = |(name, value): &(String, Option<String>)| {
        crate::names::added::VARIABLES.contains(&name.as_str())
            && value.as_deref().is_none_or(is_foreign_index)
    };
    out.variables.iter().any(set)
}

/// The host of an address, and whose it is there.
fn place(address: &str) -> Option<(String, String)> {
    let hosted =
        HOSTED.iter().find_map(|(start, host)| Some((*host, address.strip_prefix(start)?)));
    let (host, rest) = match hosted {
        Some(found) => found,
        None => {
            let rest = address.split_once("://").map_or(address, |(_, rest)| rest);
            let authority = rest.find('/').map_or(rest.len(), |slash| slash);
            let from = rest[..authority].rfind('@').map_or(0, |at| at + 1);
            let rest = &rest[from..];
            rest.split_at(rest.find(['/', ':']).unwrap_or(rest.len()))
        }
    };
    let rest = rest.trim_start_matches(|c: char| {
        c == ':' || c == '/' || c.is_ascii_digit() && rest.starts_with(':')
    });
    let owner = rest.split(['/', '?', '#']).next().unwrap_or_default();
    Some((host.to_ascii_lowercase(), owner.to_ascii_lowercase()))
}

/// Is that where the project's own remotes are?
fn is_own(out: &mut Emitter, address: &str) -> bool {
    let Some(there) = place(address).filter(|(_, owner)| !owner.is_empty()) else { return false };
    let config = format!("{}/.git/config", out.place.project);
    let config = out.read_content(&config, 1 << 16).unwrap_or_default();
    let config = String::from_utf8_lossy(&config);
    let mut urls = config.lines().filter_map(|line| line.trim().strip_prefix("url = "));
    urls.any(|url| place(url).is_some_and(|own| own == there))
}

/// What a word that names a package says of it: where it comes from, and the name there.
fn classify<'t>(row: &str, text: &'t str) -> (Origin, &'t str) {
    // `name@file:../x`, `name@owner/repository`: a name of one's own for what lies elsewhere.
    let scope = usize::from(text.starts_with('@'));
    let behind = text[scope..].split_once('@').map(|(_, behind)| behind.trim_start());
    let behind = behind.filter(|behind| !behind.starts_with('~') && !text.contains("://"));
    match behind.map(|behind| classify_plain(row, behind)) {
        Some(elsewhere @ (Origin::Git | Origin::Path, _)) => elsewhere,
        _ => classify_plain(row, text),
    }
}

/// The same where no name of one's own stands before it.
fn classify_plain<'t>(row: &str, text: &'t str) -> (Origin, &'t str) {
    // `name @ https://host/x.whl`, `git+ssh://host/x`, `name@git+https://host/x`.
    if let Some(at) = text.find("://") {
        let from = text[..at].rfind(['@', ' ', '=']).map_or(0, |before| before + 1);
        let (address, scheme) = (&text[from..], &text[from..at]);
        let bare = address.split(['#', '?']).next().unwrap_or(address);
        return match scheme {
            "file" => (Origin::Path, address),
            _ if scheme.starts_with("git") || scheme.contains("ssh") => (Origin::Git, address),
            _ if bare.ends_with(".git") || bare.contains(".git@") => (Origin::Git, address),
            _ => (Origin::Url, address),
        };
    }
    let node = matches!(row.split(' ').next(), Some("npm" | "pnpm" | "yarn" | "bun"));
    let owned = text.split_once('/').is_some_and(|(owner, name)| {
        !owner.is_empty() && !owner.starts_with(['@', '.', '~']) && !name.contains('/')
    });
    if text.starts_with("git@") || HOSTED.iter().any(|(start, _)| text.starts_with(start)) {
        return (Origin::Git, text);
    }
    if text.starts_with(['.', '/', '~'])
        || LOCAL.iter().any(|start| text.starts_with(start))
        || ARCHIVES.iter().any(|end| text.ends_with(end))
    {
        return (Origin::Path, text);
    }
    if node && owned && !text.contains(':') {
        return (Origin::Git, text);
    }
    // `alias@npm:name@1.2`
    let text = text.find("npm:").map_or(text, |at| &text[at + 4..]);
    let text = text.strip_prefix("jsr:").unwrap_or(text);
    let scope = usize::from(text.starts_with('@'));
    let end = text[scope..].find(['@', '=', '<', '>', '~', '!', '[', ';', ' ', ':', '^', ',']);
    (Origin::Registry, end.map_or(text, |end| &text[..scope + end]))
}

/// The registry that a program takes packages from.
fn registry_of(row: &str) -> &'static str {
    let program = row.split(' ').next().unwrap_or_default();
    let found = REGISTRIES.iter().find(|(_, programs)| programs.contains(&program));
    found.map_or("", |(registry, _)| registry)
}

/// What a repository holds is added.
fn emit_repository(out: &mut Emitter, row: &str, value: &Value) {
    let own = value.text().is_some_and(|text| is_own(out, text));
    let origin = if own { Origin::Own } else { Origin::Git };
    push(out, ADD, row, value, value.known_start().to_string(), origin, None);
}

/// One package, for a call of that row.
pub fn emit_package(out: &mut Emitter, row: &str, value: &Value, index: bool) {
    // `requests[socks]`: the brackets of an extra are those of a glob.
    let extra = |text: &str| {
        registry_of(row) == "pypi" && text.ends_with(']') && !text.contains(['*', '?'])
    };
    let Some(text) = value.text().filter(|text| !value.is_glob() || extra(text)) else {
        return out.push(ADD, Grade::Possible, Source::Operand, value.span.clone());
    };
    if text.is_empty() || text.starts_with('-') {
        return;
    }
    let (origin, name) = classify(row, text);
    let origin = match origin {
        Origin::Registry if index => Origin::Index,
        Origin::Git | Origin::Url if is_own(out, &address_of(row, name)) => Origin::Own,
        origin => origin,
    };
    let registry = registry_of(row);
    push(out, ADD, row, value, name.to_string(), origin, None);
    if origin != Origin::Registry || name.is_empty() || is_expected(registry, name) {
        return;
    }
    if let Some(model) = lookalike::find_model(registry, name)
        && !is_of_the_project(out, registry, &[name])
    {
        push(out, LOOKALIKE, row, value, name.to_string(), origin, Some(model));
    }
}

/// npm's `owner/name` is a repository on GitHub.
fn address_of(row: &str, name: &str) -> String {
    match name.contains(':') || !registry_of(row).eq("npm") {
        true => name.to_string(),
        false => format!("github:{name}"),
    }
}

/// Does everybody know it?
fn is_expected(registry: &str, name: &str) -> bool {
    use crate::names::runner::{KNOWN, OWNERS};
    let owner = name.strip_prefix('@').and_then(|scoped| scoped.split_once('/'));
    KNOWN.contains(&name)
        || owner.is_some_and(|(owner, _)| OWNERS.contains(&owner))
        || registry == "npm" && BUILT_IN.contains(&name)
}

fn push(
    out: &mut Emitter,
    word: Word,
    row: &str,
    value: &Value,
    name: String,
    origin: Origin,
    model: Option<String>,
) {
    let package = Package { name, registry: registry_of(row), origin, model };
    out.push_package(word, package, value.span.clone());
}

/// Does the project install it, or name it in what says which packages it has?
pub fn is_of_the_project(out: &mut Emitter, registry: &str, names: &[&str]) -> bool {
    let Some(mut dir) = out.cwd.clone() else { return false };
    let project = out.place.project.clone();
    let files =
        MANIFESTS.iter().find(|(own, _)| *own == registry).map_or(&[][..], |(_, files)| files);
    loop {
        let installed = |name: &&str| {
            let places = ["node_modules/", INSTALLED].map(|at| format!("{dir}/{at}{name}"));
            registry == "npm" && places.iter().any(|place| out.resolver.exists(place))
        };
        if names.iter().any(installed) {
            return true;
        }
        for file in files {
            let manifest =
                out.read_content(&format!("{dir}/{file}"), limits::MANIFEST).unwrap_or_default();
            let text = String::from_utf8_lossy(&manifest);
            if names.iter().any(|name| names_package(&text, name)) {
                return true;
            }
        }
        match dir.rfind('/').filter(|at| *at > 0 && dir != project) {
            Some(at) => dir.truncate(at),
            None => return false,
        }
    }
}

/// Does the name stand there, and not as a part of another?
fn names_package(text: &str, name: &str) -> bool {
    let part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '@');
    text.match_indices(name).any(|(at, _)| {
        // `node_modules/x`, `/x@1.2`, but not the scope before it.
        let before = text[..at].chars().next_back();
        let behind = text[at + name.len()..].chars().next();
        !before.is_some_and(part) && !behind.is_some_and(|c| part(c) && c != '@')
    })
}
