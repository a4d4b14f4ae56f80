//! What is the project's own elsewhere: its git remotes and the registries that packages come from; and what is a
//! person's own on this machine, outside of the project.

use std::path::Path;

use super::host::host_of;
use super::path::split;
use super::value::Value;
use super::{Analysis, Arg, Effect, Place, SubCommand, Target, Word, secret, windows};
use crate::files;
use crate::glob;
use crate::limits;
use crate::names::private::{ALWAYS, TOOLS};
use crate::names::project::{ELSEWHERE, MOVING, OWN, REGISTRIES, SETTINGS, TAKERS};

/// In a list of hosts: those of the project's own remotes and registries.
pub const PROJECT: &str = "@project";

/// Is the effect on a host of the project's own, and is that all that its command contacts? Where none is named, by what the
/// command means then.
pub fn is_project_host(effect: &Effect, analysis: &Analysis, place: &Place) -> bool {
    let read = || remote_hosts(place);
    let now;
    let (hosts, same) = match &place.session {
        Some(session) => session.project_hosts(read),
        None => {
            now = read();
            (now.as_slice(), true)
        }
    };
    let is_own = |host: &str| {
        let bare = ["api.", "ssh.", "uploads."].iter().find_map(|own| host.strip_prefix(own));
        let is = |own: &String| own == host || Some(own.as_str()) == bare;
        REGISTRIES.contains(&host) || hosts.iter().any(is)
    };
    let command = effect.command.and_then(|at| analysis.commands.get(at));
    // What a host is told to be another one by (`--connect-to`) is contacted as well.
    let beside = |other: &Effect| {
        other.command == effect.command
            && matches!(other.word, Word::Network | Word::Send)
            && other.host != effect.host
            && !other.host.as_deref().is_some_and(is_own)
    };
    if command.is_some() && analysis.effects.iter().any(beside) {
        return false;
    }
    match (&effect.host, command) {
        (Some(host), _) => is_own(host),
        (None, None) => false,
        (None, Some(command)) => {
            let by_remote = matches!(command.name.as_str(), "git" | "gh" | "glab");
            (!by_remote || same && !hosts.is_empty())
                && means_own(command, place)
                && !is_moved(analysis, place)
        }
    }
}

/// Does the command go to the project's own remote or registry of itself?
fn means_own(command: &SubCommand, place: &Place) -> bool {
    let first = command.operands.first().and_then(|at| command.args.get(*at)?.text.as_deref());
    let named = |own: &&&str| {
        own.split_once(' ').is_some_and(|(name, word)| name == command.name && Some(word) == first)
    };
    let mut operands = command.operands.iter().skip(1).map(|at| command.args.get(*at));
    let plain = |arg: Option<&Arg>| {
        let text = arg.and_then(|arg| arg.text.as_deref()).filter(|text| !text.contains(':'));
        text.is_some_and(|text| text.starts_with('@') || !text.contains('/'))
    };
    let takes = TAKERS.iter().any(|own| named(&own)) && operands.all(plain);
    (takes || OWN.iter().any(|own| named(&own)))
        && command.genuine
        && command.dir.as_ref().is_some_and(|dir| is_of_project(Path::new(dir), place))
        && !command.options.iter().any(|opt| ELSEWHERE.contains(&opt.name.as_str()))
}

/// Does the directory lie in the project's own repository, and in none of its own within that?
fn is_of_project(dir: &Path, place: &Place) -> bool {
    let project = Path::new(&place.project);
    if dir == project {
        return true;
    }
    let (Ok(dir), Ok(project)) = (files::real_path(dir), files::real_path(project)) else {
        return false;
    };
    let mut above = dir.ancestors().take_while(|dir| *dir != project);
    dir.starts_with(&project) && !above.any(|dir| dir.join(".git").symlink_metadata().is_ok())
}

/// Does the call itself make another place of what a remote's name means, or could it?
fn is_moved(analysis: &Analysis, place: &Place) -> bool {
    let moves = |command: &SubCommand| {
        let text = |at: &usize| command.args.get(*at).and_then(|arg| arg.text.as_deref());
        command.name.is_empty()
            || command.name == "git"
                && command
                    .operands
                    .first()
                    .is_some_and(|at| text(at).is_none_or(|word| MOVING.contains(&word)))
    };
    let below = format!("{}/.git", place.project);
    let settings = |path: &str| {
        path.starts_with(&below) || split(path).1 == ".gitconfig" || path.contains("/git/config")
    };
    let writes = |effect: &Effect| {
        effect.word == Word::Write
            && effect
                .path
                .as_ref()
                .is_none_or(|target| settings(&target.lexical) || settings(&target.resolved))
    };
    !analysis.environment.is_empty()
        || analysis.commands.iter().any(moves)
        || analysis.effects.iter().any(writes)
}

/// The hosts of the remotes of the project's repository, as its own configuration has them.
pub fn remote_hosts(place: &Place) -> Vec<String> {
    let Some(read) = place.read else { return Vec::new() };
    let text = |path: &Path| String::from_utf8(read(path, limits::REPOSITORY_CONFIG).ok()?).ok();
    let git = Path::new(&place.project).join(".git");
    let config = text(&git.join("config")).or_else(|| {
        // Of a work tree or a submodule it lies elsewhere.
        let link = text(&git)?;
        let dir = Path::new(&place.project).join(link.trim().strip_prefix("gitdir:")?.trim());
        let common = text(&dir.join("commondir")).map(|common| dir.join(common.trim()));
        text(&common.unwrap_or(dir).join("config"))
    });
    let mut hosts: Vec<String> = Vec::new();
    for line in config.iter().flat_map(|text| text.lines()) {
        let Some(place) = place_of(line.trim()) else { continue };
        if hosts.contains(&place) || !limits::spend_steps(16) {
            continue;
        }
        hosts.push(place);
    }
    hosts
}

/// What a line of a git configuration says of where pushes go: the host of an address, or another file that says more.
fn place_of(line: &str) -> Option<String> {
    let url = match line.strip_prefix("[url \"") {
        Some(section) => section.split('"').next()?,
        None => {
            let (key, value) = line.split_once('=')?;
            let value = value.trim().trim_matches('"');
            let is = |own: &&str| key.trim().eq_ignore_ascii_case(own);
            if is(&"path") {
                return Some(value.to_string());
            }
            SETTINGS.iter().any(is).then_some(value)?
        }
    };
    // Where a remote's address is none of a host, it is a directory of this machine, or another remote's name.
    host_of(&Value::known(url, 0..0)).filter(|_| url.contains([':', '@']))
}

/// Is the path a secret's, or a person's own outside of the project?
pub fn is_private(target: &Target, place: &Place) -> bool {
    let wide = target.extent.is_wide();
    let forms = [&target.lexical, &target.resolved].into_iter();
    let mut forms = forms.take(1 + usize::from(target.lexical != target.resolved));
    forms.any(|path| {
        // With all that lies below the home or above it, what is private there.
        wide && Path::new(&place.home).starts_with(path) || is_private_path(path, wide, place)
    })
}

fn is_private_path(path: &str, wide: bool, place: &Place) -> bool {
    if secret::is_file(path) {
        return true;
    }
    let below = |base: &str| {
        let rest = path.strip_prefix(base.trim_end_matches('/'))?;
        rest.strip_prefix('/').or(Some("").filter(|_| rest.is_empty()))
    };
    let Some(rest) = below(&place.home) else {
        return is_another_home(path) && below(&place.project).is_none();
    };
    if is_one_of(rest, ALWAYS) {
        // The public half of a key is made to be given away.
        return !rest.ends_with(".pub");
    }
    let first = rest.split('/').next().unwrap_or_default();
    // A name alone is a directory's, which holds no more than names.
    (rest.contains(['/', '.']) || wide)
        && below(&place.project).is_none()
        && !first.starts_with('.')
        && !TOOLS.contains(&first)
}

/// Does it lie in another person's home?
fn is_another_home(path: &str) -> bool {
    let (_, path) = windows::split_drive(path);
    let homes = ["/home/", "/Users/"].iter().find_map(|homes| path.strip_prefix(homes));
    homes.is_some_and(|rest| rest.contains('/') && !rest.starts_with("Shared/"))
}

/// Is it one of those files and directories, or below one? `?` stands for a blank.
fn is_one_of(rest: &str, places: &[&str]) -> bool {
    let is = |place: &&str| {
        let head = rest
            .get(..place.len())
            .filter(|_| matches!(rest.as_bytes().get(place.len()), None | Some(b'/')));
        head.is_some_and(|head| head == *place || place.contains('?') && glob::matches(place, head))
    };
    places.iter().any(is)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::effect::Extent;

    fn place() -> Place {
        Place { home: "/home/dev".into(), project: "/home/dev/src/p".into(), ..Place::default() }
    }

    #[test]
    fn what_is_private() {
        let place = place();
        let is = |path: &str| {
            let target =
                Target { lexical: path.into(), resolved: path.into(), extent: Extent::Exact };
            is_private(&target, &place)
        };
        for path in [
            "/home/dev/.ssh/config",
            "/home/dev/.ssh",
            "/home/dev/.aws/config",
            "/home/dev/Documents/taxes.pdf",
            "/home/dev/src/other/plan.md",
            "/home/dev/notes.txt",
            "/home/dev/.mozilla/firefox/x/places.sqlite",
            "/home/dev/Library/Application Support/Firefox/x",
            "/home/eve/notes.txt",
            "/home/dev/src/p/.env",
            "/etc/x/secrets.yaml",
        ] {
            assert!(is(path), "{path}");
        }
        for path in [
            "/home/dev/src/p/src/main.rs",
            "/home/dev/src/p",
            "/home/dev/.cargo/registry/src/x/lib.rs",
            "/home/dev/.config/nvim/init.lua",
            "/home/dev/go/pkg/mod/x/y.go",
            "/home/dev",
            "/home/dev/src",
            "/usr/include/stdio.h",
            "/tmp/x",
            "/home/dev/.sshd/x",
            "/home/dev/.ssh/id_ed25519.pub",
        ] {
            assert!(!is(path), "{path}");
        }
    }

    #[test]
    fn places_of_a_configuration() {
        for (line, place) in [
            ("url = git@github.com:me/x.git", Some("github.com")),
            ("pushurl=https://a.example/x", Some("a.example")),
            ("[url \"https://b.example/\"]", Some("b.example")),
            ("pushRemote = https://c.example/x", Some("c.example")),
            ("remote = origin", None),
            ("path = ../more", Some("../more")),
            ("fetch = +refs/heads/*:refs/remotes/origin/*", None),
            ("[remote \"origin\"]", None),
        ] {
            assert_eq!(place_of(line).as_deref(), place, "{line}");
        }
    }
}
