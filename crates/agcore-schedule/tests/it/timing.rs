//! When schedules occur.

mod clock_changes;
mod random;

use std::time::{Duration, Instant};

use agcore_schedule::{COUNT_LIMIT, ScheduleErrorKind, Timing};

use super::time;

/// Checks the message with which a timing is refused.
#[track_caller]
fn refuses(timing: &Timing, message: &str) {
    let error = timing.check().unwrap_err();
    assert_eq!(error.kind(), ScheduleErrorKind::InvalidInput);
    assert!(error.message().contains(message), "{error}");
}

#[test]
fn timings_that_cannot_be_kept_are_refused() {
    refuses(&Timing::cron("0 9 * *"), "does not have five fields");
    refuses(&Timing::cron("0 0 9 * * *"), "the first of six fields would be seconds");
    refuses(&Timing::cron("@daily"), "does not have five fields");
    refuses(&Timing::cron("61 9 * * *"), "`61 9 * * *` cannot be read");
    refuses(&Timing::cron("0 9 * * 1–5"), "ASCII");
    refuses(&Timing::cron("* ".repeat(200)), "at most 256");
    for never in ["0 0 30 2 *", "0 0 31 2,4,6,9,11 *"] {
        refuses(&Timing::cron(never), "never occurs");
    }
    refuses(
        &Timing::cron_in("0 9 * * *", "Mars/Olympus"),
        "`Mars/Olympus` is not known",
    );
    refuses(&Timing::cron_in("0 9 * * *", ""), "is not known");
    refuses(&Timing::cron_in("0 9 * * *", "x".repeat(1000)), "is not known");
    refuses(&Timing::every(Duration::from_secs(59)), "59 seconds");
    refuses(&Timing::every(Duration::MAX), "seconds is not acceptable");
    Timing::cron("0 0 29 2 *").check().unwrap();
}

#[test]
fn forms_are_not_mixed() {
    for json in [
        "{}",
        r#"{"zone":"UTC"}"#,
        r#"{"cron":"* * * * *","every":60}"#,
        r#"{"every":60,"at":"2026-01-01T00:00:00Z"}"#,
        r#"{"at":"2026-01-01T00:00:00Z","from":"2026-01-01T00:00:00Z"}"#,
        r#"{"every":-60}"#,
        r#"{"weekly":1}"#,
    ] {
        assert!(serde_json::from_str::<Timing>(json).is_err(), "{json}");
    }
    let timing: Timing = serde_json::from_str(r#"{"cron":"0 9 * * *"}"#).unwrap();
    assert_eq!(timing, Timing::cron_in("0 9 * * *", "UTC"));
}

#[test]
fn expressions_mean_what_the_docs_state() {
    let start = time("2026-05-01T00:00:00Z");
    let first = |expression: &str| Timing::cron(expression).after(start).unwrap().to_text_in_seconds();
    assert_eq!(first("*/10 * * * *"), "2026-05-01T00:10:00Z");
    assert_eq!(first("0 8-18/2 * * *"), "2026-05-01T08:00:00Z");
    assert_eq!(first("0 9 * JUL MON"), "2026-07-06T09:00:00Z");
    assert_eq!(first("0 9 * * 7"), "2026-05-03T09:00:00Z");
    // Either day, both days: the 13th is a Wednesday, the first Friday the 13th is in November.
    assert_eq!(first("0 9 13 * 3"), "2026-05-06T09:00:00Z");
    assert_eq!(first("0 9 13 * +5"), "2026-11-13T09:00:00Z");
    assert_eq!(first("0 9 L * *"), "2026-05-31T09:00:00Z");
    // The 16th is a Saturday.
    assert_eq!(first("0 9 16W * *"), "2026-05-15T09:00:00Z");
    assert_eq!(first("0 9 * * 5#2"), "2026-05-08T09:00:00Z");
    assert_eq!(first("0 9 * * 5L"), "2026-05-29T09:00:00Z");
}

#[test]
fn a_time_is_after_another_one_only() {
    let nine = time("2026-05-01T09:00:00Z");
    let before = |millis| time("2026-05-01T08:59:59Z").after(Duration::from_millis(millis));
    let daily = Timing::cron("0 9 * * *");
    assert_eq!(daily.after(before(999)), Some(nine));
    assert_eq!(daily.after(nine), Some(time("2026-05-02T09:00:00Z")));
    assert_eq!(
        daily.after(nine.after(Duration::from_millis(1))),
        Some(time("2026-05-02T09:00:00Z"))
    );
    let once = Timing::at(nine);
    assert_eq!((once.after(before(999)), once.after(nine)), (Some(nine), None));
}

#[test]
fn intervals_are_counted_from_a_time() {
    let from = time("2026-05-01T00:00:10.250Z");
    let timing = Timing::every_from(Duration::from_secs(90), from);
    assert_eq!(timing.after(time("2020-01-01T00:00:00Z")), Some(from));
    assert_eq!(timing.after(from), Some(time("2026-05-01T00:01:40.250Z")));
    assert_eq!(
        timing.after(time("2026-05-01T00:01:40.249Z")),
        Some(time("2026-05-01T00:01:40.250Z"))
    );
    assert_eq!(timing.after(time("9999-12-31T23:59:59.999Z")), None);
    let plain = Timing::every(Duration::from_secs(3600));
    assert_eq!(
        plain.after(time("2026-05-01T00:30:00Z")),
        Some(time("2026-05-01T01:00:00Z"))
    );
}

#[test]
fn the_last_ones_of_a_month_are_found_quickly() {
    let (first, until) = (time("2026-03-15T00:00:00Z"), time("2026-04-15T00:00:30Z"));
    let minutes = [
        Timing::cron_in("* * * * *", "Europe/Berlin"),
        Timing::every(Duration::from_secs(60)),
    ];
    for timing in minutes {
        let start = Instant::now();
        let recent = timing.recent(first, until, 3);
        assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
        let expected = ["2026-04-14T23:58:00Z", "2026-04-14T23:59:00Z", "2026-04-15T00:00:00Z"].map(time);
        assert_eq!((recent.times, recent.count), (expected.to_vec(), COUNT_LIMIT));
    }
    let few = Timing::cron("0 9 * * *").recent(time("2026-03-15T09:00:00Z"), time("2026-03-17T09:00:00Z"), 2);
    let expected = ["2026-03-16T09:00:00Z", "2026-03-17T09:00:00Z"].map(time);
    assert_eq!((few.times, few.count), (expected.to_vec(), 3));
    let none = Timing::cron("0 9 * * *").recent(until, first, 2);
    assert_eq!((none.times.len(), none.count), (0, 0));
}
