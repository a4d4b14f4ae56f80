//! Who prints what a program prints: nobody knows a stranger's text, a local program's is its own.

use super::super::Walker;
use super::super::state::Key;
use crate::effect::program::table;
use crate::effect::value::{Printer, Spot, Value};
use crate::effect::{Extent, Word};

/// Programs that print settings for the shell that evaluates them, and the words that make them do so.
const SETTINGS: &[(&str, &[&str])] = &[
    ("aws_completer", &[]),
    ("brew", &["shellenv"]),
    ("conda", &["shell.bash", "shell.zsh", "shell.posix"]),
    ("dircolors", &[]),
    ("direnv", &["hook", "export"]),
    ("docker", &["completion"]),
    ("docker-machine", &["env"]),
    ("fnm", &["env", "completions"]),
    ("fzf", &["--bash", "--zsh"]),
    ("getopt", &[]),
    ("gh", &["completion"]),
    ("gpg-agent", &[]),
    ("helm", &["completion"]),
    ("jenv", &["init"]),
    ("keychain", &[]),
    ("kubectl", &["completion"]),
    ("lesspipe", &[]),
    ("lesspipe.sh", &[]),
    ("luarocks", &["path"]),
    ("micromamba", &["shell"]),
    ("minikube", &["docker-env", "podman-env", "completion"]),
    ("mise", &["activate", "env", "hook-env"]),
    ("nodenv", &["init"]),
    ("npm", &["completion"]),
    ("opam", &["env", "config"]),
    ("pip", &["completion"]),
    ("poetry", &["env"]),
    ("pyenv", &["init", "virtualenv-init"]),
    ("rbenv", &["init"]),
    ("resize", &[]),
    ("rustup", &["completions"]),
    ("ssh-agent", &[]),
    ("starship", &["init"]),
    ("tset", &[]),
    ("thefuck", &["--alias"]),
    ("zoxide", &["init"]),
];

/// Programs that fetch, decode or compute text: what comes out nobody has read.
const STRANGERS: &[&str] = &[
    "aria2c", "curl", "fetch", "ftp", "http", "https", "lynx", "w3m", "wget", "xh", "awk",
    "base32", "base64", "bunzip2", "bzcat", "deno", "gawk", "gpg", "gunzip", "gzip", "lz4",
    "lz4cat", "mawk", "nc", "ncat", "netcat", "node", "openssl", "perl", "php", "python",
    "python3", "rev", "ruby", "scp", "sed", "socat", "ssh", "tar", "tr", "unxz", "unzip",
    "uudecode", "xxd", "xz", "xzcat", "zcat", "zstd", "zstdcat", "docker", "kubectl", "strings",
    "dd", "aws", "gsutil", "gh", "git", "bash", "sh", "zsh", "dash", "eval", "od", "hexdump", "jq",
    "yq",
];

impl Walker<'_> {
    /// Who prints what a program prints.
    pub(super) fn printer(&mut self, words: &[Value]) -> Printer {
        let Some(name) = words.first().and_then(Value::plain) else { return Printer::Stranger };
        let name = name.rsplit('/').next().unwrap_or_default();
        let args = &words[1..];
        let mut by = args.iter().map(|a| a.by).max().unwrap_or_default();
        let settings = SETTINGS.iter().any(|(program, subs)| {
            *program == name
                && (subs.is_empty()
                    || args.iter().any(|a| a.plain().is_some_and(|t| subs.contains(&t))))
        });
        let function = self.state.flag(&Key::Function(name.to_string()));
        // A program of that name that lies elsewhere is another.
        let word = words[0].start();
        let own = !word.contains('/')
            || ["/usr/", "/bin/", "/opt/", "/home/linuxbrew/"].iter().any(|d| word.starts_with(d))
            || word.starts_with(&format!("{}/.", self.out.place.home));
        if settings && own && !function {
            return Printer::Settings;
        }
        let stranger = STRANGERS.contains(&name)
            || table::program(name, self.out.place.programs)
                .is_some_and(|p| p.effects.contains(&Word::Network));
        by = by.max(match name {
            _ if stranger => Printer::Stranger,
            "echo" | "printf" | "true" | ":" => Printer::Nobody,
            // A filter without files says nothing of its own.
            "cat" | "head" | "tail" | "sort" | "uniq" | "cut" | "tac" | "tee" | "xargs"
                if !args.iter().any(|a| !a.start().starts_with('-') || a.text.is_none()) =>
            {
                Printer::Nobody
            }
            "grep" if args.iter().filter(|a| !a.start().starts_with('-')).count() == 1 => {
                Printer::Nobody
            }
            "cat" | "head" | "tail" | "grep" | "sort" | "uniq" | "cut" => {
                let strange = args.iter().any(|a| a.text.is_some() && self.was_written(a));
                if strange { Printer::Stranger } else { Printer::File }
            }
            _ => Printer::Local,
        });
        by
    }

    /// Has the call itself written that file, and nobody knows what?
    fn was_written(&mut self, file: &Value) -> bool {
        matches!(self.out.spot(file, Extent::Exact, false),
            Spot::At(target) if self.out.written.get(&target.resolved) == Some(&None))
    }
}
