//! `hookctl upgrade`: how to get a newer one, in the way that this one was installed. Nothing is fetched.

use std::path::Path;

use anyhow::Result;

use super::Exit;
use super::report::Report;
use crate::files;

/// A way in which hookctl gets onto a machine.
struct Way {
    name: &'static str,
    /// Every one of these stands in the program's path.
    path: &'static [&'static str],
    /// Such a file lies there, seen from the program's directory.
    beside: Option<&'static str>,
    run: &'static str,
}

const fn by_path(name: &'static str, path: &'static [&'static str], run: &'static str) -> Way {
    Way { name, path, beside: None, run }
}

/// The first that fits is it. The more special a place, the earlier it stands.
const WAYS: &[Way] = &[
    by_path("pnpm", &["/.pnpm/"], "pnpm add -g hookctl@latest"),
    Way {
        name: "npm",
        path: &["/node_modules/@hookctl/"],
        beside: Some("../../../../package.json"),
        run: "npm install --save-dev hookctl@latest",
    },
    by_path("npm", &["/node_modules/"], "npm install -g hookctl@latest"),
    by_path("asdf", &["/.asdf/installs/"], "asdf install hookctl latest"),
    by_path("brew", &["/Cellar/"], "brew upgrade hookctl"),
    by_path("nix", &["/nix/store/"], "nix profile upgrade hookctl"),
    by_path("scoop", &["/scoop/apps/"], "scoop update hookctl"),
    by_path("pipx", &["/pipx/"], "pipx upgrade hookctl"),
    by_path("uv", &["/uv/tools/"], "uv tool upgrade hookctl"),
    by_path("checkout", &["/target/", "/release/"], CHECKOUT),
    by_path("checkout", &["/target/", "/debug/"], CHECKOUT),
    Way {
        name: "cargo",
        path: &[],
        beside: Some("../.crates.toml"),
        run: "cargo install --locked hookctl",
    },
    Way {
        name: "deb",
        path: &["/usr/bin/"],
        beside: Some("../../var/lib/dpkg/info/hookctl.list"),
        run: "install the newer .deb: sudo apt install ./hookctl_VERSION_ARCH.deb",
    },
    Way { name: "rpm", path: &["/usr/bin/"], beside: Some("../../var/lib/rpm/*"), run: RPM },
    Way { name: "rpm", path: &["/usr/bin/"], beside: Some("../lib/sysimage/rpm/*"), run: RPM },
    Way {
        name: "pip",
        path: &[],
        beside: Some("../lib/python*/site-packages/hookctl-*"),
        run: "pip install --upgrade hookctl",
    },
    Way {
        name: "pip",
        path: &[],
        beside: Some("../Lib/site-packages/hookctl-*"),
        run: "pip install --upgrade hookctl",
    },
    by_path(
        "install.sh",
        &["/bin/"],
        "./install.sh of a newer release or checkout, with the same --prefix (or `npx hookctl@latest install`, if it came so)",
    ),
    by_path("unknown", &[], "put a newer hookctl in its place"),
];
const RPM: &str = "install the newer .rpm: sudo rpm -U hookctl-VERSION.ARCH.rpm";
const CHECKOUT: &str = "git pull && ./install.sh";

impl Way {
    fn fits(&self, program: &Path) -> bool {
        let text = program.to_string_lossy().replace('\\', "/");
        let dir = program.parent().unwrap_or(program);
        self.path.iter().all(|part| text.contains(part))
            && self.beside.is_none_or(|beside| is_there(dir, beside))
            && (self.name != "cargo" || names_us(&dir.join("../.crates.toml")))
    }
}

/// Cargo's list of what it installed there: others put programs beside its own.
fn names_us(list: &Path) -> bool {
    crate::files::read_text(list, crate::files::SMALL).is_ok_and(|text| text.contains("\"hookctl "))
}

/// Is there a file of that name, each part of which may end with a `*`?
fn is_there(dir: &Path, name: &str) -> bool {
    let (part, rest) = name.split_once('/').unwrap_or((name, ""));
    let go_on = |path: &Path| if rest.is_empty() { path.exists() } else { is_there(path, rest) };
    let Some(start) = part.strip_suffix('*') else { return go_on(&dir.join(part)) };
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    let fits = |path: &Path| {
        path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(start))
    };
    entries.map(|entry| entry.path()).any(|path| fits(&path) && go_on(&path))
}

/// Says it.
///
/// # Errors
/// Where this program cannot tell where it is.
pub(super) fn run(report: &mut Report) -> Result<Exit> {
    let program = std::env::current_exe().and_then(|program| files::real_path(&program))?;
    let way = WAYS.iter().find(|way| way.fits(&program));
    let program = program.display().to_string();
    let (by, how) = way.map_or(("unknown", ""), |way| (way.name, way.run));
    let version = env!("CARGO_PKG_VERSION");
    report.set("version", version);
    report.set("program", program.as_str());
    report.set("by", by);
    report.set("run", how);
    let came = if by == "unknown" {
        "It is not known how it came".into()
    } else {
        format!("It came by {by}")
    };
    report.tell(&format!(
        "hookctl {version}, {program}\n{came}. For a newer one: {how}\nThen `hookctl status`: where the program \
         has moved, `hookctl install` writes its new place into the agents' settings.\n"
    ))?;
    Ok(Exit::Ok)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_place_tells_who_put_it_there() {
        let dir = tempfile::tempdir().unwrap();
        let home = dir.path().to_string_lossy().replace('\\', "/");
        for (program, beside, name) in [
            ("lib/node_modules/hookctl-linux-x64/bin/hookctl", "", "npm"),
            ("Cellar/hookctl/0.2.0/bin/hookctl", "", "brew"),
            ("pipx/venvs/hookctl/bin/hookctl", "", "pipx"),
            ("v/bin/hookctl", "v/lib/python3.12/site-packages/hookctl-0.2.dist-info/x", "pip"),
            ("w/bin/hookctl", "w/lib/python3.12/site-packages/other-0.2.dist-info/x", "install.sh"),
            ("c/bin/hookctl", "c/.crates.toml", "cargo"),
            ("usr/bin/hookctl", "var/lib/dpkg/info/hookctl.list", "deb"),
            ("r/usr/bin/hookctl", "r/var/lib/rpm/rpmdb.sqlite", "rpm"),
            (".local/bin/hookctl", "", "install.sh"),
            ("src/target/release/hookctl", "", "checkout"),
            ("opt/hookctl", "", "unknown"),
        ] {
            for file in [program, beside].iter().filter(|file| !file.is_empty()) {
                let path = dir.path().join(file);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, "\"hookctl 0.2.0 (registry)\" = [\"hookctl\"]").unwrap();
            }
            let found = WAYS.iter().find(|way| way.fits(&dir.path().join(program)));
            assert_eq!(found.map(|way| way.name), Some(name), "{home}/{program}");
        }
        // A list of cargo's beside that names others.
        fs::write(dir.path().join("c/.crates.toml"), "\"ripgrep 14.0.0 (registry)\" = [\"rg\"]")
            .unwrap();
        assert!(
            !WAYS
                .iter()
                .any(|way| way.name == "cargo" && way.fits(&dir.path().join("c/bin/hookctl")))
        );
    }
}
