//! Changing schedules.

use std::time::Duration;

use agcore_schedule::{CatchUp, Overlap, ScheduleChange, ScheduleErrorKind, Timing};
use futures_util::future::join;
use serde_json::json;

use super::opened::{at, hourly, open};
use crate::stores::ScheduleStoreSubject;

/// Checks that a change sets what it contains, leaves everything else alone, and is refused as a whole if the result is not
/// acceptable.
pub async fn changes_what_is_set(subject: &dyn ScheduleStoreSubject) {
    let opened = open(subject).await;
    opened.create(hourly("s").with_title("old")).await;
    opened.pass(60).await;
    let before = opened.get("s").await;
    let change = ScheduleChange::new()
        .with_title("new")
        .with_job(json!(7))
        .with_overlap(Overlap::Queue)
        .with_catch_up(CatchUp::All { up_to: 2 });
    let after = opened.store.change("acme", "s", 1, change).await.unwrap();
    assert_eq!(opened.get("s").await, after);
    assert_eq!((after.title.as_deref(), &after.job), (Some("new"), &json!(7)));
    assert_eq!(
        (after.catch_up, after.overlap),
        (CatchUp::All { up_to: 2 }, Overlap::Queue)
    );
    assert_eq!(
        (after.revision, &after.timing, after.next_at),
        (2, &before.timing, before.next_at)
    );
    assert_eq!(after.created_at, before.created_at);
    assert!(after.updated_at >= before.updated_at);

    let untitled = ScheduleChange::new().without_title();
    let after = opened.store.change("acme", "s", 2, untitled).await.unwrap();
    assert_eq!((&after.title, &after.job), (&None, &json!(7)));
    let refused = ScheduleChange::new().with_title("x").with_overlap(Overlap::Skip);
    let error = opened.store.change("acme", "s", 3, refused).await.unwrap_err();
    assert_eq!(error.kind(), ScheduleErrorKind::InvalidInput);
    assert_eq!(opened.get("s").await, after);
}

/// Checks that a change is made to the revision that its writer has read only.
pub async fn of_two_changes_one_wins(subject: &dyn ScheduleStoreSubject) {
    let opened = open(subject).await;
    let title = |title: &str| ScheduleChange::new().with_title(title);
    let missing = opened.store.change("acme", "s", 1, title("a")).await.unwrap_err();
    assert_eq!(missing.kind(), ScheduleErrorKind::NotFound);
    opened.create(hourly("s")).await;
    for revision in 1..=20 {
        let changes = join(
            opened.store.change("acme", "s", revision, title("a")),
            opened.other.change("acme", "s", revision, title("b")),
        );
        let (one, other) = changes.await;
        let (won, lost) = if one.is_ok() { (one, other) } else { (other, one) };
        assert_eq!(opened.get("s").await, won.unwrap());
        let (expected, found) = (revision, revision + 1);
        assert_eq!(
            lost.unwrap_err().kind(),
            ScheduleErrorKind::Conflict { expected, found }
        );
    }
}

/// Checks that with another timing the next occurrence is the first one after the change, and that a time that is over is refused.
pub async fn another_timing_starts_anew(subject: &dyn ScheduleStoreSubject) {
    let opened = open(subject).await;
    let before = opened.create(hourly("s")).await;
    opened.pass(2 * 3600).await;
    let over = ScheduleChange::new().with_timing(Timing::at(at(1)));
    let error = opened.store.change("acme", "s", 1, over).await.unwrap_err();
    assert_eq!(error.kind(), ScheduleErrorKind::InvalidInput);
    assert_eq!(opened.due_ids().await, ["s"]);

    let daily = ScheduleChange::new().with_timing(Timing::every(Duration::from_secs(86_400)));
    let after = opened.store.change("acme", "s", 1, daily).await.unwrap();
    assert_eq!(after.next_at, Some(after.updated_at.after(Duration::from_secs(86_400))));
    assert_ne!(after.timing, before.timing);
    assert!(opened.due_ids().await.is_empty());
}

/// Checks that a paused schedule is not due, and that one that is resumed continues with the first occurrence after that.
pub async fn pausing_and_resuming(subject: &dyn ScheduleStoreSubject) {
    let opened = open(subject).await;
    opened.create(hourly("s")).await;
    opened.create(hourly("never started").paused()).await;
    let paused = opened.store.change("acme", "s", 1, ScheduleChange::new().paused());
    let paused = paused.await.unwrap();
    assert_eq!((paused.is_paused, paused.next_at, paused.revision), (true, None, 2));
    opened.pass(5 * 3600).await;
    assert!(opened.due_ids().await.is_empty());
    // Paused twice is paused.
    let again = opened.store.change("acme", "s", 2, ScheduleChange::new().paused());
    assert_eq!(again.await.unwrap().next_at, None);

    let resumed = opened.store.change("acme", "s", 3, ScheduleChange::new().resumed());
    let resumed = resumed.await.unwrap();
    let now = opened.due().await.now;
    assert!(
        !resumed.is_paused && resumed.next_at.is_some_and(|next| next > resumed.updated_at),
        "{resumed:?}"
    );
    assert!(
        resumed.next_at.unwrap().since(now) <= Duration::from_secs(3600),
        "{resumed:?}"
    );
    assert!(opened.due_ids().await.is_empty());
    opened.pass(3601).await;
    assert_eq!(opened.due_ids().await, ["s"]);
    // Resuming what is not paused does not skip what is due.
    let due = opened.get("s").await;
    let change = ScheduleChange::new().resumed();
    let same = opened.store.change("acme", "s", due.revision, change).await.unwrap();
    assert_eq!(same.next_at, due.next_at);
}
