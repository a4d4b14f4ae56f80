//! `hookctl bundle`: the rules of an organisation in one signed file.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, anyhow, bail};
use serde_json::json;

use super::args::BundleArgs;
use super::args::bundle::{BuildArgs, BundleCommand, SignArgs, VerifyArgs};
use super::pause::sum_durations;
use super::report::Report;
use super::{Context, Exit, check_output};
use crate::bundle::minisign::{self, PublicKey};
use crate::bundle::{self, Bundle};
use crate::files::{self, Refusal};
use crate::limits;
use crate::moment::Moment;
use crate::remote::fleet;
use crate::text::sha256_hex;

/// Builds, signs or verifies one.
///
/// # Errors
/// Where a file cannot be read or written, or is not what it should be.
pub(super) fn run(context: &Context, args: &BundleArgs, report: &mut Report) -> Result<Exit> {
    match &args.command {
        Some(BundleCommand::Build(args)) => build(context, args, report),
        Some(BundleCommand::Sign(args)) => sign(context, args, report),
        Some(BundleCommand::Verify(args)) => verify(args, report),
        None => bail!("say what to do: build, sign or verify"),
    }
}

fn build(context: &Context, args: &BuildArgs, report: &mut Report) -> Result<Exit> {
    let Some(lasts) = sum_durations(&args.expires).filter(|lasts| !lasts.is_zero()) else {
        bail!("`{}` is no duration: write 30d or 12w", args.expires);
    };
    let now = Moment::now().to_seconds();
    let expires = i64::try_from(lasts.as_secs()).ok().and_then(|lasts| now.checked_add(lasts));
    let expires = expires.and_then(Moment::from_seconds).context("that is too long")?;
    let read = |path: &PathBuf| -> Result<(String, String)> {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        bundle::check_name(&name).map_err(|why| anyhow!(why))?;
        Ok((name, read_text(path)?))
    };
    let files = args.files.iter().map(read).collect::<Result<Vec<_>>>()?;
    let version = args.number.map_or(now.unsigned_abs(), u64::from);
    let made = Bundle { version, expires, files };
    let text = made.to_text();
    // What it is read as is what was meant: of two files with one name only one is left.
    let again = Bundle::parse(text.as_bytes()).map_err(|why| anyhow!(why))?;
    if again.files.len() != args.files.len() {
        bail!("two files have the same name");
    }
    fleet::check_rules(&again).map_err(|why| anyhow!(why))?;
    if text.len() > limits::BUNDLE {
        bail!("the bundle is larger than 1 MiB");
    }
    let path = check_output(context, &args.output, bundle::START.as_bytes(), "bundle")?;
    write(&path, text.as_bytes())?;
    describe(&again, text.as_bytes(), &args.output, report)
}

fn sign(context: &Context, args: &SignArgs, report: &mut Report) -> Result<Exit> {
    let bytes = read_file(&args.file)?;
    let made = Bundle::parse(&bytes).map_err(|why| anyhow!("{}: {why}", args.file.display()))?;
    let secret = read_text(&args.key)?;
    let comment = format!("hookctl bundle version {}", made.version);
    let signature = minisign::sign(&secret, &bytes, &comment)
        .map_err(|why| anyhow!("{}: {why}", args.key.display()))?;
    let path =
        check_output(context, &beside(&args.file), minisign::UNTRUSTED.as_bytes(), "signature")?;
    write(&path, signature.as_bytes())?;
    report.set("signature", path.display().to_string());
    report.tell(&format!("wrote {}\n", path.display()))?;
    Ok(Exit::Ok)
}

fn verify(args: &VerifyArgs, report: &mut Report) -> Result<Exit> {
    let named = Path::new(&args.key);
    let text = if named.is_file() { read_text(named)? } else { args.key.clone() };
    let key = PublicKey::parse(&text).map_err(|why| anyhow!("{}: {why}", args.key))?;
    let bytes = read_file(&args.file)?;
    let signature = read_text(&beside(&args.file))?;
    let checked = key.verify(&bytes, &signature).and_then(|_| fleet::check_content(&bytes));
    match checked {
        Ok(made) => describe(&made, &bytes, &args.file, report),
        Err(why) => Ok(report.refuse(format!("{}: {why}", args.file.display()))),
    }
}

fn describe(made: &Bundle, bytes: &[u8], path: &Path, report: &mut Report) -> Result<Exit> {
    let (hash, expires) = (sha256_hex(bytes), made.expires.to_seconds_text());
    let names: Vec<&str> = made.files.iter().map(|(name, _)| name.as_str()).collect();
    report.tell(&format!(
        "{}: version {}, expires {expires}, SHA-256 {hash}\n{}\n",
        path.display(),
        made.version,
        names.join(" "),
    ))?;
    report.set("version", made.version);
    report.set("expires", expires);
    report.set("hash", hash);
    report.set("files", json!(names));
    Ok(Exit::Ok)
}

/// Where minisign puts the signature of a file.
fn beside(path: &Path) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(".minisig");
    name.into()
}

fn read_text(path: &Path) -> Result<String> {
    String::from_utf8(read_file(path)?).map_err(|_| anyhow!(Refusal::Text.describe_for(path)))
}

fn read_file(path: &Path) -> Result<Vec<u8>> {
    files::read(path, limits::BUNDLE as u64).map_err(|refusal| anyhow!(refusal.describe_for(path)))
}

/// In one step, as a server may be giving it out. Everybody may read it.
fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    let open = || {
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o644))?;
        }
        Ok(())
    };
    let written = files::replace_file(path, bytes).and_then(|()| open());
    written.with_context(|| path.display().to_string())
}
