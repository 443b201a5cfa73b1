//! The rules for the days on which the clocks of a zone are changed. They are in the documentation of `Timing`.

use agcore_schedule::Timing;

use crate::time;

/// Checks the occurrences of an expression from a time to another one, both in UTC and without seconds.
#[track_caller]
fn check(expression: &str, zone: &str, [start, end]: [&str; 2], expected: &[&str]) {
    let timing = Timing::cron_in(expression, zone);
    timing.check().unwrap();
    let (mut found, end) = (Vec::new(), time(&format!("{end}:00Z")));
    let mut last = time(&format!("{start}:00Z"));
    while let Some(next) = timing.after(last).filter(|next| *next <= end) {
        found.push(next.to_text_in_seconds().replace(":00Z", ""));
        last = next;
    }
    assert_eq!(found, expected, "{expression} in {zone}");
    // Backwards as well: if there are many, the last ones are searched from the end.
    let all = timing.recent(time("2020-01-01T00:00:00Z"), end, expected.len());
    let backwards: Vec<String> = all
        .times
        .iter()
        .map(|at| at.to_text_in_seconds().replace(":00Z", ""))
        .collect();
    assert_eq!(backwards, expected, "{expression} in {zone}, backwards");
}

const BERLIN: &str = "Europe/Berlin";

/// In Berlin, 2026-03-29 has no time from 2:00 to 3:00.
const SPRING: [&str; 2] = ["2026-03-28T00:00", "2026-03-30T12:00"];

/// In Berlin, 2026-10-25 has the time from 2:00 to 3:00 twice.
const AUTUMN: [&str; 2] = ["2026-10-24T12:00", "2026-10-26T12:00"];

#[test]
fn a_time_that_does_not_exist_occurs_at_the_end_of_the_gap() {
    check(
        "30 2 * * *",
        BERLIN,
        SPRING,
        &["2026-03-28T01:30", "2026-03-29T01:00", "2026-03-30T00:30"],
    );
    check(
        "0 2 29 3 *",
        BERLIN,
        ["2026-03-01T00:00", "2026-04-01T00:00"],
        &["2026-03-29T01:00"],
    );
    // The hours beside the gap are not affected.
    check(
        "0 3 * * *",
        BERLIN,
        SPRING,
        &["2026-03-28T02:00", "2026-03-29T01:00", "2026-03-30T01:00"],
    );
    check(
        "59 1 * * *",
        BERLIN,
        SPRING,
        &["2026-03-28T00:59", "2026-03-29T00:59", "2026-03-29T23:59"],
    );
}

#[test]
fn a_time_that_exists_twice_occurs_once() {
    check("30 2 * * *", BERLIN, AUTUMN, &["2026-10-25T00:30", "2026-10-26T01:30"]);
    check("0 3 * * *", BERLIN, AUTUMN, &["2026-10-25T02:00", "2026-10-26T02:00"]);
}

#[test]
fn every_hour_that_passes_has_an_hourly_occurrence() {
    let spring = ["2026-03-28T23:00", "2026-03-29T03:00"];
    let expected = [
        "2026-03-29T00:00",
        "2026-03-29T01:00",
        "2026-03-29T02:00",
        "2026-03-29T03:00",
    ];
    check("0 * * * *", BERLIN, spring, &expected);
    let autumn = ["2026-10-24T23:00", "2026-10-25T03:00"];
    let expected = [
        "2026-10-25T00:00",
        "2026-10-25T01:00",
        "2026-10-25T02:00",
        "2026-10-25T03:00",
    ];
    check("0 * * * *", BERLIN, autumn, &expected);
}

#[test]
fn several_times_a_day_are_left_out_or_doubled() {
    let spring = ["2026-03-29T00:10", "2026-03-29T01:40"];
    check("0,30 2 * * *", BERLIN, spring, &[]);
    check(
        "*/30 2-3 * * *",
        BERLIN,
        spring,
        &["2026-03-29T01:00", "2026-03-29T01:30"],
    );
    let autumn = ["2026-10-24T23:59", "2026-10-25T02:10"];
    let twice = [
        "2026-10-25T00:00",
        "2026-10-25T00:30",
        "2026-10-25T01:00",
        "2026-10-25T01:30",
    ];
    check("0,30 2 * * *", BERLIN, autumn, &twice);
    let minutes = ["2026-10-25T00:58", "2026-10-25T01:02"];
    let expected = [
        "2026-10-25T00:59",
        "2026-10-25T01:00",
        "2026-10-25T01:01",
        "2026-10-25T01:02",
    ];
    check("* * * * *", BERLIN, minutes, &expected);
}

#[test]
fn zones_may_be_off_by_half_an_hour() {
    check(
        "0 9 * * *",
        "Asia/Kolkata",
        ["2026-01-01T00:00", "2026-01-02T00:00"],
        &["2026-01-01T03:30"],
    );
    check(
        "0 9 * * *",
        "Asia/Kathmandu",
        ["2026-01-01T00:00", "2026-01-02T00:00"],
        &["2026-01-01T03:15"],
    );
    // On Lord Howe Island clocks are put forward and back by half an hour at 2:00. On 2026-10-04 there is no time from 2:00 to 2:30.
    let howe = "Australia/Lord_Howe";
    let spring = ["2026-10-02T20:00", "2026-10-04T20:00"];
    check("15 2 * * *", howe, spring, &["2026-10-03T15:30", "2026-10-04T15:15"]);
    // On 2026-04-05 the time from 1:30 to 2:00 exists twice.
    let autumn = ["2026-04-04T14:00", "2026-04-04T16:00"];
    check("45 1 * * *", howe, autumn, &["2026-04-04T14:45"]);
    check("45 * * * *", howe, autumn, &["2026-04-04T14:45", "2026-04-04T15:15"]);
}

#[test]
fn clocks_may_be_changed_at_midnight() {
    // In Santiago, 2026-09-06 begins at 1:00.
    let days = ["2026-09-04T12:00", "2026-09-07T12:00"];
    let expected = ["2026-09-05T04:00", "2026-09-06T04:00", "2026-09-07T03:00"];
    check("0 0 * * *", "America/Santiago", days, &expected);
}
