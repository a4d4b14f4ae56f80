//! Points in time as text: RFC 3339, as the journal and servers have it, and the dates of HTTP.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// A point in time, to the millisecond.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Moment {
    /// Since 1970.
    millis: i64,
}

/// Milliseconds of a day.
const DAY: i64 = 86_400_000;
/// The first and the last moment of the years that four digits name.
const YEARS: std::ops::RangeInclusive<i64> = -62_167_219_200_000..=253_402_300_799_999;
/// Of 400 years, after which the calendar repeats itself.
const DAYS_OF_ERA: i64 = 146_097;
/// From the first of March of the year 0 to 1970.
const DAYS_BEFORE_1970: i64 = 719_468;

const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

impl Moment {
    /// This one.
    pub fn now() -> Moment {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Moment { millis: since.as_millis() as i64 }
    }

    /// So many milliseconds after 1970; None where four digits do not name the year.
    pub fn from_millis(millis: i64) -> Option<Moment> {
        YEARS.contains(&millis).then_some(Moment { millis })
    }

    /// So many seconds after 1970.
    pub fn from_seconds(seconds: i64) -> Option<Moment> {
        Moment::from_millis(seconds.checked_mul(1000)?)
    }

    /// So long before it.
    pub fn checked_sub(self, back: Duration) -> Option<Moment> {
        Moment::from_millis(self.millis.checked_sub(i64::try_from(back.as_millis()).ok()?)?)
    }

    /// How many seconds it is after 1970.
    pub fn to_seconds(self) -> i64 {
        self.millis.div_euclid(1000)
    }

    /// How long it is until then; None where it has passed.
    pub fn from_now(self) -> Option<Duration> {
        u64::try_from(self.millis - Moment::now().millis).ok().map(Duration::from_millis)
    }

    /// Reads RFC 3339: `2026-11-20T14:00:00.123Z`.
    pub fn parse(text: &str) -> Option<Moment> {
        let (date, rest) = text.split_at_checked(10)?;
        let rest = rest.strip_prefix(['T', 't', ' '])?;
        let (time, zone) = rest.split_at(rest.find(['Z', 'z', '+', '-'])?);
        let [year, month, day] = split_numbers(date, '-', [4, 2, 2])?;
        let (time, fraction) = time.split_once('.').unwrap_or((time, "0"));
        let millis = format!("{fraction:0<3}").get(..3).and_then(parse_number)?;
        let time = parse_time(time)?;
        let ahead = match zone {
            "Z" | "z" => 0,
            _ => {
                let [hours, minutes] = split_numbers(&zone[1..], ':', [2, 2])?;
                let ahead = (hours * 60 + minutes) * 60_000;
                if zone.starts_with('-') { -ahead } else { ahead }
            }
        };
        Moment::from_millis(day_number(year, month, day)? * DAY + time + millis - ahead)
    }

    /// Reads a date of HTTP: `Sun, 06 Nov 1994 08:49:37 GMT`.
    pub fn parse_http_date(text: &str) -> Option<Moment> {
        let mut words = text.split_ascii_whitespace();
        let [_, day, month, year, time, zone] = std::array::from_fn(|_| words.next().unwrap_or(""));
        let month = MONTHS.iter().position(|name| *name == month)? as i64 + 1;
        let days = day_number(parse_number(year)?, month, parse_number(day)?)?;
        let whole = matches!(zone, "GMT" | "UTC" | "+0000") && words.next().is_none();
        Moment::from_millis(days * DAY + parse_time(time)?).filter(|_| whole)
    }

    /// As RFC 3339 to the second: `2026-11-20T14:00:00Z`.
    pub fn to_seconds_text(self) -> String {
        self.write(false)
    }

    /// As RFC 3339 to the millisecond: `2026-11-20T14:00:00.123Z`.
    pub fn to_millis_text(self) -> String {
        self.write(true)
    }

    fn write(self, to_millis: bool) -> String {
        let (year, month, day) = date_of(self.millis.div_euclid(DAY));
        let time = self.millis.rem_euclid(DAY);
        let mut out = String::with_capacity(24);
        let parts = [
            (year, 4, "-"),
            (month, 2, "-"),
            (day, 2, "T"),
            (time / 3_600_000, 2, ":"),
            (time / 60_000 % 60, 2, ":"),
            (time / 1000 % 60, 2, if to_millis { "." } else { "Z" }),
            (time % 1000, 3, "Z"),
        ];
        for (number, digits, behind) in &parts[..if to_millis { 7 } else { 6 }] {
            for place in (0..*digits).rev() {
                out.push(char::from(b'0' + (number / 10_i64.pow(place) % 10) as u8));
            }
            out.push_str(behind);
        }
        out
    }
}

/// Seconds since the machine started, asleep or not, by a clock that nobody sets. None where there is no such clock.
pub fn uptime() -> Option<u64> {
    #[cfg(unix)]
    {
        use rustix::time::{ClockId, clock_gettime};
        // Elsewhere the monotonic clock goes on while the machine sleeps.
        #[cfg(target_os = "linux")]
        const CLOCK: ClockId = ClockId::Boottime;
        #[cfg(not(target_os = "linux"))]
        const CLOCK: ClockId = ClockId::Monotonic;
        u64::try_from(clock_gettime(CLOCK).tv_sec).ok()
    }
    #[cfg(not(unix))]
    None
}

/// Is a span of so many seconds that began at that uptime over by now, whatever a clock says that was set back? What
/// began before the machine started again is not known to be.
pub fn is_over(began: Option<u64>, seconds: u64, now: Option<u64>) -> bool {
    began.zip(now).is_some_and(|(began, now)| now.saturating_sub(began) >= seconds)
}

/// The day of a date, from 1970; None for one that no calendar has. Counted in years that begin with March, so that
/// the day that only some have is their last.
pub fn day_number(year: i64, month: i64, day: i64) -> Option<i64> {
    let from_march = (month + 9) % 12;
    let year_of_march = year - i64::from(month < 3);
    let (era, year_of_era) = (year_of_march.div_euclid(400), year_of_march.rem_euclid(400));
    let day_of_year = (153 * from_march + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    let number = era * DAYS_OF_ERA + day_of_era - DAYS_BEFORE_1970;
    // What is no date is another one.
    ((1..=12).contains(&month) && date_of(number) == (year, month, day)).then_some(number)
}

/// The year, the month and the day of the month of such a day.
pub fn date_of(number: i64) -> (i64, i64, i64) {
    let days = number + DAYS_BEFORE_1970;
    let (era, day_of_era) = (days.div_euclid(DAYS_OF_ERA), days.rem_euclid(DAYS_OF_ERA));
    let leap_days = day_of_era / 1460 - day_of_era / 36_524 + day_of_era / 146_096;
    let year_of_era = (day_of_era - leap_days) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * from_march + 2) / 5 + 1;
    let month = (from_march + 2) % 12 + 1;
    (era * 400 + year_of_era + i64::from(month < 3), month, day)
}

/// Milliseconds of the day at `14:00:00`.
fn parse_time(text: &str) -> Option<i64> {
    let [hour, minute, second] = split_numbers(text, ':', [2, 2, 2])?;
    let real = hour < 24 && minute < 60 && second < 60;
    real.then_some((hour * 3600 + minute * 60 + second) * 1000)
}

/// Numbers of so many digits with that between them.
fn split_numbers<const N: usize>(
    text: &str,
    between: char,
    digits: [usize; N],
) -> Option<[i64; N]> {
    let mut parts = text.split(between);
    let mut numbers = [0; N];
    for (number, digits) in numbers.iter_mut().zip(digits) {
        *number = parse_number(parts.next().filter(|part| part.len() == digits)?)?;
    }
    parts.next().is_none().then_some(numbers)
}

/// A number of digits alone.
fn parse_number(text: &str) -> Option<i64> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn agrees_with_jiff(millis in YEARS) {
            let (own, oracle) = (Moment { millis }, jiff::Timestamp::from_millisecond(millis).unwrap());
            prop_assert_eq!(own.to_millis_text(), format!("{oracle:.3}"));
            prop_assert_eq!(own.to_seconds_text(), format!("{:.0}", jiff::Timestamp::from_second(millis.div_euclid(1000)).unwrap()));
            prop_assert_eq!(Moment::parse(&own.to_millis_text()), Some(own));
            let http = oracle.strftime("%a, %d %b %Y %H:%M:%S GMT").to_string();
            prop_assert_eq!(Moment::parse_http_date(&http), Moment::from_seconds(millis.div_euclid(1000)));
        }

        #[test]
        fn reads_what_jiff_reads(year in 1900..2100, month in 0..14, day in 0..33, hour in 0..26, minute in 0..60, zone in "Z|[+-]0[0-9]:[03]0") {
            let text = format!("{year}-{month:02}-{day:02}T{hour:02}:{minute:02}:07.25{zone}");
            let oracle = text.parse::<jiff::Timestamp>().ok().map(|time| time.as_millisecond());
            prop_assert_eq!(Moment::parse(&text).map(|own| own.millis), oracle, "{}", text);
        }

        #[test]
        fn any_text_is_a_moment_or_none(text in "[0-9TZ:.+ -]{0,30}", other in ".{0,12}") {
            let _ = (Moment::parse(&text), Moment::parse(&other), Moment::parse_http_date(&other));
        }
    }
}
