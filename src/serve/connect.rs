//! The hooks' end: the user's `config.toml` names the server, so that a human is asked where the agent would ask its
//! own user.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use hookctl::cli;
use hookctl::config::{Config, LayerFile};
use hookctl::files;
use hookctl::paths::Paths;
use hookctl::rule::Layer;
use toml::de::DeTable;

/// The server's name in the config.
const NAME: &str = "serve";
/// The largest config that is added to, in bytes.
const LARGEST: u64 = 1 << 20;

/// What the config says of the server.
#[derive(Debug, Clone)]
pub struct Connection {
    /// Where hooks reach it.
    pub url: String,
    /// The file with the token that they show.
    pub token: PathBuf,
}

/// What was done to the config.
#[derive(Debug, PartialEq, Eq)]
pub enum Connected {
    /// The server was added to it.
    Added(PathBuf),
    /// It was there.
    Already(PathBuf),
}

impl Connection {
    fn to_toml(&self) -> String {
        // What escapes a text in JSON escapes it in TOML.
        let text = |text: &str| serde_json::Value::from(text).to_string();
        format!(
            "# A human is asked there where the agent would ask its own user, and is told of what the sessions do. A rule\n\
             # with `remote = \"{NAME}\"` asks there before anything else is decided.\n\
             [remote.{NAME}]\nurl = {}\ndialect = \"cdev\"\ntoken_file = {}\n\
             events = [\"SessionStart\", \"Notification\", \"PermissionRequest\", \"PostToolUse\", \"PostToolUseFailure\"]\n",
            text(&self.url),
            text(&self.token.display().to_string()),
        )
    }
}

/// Adds the server to the user's config; everything else in it stays as it is.
///
/// # Errors
/// Where the config is faulty, names another server so, or cannot be written: it is then untouched.
pub fn connect(paths: &Paths, connection: &Connection) -> Result<Connected> {
    let named = paths.user_config();
    // Behind a link, as people keep their dotfiles.
    let file = files::real_path(&named).unwrap_or_else(|_| named.clone());
    let old = match files::read_text(&file, LARGEST) {
        Ok(text) => text,
        Err(_) if !file.exists() => String::new(),
        Err(why) => bail!("cannot read {}: {why}", file.display()),
    };
    check(&named, &old).with_context(|| format!("{} is left as it is", named.display()))?;
    match named_address(&old) {
        Named::Nothing => {}
        Named::Address(url) if url == connection.url => return Ok(Connected::Already(named)),
        _ => bail!(
            "{} has a [remote.{NAME}] with another url: take it out, or give it {} by hand",
            named.display(),
            connection.url
        ),
    }
    let gap = match old.is_empty() {
        true => "",
        false if old.ends_with('\n') => "\n",
        false => "\n\n",
    };
    let new = format!("{old}{gap}{}", connection.to_toml());
    check(&named, &new)?;
    cli::write_private(&file, new.as_bytes())?;
    Ok(Connected::Added(named))
}

/// What a config says under the server's name.
enum Named {
    Nothing,
    Address(String),
    Other,
}

fn named_address(text: &str) -> Named {
    let Ok(table) = DeTable::parse(text) else { return Named::Nothing };
    let all = table.get_ref().get("remote").and_then(|all| all.get_ref().as_table());
    let Some(there) = all.and_then(|all| all.get(NAME)) else { return Named::Nothing };
    let url = there.get_ref().as_table().and_then(|there| there.get("url"));
    match url.and_then(|url| url.get_ref().as_str()) {
        Some(url) => Named::Address(url.into()),
        None => Named::Other,
    }
}

/// Would hookctl take this for the user's config?
fn check(path: &Path, text: &str) -> Result<()> {
    let source = LayerFile::from_text(Layer::User, path.to_path_buf(), text.to_string());
    match Config::from_source(source).broken.first() {
        Some((_, why)) => bail!("{why}"),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn home(text: Option<&str>) -> (tempfile::TempDir, Paths, Connection) {
        let dir = tempfile::tempdir().unwrap();
        let paths = Paths::below_home(dir.path().to_path_buf());
        if let Some(text) = text {
            fs::create_dir_all(paths.user_config().parent().unwrap()).unwrap();
            fs::write(paths.user_config(), text).unwrap();
        }
        let token = dir.path().join("a \"b\"/hook-token");
        (dir, paths, Connection { url: "http://127.0.0.1:16180".into(), token })
    }

    #[test]
    fn what_stands_there_stays() {
        for before in [
            None,
            Some(""),
            Some("profile = \"strict\""),
            Some("[rule.a]\ncommand = \"x\"\ndeny = \"y\"\n"),
        ] {
            let (_dir, paths, connection) = home(before);
            assert!(matches!(connect(&paths, &connection).unwrap(), Connected::Added(_)));
            let after = fs::read_to_string(paths.user_config()).unwrap();
            assert!(after.starts_with(before.unwrap_or_default()), "{after}");
            check(&paths.user_config(), &after).unwrap();
            assert!(matches!(connect(&paths, &connection).unwrap(), Connected::Already(_)));
            assert_eq!(fs::read_to_string(paths.user_config()).unwrap(), after);
        }
    }

    #[test]
    fn a_faulty_config_and_another_server_are_left_alone() {
        for (before, why) in [
            ("[rule.a\n", "is left as it is"),
            ("[remote.serve]\nurl = \"http://other:1\"\ndialect = \"cdev\"\n", "another url"),
        ] {
            let (_dir, paths, connection) = home(Some(before));
            let said = format!("{:#}", connect(&paths, &connection).unwrap_err());
            assert!(said.contains(why), "{said}");
            assert_eq!(fs::read_to_string(paths.user_config()).unwrap(), before);
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_link_stays_a_link() {
        let (dir, paths, connection) = home(None);
        let real = dir.path().join("dotfiles.toml");
        fs::write(&real, "").unwrap();
        fs::create_dir_all(paths.user_config().parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(&real, paths.user_config()).unwrap();
        connect(&paths, &connection).unwrap();
        assert!(paths.user_config().is_symlink());
        assert!(fs::read_to_string(&real).unwrap().contains("[remote.serve]"));
    }
}
