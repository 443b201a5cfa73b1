//! UTC timestamps.

use std::time::SystemTime;

use agcore::session::Timestamp;

/// Formats a time as `2026-01-31T08:09:10Z`.
pub fn utc(time: SystemTime) -> String {
    let text = utc_millis(time);
    match text.split_once('.') {
        Some((seconds, _)) => format!("{seconds}Z"),
        None => text,
    }
}

/// Formats a time as `2026-01-31T08:09:10.042Z`.
pub fn utc_millis(time: SystemTime) -> String {
    Timestamp::from(time).to_string()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn adds_milliseconds() {
        let time = SystemTime::UNIX_EPOCH + Duration::from_millis(951_782_400_042);
        assert_eq!(utc_millis(time), "2000-02-29T00:00:00.042Z");
    }

    #[test]
    fn converts_days_to_dates() {
        let check =
            |seconds, expected| assert_eq!(utc(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)), expected);
        check(0, "1970-01-01T00:00:00Z");
        check(951_782_399, "2000-02-28T23:59:59Z");
        check(951_782_400, "2000-02-29T00:00:00Z");
        check(4_107_542_400, "2100-03-01T00:00:00Z");
        check(1_767_225_599, "2025-12-31T23:59:59Z");
    }
}
