//! The plans for due schedules.

use std::time::Duration;

use agcore_schedule::{
    COUNT_LIMIT, CatchUp, NewSchedule, Occurrence, Outcome, Overlap, Plan, Previous, Schedule, ScheduleErrorKind,
    SkipReason, Timestamp, Timing,
};
use serde_json::Value;

use super::time;

/// Returns a schedule of each hour that begins at 9:00.
fn hourly(catch_up: CatchUp, overlap: Overlap) -> Schedule {
    let new = NewSchedule::new("s", Timing::cron("0 * * * *"), Value::Null)
        .with_catch_up(catch_up)
        .with_overlap(overlap);
    new.store(at("08:30:00")).unwrap()
}

/// Returns a time of one day.
#[track_caller]
fn at(clock: &str) -> Timestamp {
    time(&format!("2026-05-01T{clock}Z"))
}

#[track_caller]
fn check(plan: &Plan, start: Option<&str>, skipped: Option<(&str, SkipReason, u64)>, next: &str) {
    assert_eq!(plan.start, start.map(at));
    let expected = skipped.map(|(last, reason, count)| Occurrence::skipped(at(last), reason, count));
    assert_eq!(plan.skipped, expected);
    assert_eq!((plan.next_at, plan.waits), (Some(at(next)), false));
}

#[test]
fn nothing_is_planned_before_the_time() {
    let schedule = hourly(CatchUp::Once, Overlap::Skip);
    let plan = schedule.plan(at("08:59:59"), Previous::None);
    assert!(plan.is_empty() && !plan.waits && plan.next_at == schedule.next_at);
    let mut paused = schedule;
    paused.is_paused = true;
    assert!(paused.plan(at("12:00:00"), Previous::None).is_empty());
    paused.is_paused = false;
    paused.next_at = None;
    assert!(paused.plan(at("12:00:00"), Previous::None).is_empty());
}

#[test]
fn an_occurrence_in_time_starts_with_each_policy() {
    for catch_up in [CatchUp::Skip, CatchUp::Once, CatchUp::All { up_to: 3 }] {
        let schedule = hourly(catch_up, Overlap::Queue);
        for now in ["09:00:00", "09:01:00"] {
            let plan = schedule.plan(at(now), Previous::None);
            check(&plan, Some("09:00:00"), None, "10:00:00");
            assert!(!plan.cancels_previous);
        }
    }
}

#[test]
fn what_is_missed_is_skipped_or_made_up_for() {
    let now = at("13:30:00");
    let missed = |last, count| Some((last, SkipReason::Missed, count));
    let plan = hourly(CatchUp::Skip, Overlap::Skip).plan(now, Previous::None);
    check(&plan, None, missed("13:00:00", 5), "14:00:00");
    let plan = hourly(CatchUp::Once, Overlap::Skip).plan(now, Previous::None);
    check(&plan, Some("13:00:00"), missed("12:00:00", 4), "14:00:00");
    let plan = hourly(CatchUp::All { up_to: 3 }, Overlap::Queue).plan(now, Previous::None);
    check(&plan, Some("11:00:00"), missed("10:00:00", 2), "12:00:00");
    let plan = hourly(CatchUp::All { up_to: 9 }, Overlap::Queue).plan(now, Previous::None);
    check(&plan, Some("09:00:00"), None, "10:00:00");
    // The last one is in time.
    let plan = hourly(CatchUp::Skip, Overlap::Skip).plan(at("11:00:30"), Previous::None);
    check(&plan, Some("11:00:00"), missed("10:00:00", 2), "12:00:00");
}

#[test]
fn all_that_were_missed_are_started_one_after_the_other() {
    let mut schedule = hourly(CatchUp::All { up_to: 3 }, Overlap::Queue);
    let (now, mut started) = (at("13:30:00"), Vec::new());
    while schedule.next_at <= Some(now) {
        let plan = schedule.plan(now, Previous::Over(now));
        started.extend(plan.start);
        schedule = schedule.recorded(&plan.occurrences(None), plan.next_at);
    }
    assert_eq!(started, ["11:00:00", "12:00:00", "13:00:00"].map(at));
    assert_eq!(schedule.next_at, Some(at("14:00:00")));
}

#[test]
fn an_open_run_decides_by_the_policy() {
    let now = at("10:00:01");
    let plan = hourly(CatchUp::Once, Overlap::Skip).plan(now, Previous::Open);
    check(&plan, None, Some(("10:00:00", SkipReason::Overlap, 2)), "11:00:00");
    let queued = hourly(CatchUp::Once, Overlap::Queue);
    let plan = queued.plan(now, Previous::Open);
    assert!(plan.waits && plan.is_empty() && plan.next_at == queued.next_at);
    let plan = hourly(CatchUp::Once, Overlap::Interrupt).plan(now, Previous::Open);
    check(
        &plan,
        Some("10:00:00"),
        Some(("09:00:00", SkipReason::Missed, 1)),
        "11:00:00",
    );
    assert!(plan.cancels_previous);
    // Nothing is cancelled for an occurrence that is late and skipped.
    let plan = hourly(CatchUp::Skip, Overlap::Interrupt).plan(at("10:30:00"), Previous::Open);
    check(&plan, None, Some(("10:00:00", SkipReason::Missed, 2)), "11:00:00");
    assert!(!plan.cancels_previous);
}

#[test]
fn waiting_for_a_run_is_not_being_late() {
    let queued = hourly(CatchUp::Skip, Overlap::Queue);
    let plan = queued.plan(at("11:30:30"), Previous::Over(at("11:30:00")));
    check(
        &plan,
        Some("11:00:00"),
        Some(("10:00:00", SkipReason::Overlap, 2)),
        "12:00:00",
    );
    let plan = queued.plan(at("11:31:01"), Previous::Over(at("11:30:00")));
    check(&plan, None, Some(("11:00:00", SkipReason::Overlap, 3)), "12:00:00");
    // That another run was found to be over does not make up for a downtime.
    let plan = hourly(CatchUp::Skip, Overlap::Skip).plan(at("11:30:30"), Previous::Over(at("11:30:00")));
    check(&plan, None, Some(("11:00:00", SkipReason::Missed, 3)), "12:00:00");
}

#[test]
fn a_month_of_minutes_is_counted_up_to_a_limit() {
    let new = NewSchedule::new("s", Timing::cron("* * * * *"), Value::Null);
    let schedule = new.store(time("2026-05-01T00:00:00Z")).unwrap();
    let plan = schedule.plan(time("2026-06-01T00:00:30Z"), Previous::None);
    assert_eq!(plan.start, Some(time("2026-06-01T00:00:00Z")));
    let skipped = plan.skipped.unwrap();
    assert_eq!(
        (skipped.at, skipped.count),
        (time("2026-05-31T23:59:00Z"), COUNT_LIMIT - 1)
    );
}

#[test]
fn a_single_time_is_over_after_it() {
    let new = NewSchedule::new("s", Timing::at(at("12:00:00")), Value::Null);
    let schedule = new.clone().store(at("08:00:00")).unwrap();
    let plan = schedule.plan(at("18:00:00"), Previous::None);
    assert_eq!((plan.start, plan.next_at), (Some(at("12:00:00")), None));
    let over = schedule.recorded(&plan.occurrences(None), plan.next_at);
    assert!(over.plan(at("19:00:00"), Previous::None).is_empty());
    assert_eq!(over.last.unwrap().outcome, Outcome::Started);
    let error = new.store(at("12:00:00")).unwrap_err();
    assert_eq!(error.kind(), ScheduleErrorKind::InvalidInput);
}

#[test]
fn intervals_begin_when_they_are_stored() {
    let new = NewSchedule::new("s", Timing::every(Duration::from_secs(600)), Value::Null);
    let schedule = new.store(at("08:07:00")).unwrap();
    assert_eq!(schedule.next_at, Some(at("08:17:00")));
    let plan = schedule.plan(at("08:40:00"), Previous::None);
    check(
        &plan,
        Some("08:37:00"),
        Some(("08:27:00", SkipReason::Missed, 2)),
        "08:47:00",
    );
}

#[test]
fn a_schedule_is_plain_json() {
    let mut schedule = hourly(CatchUp::All { up_to: 3 }, Overlap::Queue);
    schedule = schedule.recorded(&[Occurrence::skipped(at("09:00:00"), SkipReason::Overlap, 1)], None);
    let json = serde_json::to_value(&schedule).unwrap();
    assert_eq!(json["timing"], serde_json::json!({"cron": "0 * * * *", "zone": "UTC"}));
    assert_eq!(json["catch_up"], serde_json::json!({"all": {"up_to": 3}}));
    assert_eq!(json["last"]["outcome"], "overlap");
    assert_eq!(serde_json::from_value::<Schedule>(json).unwrap(), schedule);
}
