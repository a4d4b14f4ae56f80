//! The local time zone: what TZ says, else /etc/localtime. Nobody on the hook path asks for it.
//!
//! Read is what every system has: the compiled files of the time zone database (RFC 9636), and the rules
//! in a line that stand at their end and in TZ itself (`CET-1CEST,M3.5.0,M10.5.0/3`).

use std::path::{Path, PathBuf};

use crate::env;
use crate::files;
use crate::moment::{self, Moment};

/// What is longer is no file of a zone, in bytes.
const LARGEST: u64 = 1 << 18;
const HOUR: i64 = 3600;
const DAY: i64 = 24 * HOUR;
/// Where zones go by their names.
const DIRECTORIES: &[&str] = &["/usr/share/zoneinfo", "/usr/lib/zoneinfo", "/etc/zoneinfo"];

/// A time zone.
#[derive(Debug, Default, PartialEq)]
pub struct Zone {
    /// When the clocks were changed, in seconds after 1970, and how far they were ahead from then on.
    changes: Vec<(i64, i64)>,
    /// How far they were ahead before.
    first: i64,
    /// What holds behind the last of them.
    rule: Option<ZoneRule>,
}

/// A rule for all years.
#[derive(Debug, PartialEq)]
struct ZoneRule {
    standard: i64,
    /// How far the clocks are ahead in summer; when that begins by standard time, and when it ends by summer time.
    summer: Option<(i64, ZoneDay, ZoneDay)>,
}

/// A day of each year, and the second of it.
#[derive(Debug, PartialEq)]
struct ZoneDay {
    day: YearDay,
    second: i64,
}

#[derive(Debug, PartialEq)]
enum YearDay {
    /// From 1, the 29th of February never counted.
    Julian(i64),
    /// From 0.
    Plain(i64),
    /// Month, which of its weeks (5 = the last), weekday from Sunday.
    Week(i64, i64, i64),
}

impl Zone {
    /// The machine's; UTC where none can be read.
    pub fn local() -> Zone {
        let Some(told) = std::env::var_os(env::TZ) else {
            return Zone::read(Path::new("/etc/localtime")).unwrap_or_default();
        };
        Zone::named(&told.to_string_lossy()).unwrap_or_default()
    }

    /// What TZ says: a rule, a file, or a name of the database.
    fn named(told: &str) -> Option<Zone> {
        let name = told.strip_prefix(':').unwrap_or(told);
        if name.starts_with('/') {
            return Zone::read(Path::new(name));
        }
        let plain =
            !name.is_empty() && !name.split('/').any(|part| matches!(part, "" | "." | ".."));
        let file = || DIRECTORIES.iter().find_map(|dir| Zone::read(&PathBuf::from(dir).join(name)));
        plain
            .then(file)
            .flatten()
            .or_else(|| Some(Zone { rule: Some(ZoneRule::parse(name)?), ..Zone::default() }))
    }

    fn read(path: &Path) -> Option<Zone> {
        Zone::parse(&files::read(path, LARGEST).ok()?)
    }

    /// Reads a compiled file.
    pub fn parse(bytes: &[u8]) -> Option<Zone> {
        let (old, rest) = Block::split(bytes, 4)?;
        if old.version == 0 {
            return old.read(None);
        }
        let (new, footer) = Block::split(rest, 8)?;
        let footer = std::str::from_utf8(footer).ok()?.trim_matches('\n');
        new.read(ZoneRule::parse(footer))
    }

    /// How many seconds the clocks are ahead of UTC then.
    pub fn ahead(&self, seconds: i64) -> i64 {
        let at = self.changes.partition_point(|(since, _)| *since <= seconds);
        match (&self.rule, at) {
            (Some(rule), at) if at == self.changes.len() => rule.ahead(seconds),
            (_, 0) => self.first,
            (_, at) => self.changes[at - 1].1,
        }
    }

    /// The moment as the clocks show it: `2026-11-20 14:00:00`.
    pub fn clock_text(&self, moment: Moment) -> String {
        let seconds = moment.to_seconds();
        let local = Moment::from_seconds(seconds + self.ahead(seconds)).unwrap_or(moment);
        local.to_seconds_text().trim_end_matches('Z').replace('T', " ")
    }
}

/// The data of one version of a compiled file.
struct Block<'b> {
    version: u8,
    /// How many bytes a time has.
    wide: usize,
    times: &'b [u8],
    kinds: &'b [u8],
    types: &'b [u8],
}

impl<'b> Block<'b> {
    /// The block that the bytes begin with, and what is behind it.
    fn split(bytes: &'b [u8], wide: usize) -> Option<(Block<'b>, &'b [u8])> {
        let (head, rest) = bytes.split_at_checked(44)?;
        let version = *head.strip_prefix(b"TZif")?.first()?;
        let count =
            |at: usize| number(&head[20 + at * 4..][..4]).and_then(|n| usize::try_from(n).ok());
        let (utc, standard, leaps) = (count(0)?, count(1)?, count(2)?);
        let (times, types, letters) = (count(3)?, count(4)?, count(5)?);
        let (times, rest) = rest.split_at_checked(times.checked_mul(wide)?)?;
        let (kinds, rest) = rest.split_at_checked(times.len() / wide)?;
        let (types, rest) = rest.split_at_checked(types.checked_mul(6)?)?;
        let more = letters.checked_add(leaps.checked_mul(wide + 4)?)?.checked_add(utc)?;
        let rest = rest.get(more.checked_add(standard)?..)?;
        Some((Block { version, wide, times, kinds, types }, rest))
    }

    fn read(&self, rule: Option<ZoneRule>) -> Option<Zone> {
        let ahead = |kind: usize| number(self.types.get(kind * 6..)?.get(..4)?);
        let one = |(time, kind): (&[u8], &u8)| Some((number(time)?, ahead(usize::from(*kind))?));
        let changes: Option<Vec<(i64, i64)>> =
            self.times.chunks_exact(self.wide).zip(self.kinds).map(one).collect();
        Some(Zone { changes: changes?, first: ahead(0)?, rule })
    }
}

/// A number of four or eight bytes, the highest first.
fn number(bytes: &[u8]) -> Option<i64> {
    match bytes.len() {
        4 => Some(i64::from(i32::from_be_bytes(bytes.try_into().ok()?))),
        _ => Some(i64::from_be_bytes(bytes.try_into().ok()?)),
    }
}

impl ZoneRule {
    /// Reads `CET-1CEST,M3.5.0,M10.5.0/3`.
    fn parse(text: &str) -> Option<ZoneRule> {
        let rest = skip_name(text)?;
        let (west, rest) = parse_clock(rest)?;
        let standard = -west;
        if rest.is_empty() {
            return Some(ZoneRule { standard, summer: None });
        }
        let rest = skip_name(rest)?;
        let (west, rest) = match rest.is_empty() || rest.starts_with(',') {
            true => (-(standard + HOUR), rest),
            false => parse_clock(rest)?,
        };
        let days = if rest.is_empty() { ",M3.2.0,M11.1.0" } else { rest };
        let (begin, end) = days.strip_prefix(',')?.split_once(',')?;
        Some(ZoneRule {
            standard,
            summer: Some((-west, ZoneDay::parse(begin)?, ZoneDay::parse(end)?)),
        })
    }

    fn ahead(&self, seconds: i64) -> i64 {
        let Some((summer, begin, end)) = &self.summer else { return self.standard };
        let (year, ..) = moment::date_of((seconds + self.standard).div_euclid(DAY));
        let begin = begin.seconds_in(year) - self.standard;
        let end = end.seconds_in(year) - summer;
        let is_summer = match begin < end {
            true => (begin..end).contains(&seconds),
            // Below the equator the year begins in it.
            false => !(end..begin).contains(&seconds),
        };
        if is_summer { *summer } else { self.standard }
    }
}

impl ZoneDay {
    /// Reads `M3.5.0/2`, `J60`, `59`.
    fn parse(text: &str) -> Option<ZoneDay> {
        let (day, second) = match text.split_once('/') {
            Some((day, time)) => (day, parse_clock(time).filter(|(_, rest)| rest.is_empty())?.0),
            None => (text, 2 * HOUR),
        };
        let day = if let Some(numbers) = day.strip_prefix('M') {
            let mut parts = numbers.split('.').map(|part| part.parse::<i64>().ok());
            let mut next = || parts.next().flatten();
            let (month, week, weekday) = (next()?, next()?, next()?);
            let real =
                (1..=12).contains(&month) && (1..=5).contains(&week) && (0..7).contains(&weekday);
            real.then_some(YearDay::Week(month, week, weekday))?
        } else if let Some(number) = day.strip_prefix('J') {
            YearDay::Julian(number.parse().ok().filter(|day| (1..=365).contains(day))?)
        } else {
            YearDay::Plain(day.parse().ok().filter(|day| (0..=365).contains(day))?)
        };
        Some(ZoneDay { day, second })
    }

    /// In that year, in seconds after 1970 by the local clocks.
    fn seconds_in(&self, year: i64) -> i64 {
        let first = |month: i64| moment::day_number(year, month, 1).unwrap_or_default();
        let day = match self.day {
            YearDay::Plain(day) => first(1) + day,
            YearDay::Julian(day) => {
                let leap = first(3) - first(1) == 60 && day >= 60;
                first(1) + day - 1 + i64::from(leap)
            }
            YearDay::Week(month, week, weekday) => {
                let start = first(month);
                let end = if month == 12 { start + 31 } else { first(month + 1) };
                // The first day of 1970 was a Thursday.
                let into = (weekday - (start + 4)).rem_euclid(7);
                let day = start + into + (week - 1) * 7;
                if day >= end { day - 7 } else { day }
            }
        };
        day * DAY + self.second
    }
}

/// What is behind the name of a time, `CET` or `<+0330>`.
fn skip_name(text: &str) -> Option<&str> {
    if let Some(rest) = text.strip_prefix('<') {
        return rest.split_once('>').map(|(_, rest)| rest);
    }
    let end = text.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(text.len());
    (end >= 3).then(|| &text[end..])
}

/// The seconds of `[+-]hh[:mm[:ss]]`, and what is behind it.
fn parse_clock(text: &str) -> Option<(i64, &str)> {
    let rest = text.strip_prefix(['+', '-']).unwrap_or(text);
    let end = rest.find(|c: char| !c.is_ascii_digit() && c != ':').unwrap_or(rest.len());
    let (clock, rest) = rest.split_at(end);
    let mut seconds = 0;
    let mut unit = HOUR;
    for part in clock.split(':') {
        if unit == 0 || part.len() > 3 {
            return None;
        }
        seconds += part.parse::<i64>().ok()? * unit;
        unit /= 60;
    }
    Some((if text.starts_with('-') { -seconds } else { seconds }, rest))
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::tz::TimeZone;
    use proptest::prelude::*;

    /// What the oracle says.
    fn oracle(zone: &TimeZone, seconds: i64) -> i64 {
        i64::from(zone.to_offset(jiff::Timestamp::from_second(seconds).unwrap()).seconds())
    }

    /// Moments of two centuries, and those around each change.
    fn moments(zone: &Zone) -> Vec<i64> {
        let steps = (-80..200).map(|step| step * 40 * DAY + 12_345);
        let edges = zone.changes.iter().flat_map(|(at, _)| [at - 1, *at, at + 1]);
        steps.chain(edges).filter(|at| *at > -60_000_000_000).collect()
    }

    #[test]
    fn every_zone_of_the_machine_agrees_with_jiff() {
        let mut count = 0;
        let mut open = vec![PathBuf::from(DIRECTORIES[0])];
        while let Some(dir) = open.pop() {
            for entry in std::fs::read_dir(&dir).into_iter().flatten().flatten() {
                let path = entry.path();
                if path.is_dir() {
                    // `right` counts leap seconds, which no clock of a computer does.
                    if !path.ends_with("right") && !path.ends_with("posix") {
                        open.push(path);
                    }
                    continue;
                }
                let bytes = std::fs::read(&path).unwrap();
                let (own, other) = (Zone::parse(&bytes), TimeZone::tzif("x", &bytes));
                assert_eq!(own.is_some(), other.is_ok(), "{}", path.display());
                let (Some(own), Ok(other)) = (own, other) else { continue };
                count += 1;
                for at in moments(&own) {
                    assert_eq!(own.ahead(at), oracle(&other, at), "{} at {at}", path.display());
                }
            }
        }
        assert!(count > 300 || count == 0, "{count}");
    }

    #[test]
    fn a_rule_in_a_line_agrees_with_jiff() {
        for line in [
            "CET-1CEST,M3.5.0,M10.5.0/3",
            "EST5EDT,M3.2.0,M11.1.0",
            "<+1030>-10:30<+11>-11,M10.1.0,M4.1.0",
            "IST-2IDT,M3.4.4/26,M10.5.0",
            "XXX3",
            "<-02>2<-01>,M3.5.0/-1,M10.5.0/0",
            "AAA4BBB,J60,J300",
            "AAA4BBB,59/3,299/4:30",
        ] {
            let (own, other) = (Zone::named(line).unwrap(), TimeZone::posix(line).unwrap());
            for step in 0..4000 {
                let at = step * 9 * HOUR * 13 + 17;
                assert_eq!(own.ahead(at), oracle(&other, at), "{line} at {at}");
            }
        }
        for line in [
            "",
            "X",
            "CET-1CEST,M13.1.0,M1.1.0",
            "../../etc/passwd",
            "CET-1CEST,M3.5.0",
            "<",
            "ABC1:2:3:4",
        ] {
            assert_eq!(Zone::named(line), None, "{line}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_zone_or_none(bytes in proptest::collection::vec(any::<u8>(), 0..200), text in ".{0,20}", at in any::<i32>()) {
            let head = [b"TZif2".to_vec(), vec![0; 15]].concat();
            for bytes in [bytes.clone(), [head, bytes].concat()] {
                if let Some(zone) = Zone::parse(&bytes) {
                    let _ = zone.ahead(i64::from(at));
                }
            }
            if let Some(rule) = ZoneRule::parse(&text) {
                let _ = rule.ahead(i64::from(at));
            }
        }
    }
}
