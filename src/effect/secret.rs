//! Names that tell of a secret: of files, of settings and of variables.
//!
//! Wider than what the shipped rules stop: reading such a thing is no harm by itself, but an allow on a place, or on a
//! program in general, does not speak of it.

use crate::effect::path::split;
use crate::glob;
use crate::names::secret::{CERTIFICATE, DATA, FILES, KEYS, PARTS, PATTERNS, PLACED, SHOWN, WORDS};

/// Would nobody want to see the value of a variable of that name printed?
pub fn is_variable(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    PARTS.iter().any(|part| name.contains(part))
}

/// The same for a key of a program's settings, of which the last part says what it is.
pub fn is_setting(key: &str) -> bool {
    let last = key.rsplit('.').next().unwrap_or(key);
    is_variable(last) && !last.eq_ignore_ascii_case("signingkey")
}

/// Does the path name a file that may hold secrets? A glob does where it could mean one, and says more than `*`.
pub fn is_file(path: &str) -> bool {
    let path = path.to_ascii_lowercase();
    let (dir, name) = split(path.trim_end_matches('/'));
    if !name.contains(['*', '?', '[']) {
        return is_secret_name(dir, name);
    }
    let said: String = name.chars().filter(|c| *c != '*').collect();
    // Most files are told from it by what stands behind its last sign.
    let end = name.rsplit(['*', '?', '[', ']', '\\']).next().unwrap_or_default();
    let extension = said.strip_prefix('.').is_some_and(|end| DATA.contains(&end));
    is_secret_name(dir, &said)
        || said.contains(|c: char| c.is_ascii_alphanumeric())
            && !extension
            && [FILES, PATTERNS, PLACED].into_iter().flatten().any(|file| {
                if !file.ends_with(end) && !file.contains('*') {
                    return false;
                }
                let file = split(file).1.replace('*', "x");
                glob::matches(name, &file) && is_secret_name(dir, &file)
            })
}

/// The same where the word may as well be a directory or a pattern: `tokens` alone is none.
pub fn is_told(path: &str) -> bool {
    let name = split(path).1;
    name.contains('.') && is_file(path) || FILES.contains(&name)
}

fn is_secret_name(dir: &str, name: &str) -> bool {
    let lies_there = |file: &&str| {
        file.ends_with(name) && {
            let (parent, own) = split(file);
            own == name && split(dir.trim_end_matches('/')).1 == parent
        }
    };
    let words = || name.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let certificate = |word| name.ends_with(".pem") && CERTIFICATE.contains(&word);
    if words().any(|word| SHOWN.contains(&word) || certificate(word)) {
        return false;
    }
    let end =
        name.rsplit_once('.').map_or("", |(stem, end)| if stem.is_empty() { "" } else { end });
    let key = |(first, second): (&str, &str)| second == "key" && KEYS.contains(&first);
    FILES.contains(&name)
        || PATTERNS.iter().any(|pattern| glob::matches(pattern, name))
        || PLACED.iter().any(lies_there)
        || DATA.contains(&end)
            && (words().any(|word| WORDS.contains(&word)) || words().zip(words().skip(1)).any(key))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files() {
        for path in [
            "/p/.env",
            ".env.local",
            "prod.env",
            "config/.npmrc",
            "/p/.git/config",
            ".kube/config",
            "a/.docker/config.json",
            "prod.tfvars",
            "x_history",
            ".bash_history",
            "token.txt",
            "API_KEY.txt",
            "apikey",
            "private-key",
            "keys.txt",
            "appsettings.Production.json",
            ".cargo/credentials.toml",
            "passwords.csv",
            "server.key",
            "server.pem",
            "*.env",
            "*env",
            "*.pem",
            ".e*",
            "*.key",
            "*secret*",
            "id_*",
            ".npm*",
            "secrets/*token*.json",
            "AuthKey_X.p8",
            "ca.key",
        ] {
            assert!(is_file(path), "{path}");
        }
        for path in [
            "src/keys.rs",
            "src/token.rs",
            "docs/secrets.md",
            "tsconfig.json",
            "src/password.rs",
            ".env.example",
            "example.env",
            "server.pub",
            "fullchain.pem",
            "ca.pem",
            "package.json",
            "config.json",
            "src/config",
            "*",
            "src/*",
            "**",
            "*.rs",
            "*.json",
            "*.txt",
            "src/auth.ts",
            "appsettings.json",
            "tokenizer.json",
            "monkeys.txt",
            "keyboard.json",
            "*.yml",
        ] {
            assert!(!is_file(path), "{path}");
        }
    }

    #[test]
    fn settings_and_variables() {
        for key in [
            "github.token",
            "http.https://github.com/.extraheader",
            "//r.example/:_authToken",
            "global.index-url",
        ] {
            assert!(is_setting(key), "{key}");
        }
        for key in [
            "user.name",
            "remote.origin.url",
            "user.signingkey",
            "credential.helper",
            "author.name",
            "registry",
        ] {
            assert!(!is_setting(key), "{key}");
        }
        assert!(is_variable("GITHUB_TOKEN") && is_variable("DATABASE_URL") && !is_variable("HOME"));
    }
}
