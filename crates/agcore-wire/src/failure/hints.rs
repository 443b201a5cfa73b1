//! The time that the server asks to wait before a retry.
//!
//! This does not read a clock: a date is relative to the reply's own `Date` header, and is ignored without one.

use std::time::Duration;

use time::{
    OffsetDateTime, PrimitiveDateTime,
    format_description::{BorrowedFormatItem, well_known::Rfc3339},
    macros::format_description,
};

use super::{
    body::ErrorBody,
    duration,
    headers::{COUNTERS, UsefulHeaders},
};

/// The words before a delay in messages of OpenAI, Groq, Gemini and Azure.
const BEFORE_DELAY: &[&str] = &[
    "try again in ",
    "retry in ",
    "retry after ",
    "try again after ",
    "wait for ",
    "wait ",
];

/// Returns the wait that the headers or the body ask for: in `retry-after-ms`, in `retry-after`, the latest reset of an
/// exhausted counter, in the members of the body, in its message.
pub(super) fn retry_after(headers: &UsefulHeaders, body: &ErrorBody) -> Option<Duration> {
    let millis = || duration::plain_millis(headers.get("retry-after-ms")?);
    let after = || {
        let value = headers.get("retry-after")?;
        duration::plain_seconds(value).or_else(|| until(headers, http_date(value)?))
    };
    let resets = || {
        let times = COUNTERS
            .iter()
            .filter_map(|(remaining, at)| reset(headers, remaining, at));
        times.max()
    };
    millis()
        .or_else(after)
        .or_else(resets)
        .or(body.retry_delay)
        .or_else(|| in_message(body.message.as_deref()?))
}

/// Returns the time until a counter is reset, if it is exhausted.
fn reset(headers: &UsefulHeaders, remaining: &str, at: &str) -> Option<Duration> {
    if headers.get(remaining)? != "0" {
        return None;
    }
    let value = headers.get(at)?;
    // Some servers send seconds or milliseconds since 1970.
    let epoch = value.parse::<i64>().ok().filter(|number| *number > 1_000_000_000);
    if let Some(number) = epoch {
        let seconds = if number > 100_000_000_000 {
            number / 1000
        } else {
            number
        };
        return until(headers, OffsetDateTime::from_unix_timestamp(seconds).ok()?);
    }
    let date = || until(headers, OffsetDateTime::parse(value, &Rfc3339).ok()?);
    duration::parse(value).or_else(date)
}

/// Returns the time from the reply until a moment.
fn until(headers: &UsefulHeaders, moment: OffsetDateTime) -> Option<Duration> {
    let now = http_date(headers.get("date")?)?;
    duration::seconds((moment - now).as_seconds_f64())
}

/// Parses a date in the format of HTTP (RFC 9110, IMF-fixdate).
fn http_date(text: &str) -> Option<OffsetDateTime> {
    const FIXDATE: &[BorrowedFormatItem<'_>] =
        format_description!("[weekday repr:short], [day] [month repr:short] [year] [hour]:[minute]:[second] GMT");
    PrimitiveDateTime::parse(text, FIXDATE)
        .ok()
        .map(PrimitiveDateTime::assume_utc)
}

fn in_message(message: &str) -> Option<Duration> {
    let message = message.to_ascii_lowercase();
    let delay = |(at, words): (usize, &str)| Some(duration::leading(&message[at + words.len()..])?.0);
    BEFORE_DELAY
        .iter()
        .find_map(|words| message.match_indices(words).find_map(delay))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tries_every_occurrence_of_the_words() {
        let check = |message, seconds: Option<f64>| {
            assert_eq!(in_message(message), seconds.map(Duration::from_secs_f64), "{message}");
        };
        check("Please try again in 7.66s.", Some(7.66));
        check(
            "Please try again in a moment. If it persists try again in 20s.",
            Some(20.0),
        );
        check("We could not retry in time. Please retry in 5s.", Some(5.0));
        check("Please wait 1 min 30 sec", Some(90.0));
        check("Please wait for a while, then wait 3 seconds", Some(3.0));
        check("Please try again in a moment.", None);
        check("retry in 0s", None);
    }

    #[test]
    fn reads_hints_from_members_of_the_body() {
        let check = |body: &str, millis: Option<u64>| {
            let headers = UsefulHeaders::new(&http::HeaderMap::new());
            let found = retry_after(&headers, &ErrorBody::parse(body.as_bytes()));
            assert_eq!(found, millis.map(Duration::from_millis), "{body}");
        };
        check(
            r#"{"error": {"message": "slow down"}, "retry_after": 12}"#,
            Some(12_000),
        );
        check(
            r#"{"error": {"message": "slow down", "retry_after": "2.5"}}"#,
            Some(2500),
        );
        check(r#"{"error": {"retry_after_ms": 1250, "retry_after": 2}}"#, Some(1250));
        check(r#"{"retryAfterMs": "3600000"}"#, Some(3_600_000));
        check(r#"{"error": {"metadata": {"retry_after": "20s"}}}"#, Some(20_000));
        for nothing in ["null", "0", "-1", "\"soon\"", "true", "[]", "1e300"] {
            check(&format!(r#"{{"retry_after": {nothing}}}"#), None);
        }
    }
}
