//! [`retry_after`]: the header `Retry-After`.

use std::time::Duration;

use agcore_chat::Timestamp;
use http::{HeaderMap, header};

const MONTHS: [&str; 12] = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
];

/// Returns how long the receiver wants the sender to wait: a number of seconds, or the time until a date.
pub(super) fn retry_after(headers: &HeaderMap, now: Timestamp) -> Option<Duration> {
    let value = headers.get(header::RETRY_AFTER)?.to_str().ok()?.trim();
    if let Ok(seconds) = value.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let millis = date(value)?.as_millis().checked_sub(now.as_millis())?;
    Some(Duration::from_millis(u64::try_from(millis).unwrap_or(0)))
}

/// Reads a date in the form of HTTP, such as `Sun, 06 Nov 1994 08:49:37 GMT`. The two older forms are not read.
fn date(text: &str) -> Option<Timestamp> {
    let (_, text) = text.split_once(", ")?;
    let mut parts = text.split(' ');
    let (day, month, year, time) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
    let month = MONTHS.iter().position(|name| *name == month)? + 1;
    match (parts.next(), parts.next()) {
        (Some("GMT"), None) => format!("{year}-{month:02}-{day}T{time}Z").parse().ok(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_and_dates_are_read() {
        let now: Timestamp = "1994-11-06T08:49:00Z".parse().unwrap();
        let wait = |value: &'static str| {
            let headers = HeaderMap::from_iter([(header::RETRY_AFTER, value.parse().unwrap())]);
            retry_after(&headers, now)
        };
        assert_eq!(wait("120"), Some(Duration::from_secs(120)));
        assert_eq!(wait("Sun, 06 Nov 1994 08:49:37 GMT"), Some(Duration::from_secs(37)));
        // It has passed.
        assert_eq!(wait("Sun, 06 Nov 1994 08:48:37 GMT"), Some(Duration::ZERO));
        for value in [
            "",
            "-1",
            "1.5",
            "soon",
            "Sun, 06 Nov 1994 08:49:37 CET",
            "Sun, 99 Nov 1994 08:49:37 GMT",
        ] {
            assert_eq!(wait(value), None, "{value}");
        }
        assert_eq!(retry_after(&HeaderMap::new(), now), None);
    }
}
