//! `hookctl pause` and `hookctl resume`: a note until when everything passes.
//!
//! What pauses is for a human at a terminal; what ends a pause tightens, so anybody may.

use std::fs;
use std::io::ErrorKind;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use serde_json::Value;

use super::args::PauseArgs;
use super::report::Report;
use super::{Context, Exit, YELLOW, human, write_private};
use crate::moment::Moment;
use crate::pause::{self, LONGEST, PauseNote};
use crate::rule::reader::parse_duration;

/// Writes the note and says until when it holds.
///
/// # Errors
/// On a duration that cannot be meant, or where the state directory cannot be written.
pub(super) fn run(context: &Context, args: &PauseArgs, report: &mut Report) -> Result<Exit> {
    report.set("paused_until", Value::Null);
    let Some(duration) = sum_durations(&args.duration).filter(|duration| !duration.is_zero())
    else {
        bail!("`{}` is no duration: write 90s, 10m or 1h30m", args.duration);
    };
    if duration > LONGEST {
        bail!("`{}` is too long: a pause lasts 24h at most", args.duration);
    }
    if let Some(why) = human::not_human() {
        return Ok(report.refuse(why));
    }
    // A number alone is of seconds: nobody shall type it for minutes.
    let length = match args.duration.trim() {
        bare if bare.bytes().all(|byte| byte.is_ascii_digit()) => format!("{bare}s"),
        named => named.to_string(),
    };
    let lost = format!(
        "For {length} every call passes unguarded, in all projects and sessions (but for what guards \
         hookctl itself, and managed rules with `lock`)."
    );
    if !human::confirm_typed(context, &lost, &format!("pause {}", human::make_typeable(&length)))? {
        return Ok(report.refuse_silently(human::DECLINED));
    }
    let note = PauseNote::for_duration(duration);
    write_private(&context.paths.pause(), &serde_json::to_vec(&note)?)?;
    if let Err(why) = pause::paused_until(&context.paths) {
        bail!("{why}");
    }
    report.set("paused_until", note.until);
    let until = i64::try_from(note.until)?;
    let until = Moment::from_seconds(until).context("no such time")?;
    let until = until.to_seconds_text().replace('T', " ").replace('Z', " UTC");
    let head = context.paint(YELLOW, &format!("Paused until {until}"));
    report.tell(&format!(
        "{head}: rules are judged and journaled, but not enforced (what guards hookctl itself is, and \
         managed rules with `lock`).\nEnd it now: `hookctl resume`.\n"
    ))?;
    Ok(Exit::Ok)
}

/// Ends a pause.
///
/// # Errors
/// Where the note is there and cannot be removed.
pub(super) fn resume(context: &Context, report: &mut Report) -> Result<Exit> {
    let path = context.paths.pause();
    let was_paused = match fs::remove_file(&path) {
        Ok(()) => true,
        Err(error) if error.kind() == ErrorKind::NotFound => false,
        Err(error) => Err(error).with_context(|| {
            format!("cannot remove {}: remove it by hand to end the pause", path.display())
        })?,
    };
    report.set("was_paused", was_paused);
    report.tell(match was_paused {
        true => "Resumed: every rule is enforced again.\n",
        false => "Not paused.\n",
    })?;
    Ok(Exit::Ok)
}

/// `90s`, `10m`, `1h30m`: the parts of a duration, added up.
pub(super) fn sum_durations(text: &str) -> Option<Duration> {
    let mut rest = text.trim();
    let mut total = Duration::ZERO;
    loop {
        let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let unit = rest[digits..].find(|c: char| c.is_ascii_digit());
        let end = unit.map_or(rest.len(), |unit| digits + unit);
        total = total.checked_add(parse_duration(&rest[..end])?)?;
        rest = &rest[end..];
        if rest.is_empty() {
            return Some(total);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_may_have_several_parts() {
        assert_eq!(sum_durations("1h30m"), Some(Duration::from_secs(5400)));
        assert_eq!(sum_durations("90"), Some(Duration::from_secs(90)));
        assert_eq!(sum_durations("7d"), Some(Duration::from_secs(7 * 86_400)));
        for bad in ["", "m", "10x", "1h-", "99999999999999999999h"] {
            assert_eq!(sum_durations(bad), None, "{bad}");
        }
    }
}
