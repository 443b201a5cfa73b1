//! Parsing of durations in the formats that servers use.

use std::time::Duration;

/// The maximum wait; anything longer is taken for a mistake.
const MAX_WAIT: Duration = Duration::from_secs(30 * 24 * 3600);

/// Converts a number of seconds; `None` for zero, negative and unreasonable numbers.
pub(super) fn seconds(number: f64) -> Option<Duration> {
    let wait = Duration::try_from_secs_f64(number).ok()?;
    (wait > Duration::ZERO && wait <= MAX_WAIT).then_some(wait)
}

/// Parses a plain number of seconds: `20`, `2.5`.
pub(super) fn plain_seconds(text: &str) -> Option<Duration> {
    seconds(plain_number(text)?)
}

/// Parses a plain number of milliseconds: `1250`.
pub(super) fn plain_millis(text: &str) -> Option<Duration> {
    seconds(plain_number(text)? / 1000.0)
}

fn plain_number(text: &str) -> Option<f64> {
    let is_plain = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    text.parse().ok().filter(|_| is_plain)
}

/// Parses a whole text: `6m0s`, `7.66s`, `250ms`, `1h30m`, or a plain number of seconds.
pub(super) fn parse(text: &str) -> Option<Duration> {
    if let Some(wait) = plain_seconds(text) {
        return Some(wait);
    }
    let (wait, rest) = leading(text)?;
    rest.is_empty().then_some(wait)
}

/// Parses the duration at the beginning of a text, and returns what follows: `1m30s. Upgrade`, `20 seconds`,
/// `1 min and 30 sec`.
pub(super) fn leading(text: &str) -> Option<(Duration, &str)> {
    let (mut rest, mut next, mut total, mut smallest) = (text, text, 0.0, f64::INFINITY);
    while let Some((number, unit, after)) = leading_part(next) {
        // The units of one duration get smaller; a larger one begins another duration.
        if unit >= smallest {
            break;
        }
        total += number * unit;
        (smallest, rest, next) = (unit, after, skip_separator(after));
    }
    smallest.is_finite().then_some((seconds(total)?, rest))
}

/// Returns a number, its unit in seconds, and what follows.
fn leading_part(text: &str) -> Option<(f64, f64, &str)> {
    let (number, after) = leading_number(text)?;
    let (unit, after) = leading_unit(after.trim_start())?;
    Some((number, unit, after))
}

/// Skips what separates two parts: blanks, a comma, `and`.
fn skip_separator(text: &str) -> &str {
    let text = text.trim_start().trim_start_matches(',').trim_start();
    text.strip_prefix("and ").unwrap_or(text).trim_start()
}

fn leading_number(text: &str) -> Option<(f64, &str)> {
    let end = text
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(text.len());
    let number = text[..end].parse().ok()?;
    Some((number, &text[end..]))
}

/// Returns a unit of time in seconds, and what follows.
fn leading_unit(text: &str) -> Option<(f64, &str)> {
    let end = text.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(text.len());
    let seconds = match text[..end].to_ascii_lowercase().as_str() {
        "ms" | "millisecond" | "milliseconds" => 0.001,
        "s" | "sec" | "secs" | "second" | "seconds" => 1.0,
        "m" | "min" | "mins" | "minute" | "minutes" => 60.0,
        "h" | "hour" | "hours" => 3600.0,
        "d" | "day" | "days" => 86400.0,
        _ => return None,
    };
    Some((seconds, &text[end..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, millis: Option<u64>) {
        assert_eq!(parse(text), millis.map(Duration::from_millis), "{text}");
    }

    #[test]
    fn parses_the_formats_of_servers() {
        check("6m0s", Some(360_000));
        check("7.66s", Some(7660));
        check("2m59.56s", Some(179_560));
        check("250ms", Some(250));
        check("1h30m", Some(5_400_000));
        check("24", Some(24_000));
        check("34.4s", Some(34_400));
        check("1 min 30 sec", Some(90_000));
        check("1 minute, 30 seconds", Some(90_000));
        check("1 hour, 2 minutes and 3 seconds", Some(3_723_000));
    }

    #[test]
    fn rejects_nonsense() {
        for text in [
            "",
            "0",
            "-1",
            "later",
            "6m-s",
            "NaN",
            "inf",
            "1e9",
            "99999999999999999999s",
            ".",
            "5 apples",
            "5s 3s",
            "1 min and",
        ] {
            check(text, None);
        }
    }

    #[test]
    fn parses_a_leading_duration() {
        assert_eq!(leading("1m30s. Upgrade"), Some((Duration::from_secs(90), ". Upgrade")));
        assert_eq!(leading("20 seconds"), Some((Duration::from_secs(20), "")));
        let check = |text, seconds, rest| {
            assert_eq!(leading(text), Some((Duration::from_secs(seconds), rest)), "{text}");
        };
        check("1 min 30 sec, 5 apples", 90, ", 5 apples");
        check("20s 3 times", 20, " 3 times");
        check("20s, 5 minutes at most", 20, ", 5 minutes at most");
        check("20s and more", 20, " and more");
        assert_eq!(leading("a while"), None);
    }

    #[test]
    fn parses_milliseconds() {
        assert_eq!(plain_millis("1250"), Some(Duration::from_millis(1250)));
        assert_eq!(plain_millis("3600000"), Some(Duration::from_secs(3600)));
        assert_eq!(plain_millis("-1"), None);
    }
}
