//! Names that tell of a secret: of files, of settings and of variables.
//!
//! Wider than what the shipped rules stop: reading such a thing is no harm by itself, but an allow on a place, or on a
//! program in general, does not speak of it.

use crate::effect::path::split;
use crate::glob;

/// Parts of the names of variables and settings whose values nobody wants to see printed.
const PARTS: &[&str] = &[
    "token",
    "secret",
    "pass",
    "pwd_",
    "credential",
    "key",
    "private",
    "auth",
    "cookie",
    "dsn",
    "database_url",
    "connection",
    "webhook",
    "extraheader",
    "index-url",
    "proxy",
];

/// Files by name, in lower case; with a slash also by the directory that they lie in.
const FILES: &[&str] = &[
    ".env",
    ".env.*",
    "*.env",
    ".envrc",
    ".dev.vars",
    ".dev.vars.*",
    ".flaskenv",
    ".npmrc",
    ".yarnrc",
    ".yarnrc.yml",
    ".pypirc",
    "pip.conf",
    ".condarc",
    "nuget.config",
    ".netrc",
    "_netrc",
    ".my.cnf",
    ".mylogin.cnf",
    ".pgpass",
    ".boto",
    ".s3cfg",
    ".git-credentials",
    ".htpasswd",
    ".vault-token",
    ".vault_pass*",
    ".vault-pass*",
    ".terraformrc",
    "terraform.rc",
    "*.tfvars",
    "*.tfvars.json",
    "*.tfstate",
    "*.tfstate.*",
    ".dockercfg",
    ".dockerconfigjson",
    "kubeconfig",
    "kubeconfig.*",
    "*.kubeconfig",
    "*_history",
    "*-history",
    "*.pem",
    "*.key",
    "*.p8",
    "*.p12",
    "*.pfx",
    "*.ppk",
    "*.jks",
    "*.keystore",
    "*.kdbx",
    "*.ovpn",
    "id_rsa",
    "id_dsa",
    "id_ecdsa",
    "id_ed25519",
    "*_rsa",
    "appsettings.*.json",
    "local.settings.json",
    "google-services.json",
    "googleservice-info.plist",
    "*adminsdk*.json",
    "*service-account*.json",
    "*service_account*.json",
    "client_secret*",
    "wp-config.php",
    "*.secret.exs",
    "rclone.conf",
    "*.publishsettings",
    "auth.json",
    "cookies",
    "cookies.sqlite",
    "login data",
    "logins.json",
    "key4.db",
    "wallet.dat",
    ".ssh",
    ".gnupg",
    ".aws",
    ".docker/config.json",
    ".kube/config",
    ".git/config",
    ".bundle/config",
    ".gem/credentials",
    ".aws/config",
    "gh/hosts.yml",
    ".m2/settings.xml",
];

/// Words of a name that tell of secrets where the file holds data and not a program's text.
const WORDS: &[&str] = &[
    "token",
    "tokens",
    "secret",
    "secrets",
    "password",
    "passwords",
    "passwd",
    "passphrase",
    "credential",
    "credentials",
    "creds",
    "apikey",
    "apikeys",
    "keys",
    "cookies",
];

/// The same in front of `key`.
const KEYS: &[&str] = &["api", "access", "auth", "deploy", "private", "secret", "signing"];

/// What files of data end in.
const DATA: &[&str] = &[
    "",
    "txt",
    "csv",
    "tsv",
    "json",
    "json5",
    "jsonc",
    "yml",
    "yaml",
    "toml",
    "ini",
    "conf",
    "cfg",
    "cnf",
    "xml",
    "plist",
    "properties",
    "dat",
    "db",
    "sqlite",
    "bak",
    "old",
    "orig",
    "enc",
    "b64",
    "log",
];

/// Words by which a name says that nothing of it is real, or that it is no secret.
const SHOWN: &[&str] = &[
    "example", "sample", "template", "dist", "schema", "defaults", "pub", "public", "md", "ts",
    "js",
];

/// The same of a `.pem`.
const CERTIFICATE: &[&str] = &["cert", "certs", "chain", "fullchain", "bundle", "ca", "cacert"];

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
        return names(dir, name);
    }
    let said: String = name.chars().filter(|c| *c != '*').collect();
    let extension = said.strip_prefix('.').is_some_and(|end| DATA.contains(&end));
    names(dir, &said)
        || said.contains(|c: char| c.is_ascii_alphanumeric())
            && !extension
            && FILES.iter().any(|file| {
                let file = split(file).1.replace('*', "x");
                glob::matches(name, &file) && names(dir, &file)
            })
}

/// The same where the word may as well be a directory or a pattern: `tokens` alone is none.
pub fn is_told(path: &str) -> bool {
    split(path).1.contains('.') && is_file(path)
        || FILES.iter().any(|file| !file.contains(['*', '/']) && split(path).1 == *file)
}

fn names(dir: &str, name: &str) -> bool {
    let listed = |file: &str| match file.split_once('/') {
        None => glob::matches(file, name),
        Some((parent, file)) => file == name && split(dir.trim_end_matches('/')).1 == parent,
    };
    let words = || name.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let certificate = |word| name.ends_with(".pem") && CERTIFICATE.contains(&word);
    if words().any(|word| SHOWN.contains(&word) || certificate(word)) {
        return false;
    }
    let end =
        name.rsplit_once('.').map_or("", |(stem, end)| if stem.is_empty() { "" } else { end });
    let key = |(first, second): (&str, &str)| second == "key" && KEYS.contains(&first);
    FILES.iter().any(|file| listed(file))
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
