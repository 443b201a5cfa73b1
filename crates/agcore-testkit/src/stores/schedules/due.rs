//! Which schedules are due.

use std::time::Duration;

use agcore_schedule::{Actor, DuePlace, Occurrence, Schedule, Timing};

use super::opened::{at, hourly, open};
use crate::stores::ScheduleStoreSubject;

/// Checks that schedules of all tenants are due when the time of the store has come, and that the one that has been due for longest
/// comes first.
pub async fn due_ones_come_oldest_first(subject: &dyn ScheduleStoreSubject) {
    let opened = open(subject).await;
    let every = |id: &str, seconds| {
        let mut new = hourly(id);
        new.timing = Timing::every(Duration::from_secs(seconds));
        new
    };
    opened.create(every("a late one", 1000)).await;
    opened
        .create(every("early", 500).with_owner(Actor::new("other", "bo")))
        .await;
    opened.create(every("between", 750)).await;
    opened.create(every("tomorrow", 86_400)).await;
    assert!(opened.due_ids().await.is_empty());
    opened.pass(600).await;
    assert_eq!(opened.due_ids().await, ["early"]);
    opened.pass(500).await;
    let due = opened.due().await;
    let ids: Vec<&str> = due.schedules.iter().map(|schedule: &Schedule| &*schedule.id).collect();
    assert_eq!(ids, ["early", "between", "a late one"]);
    assert!(due.schedules.iter().all(|schedule| schedule.next_at <= Some(due.now)));
    assert_eq!(opened.due().await.schedules, due.schedules, "asking changes nothing");
    let page = async |after: Option<DuePlace>, limit| opened.store.due(after.as_ref(), limit).await.unwrap().schedules;
    let all = &due.schedules;
    assert_eq!(page(None, 1).await, all[..1]);
    assert_eq!(page(Some(place(&all[0])), 1).await, all[1..2]);
    assert_eq!(page(Some(place(&all[1])), 9).await, all[2..]);
    assert!(page(Some(place(&all[2])), 9).await.is_empty());
    assert!(page(None, 0).await.is_empty());
    let next = async |limit| opened.store.due(None, limit).await.unwrap().next;
    assert_eq!(next(2).await, Some(place(&all[1])));
    assert_eq!(next(4).await, None, "the last page");
    // A page continues after a schedule that has changed since it was read.
    let entry = vec![Occurrence::started(at(1), None)];
    assert!(opened.store.record(&all[0], entry, None).await.unwrap());
    assert_eq!(page(Some(place(&all[0])), 9).await, all[1..]);
}

/// Checks that a schedule without a next occurrence, such as one that has occurred once, is not due any more.
pub async fn what_is_over_is_not_due(subject: &dyn ScheduleStoreSubject) {
    let opened = open(subject).await;
    let now = opened.due().await.now;
    let mut new = hourly("once");
    new.timing = Timing::at(now.after(Duration::from_secs(600)));
    opened.create(new).await;
    opened.pass(601).await;
    let due = opened.due().await.schedules;
    assert_eq!(due.len(), 1);
    let entry = vec![Occurrence::started(at(1), None)];
    assert!(opened.store.record(&due[0], entry, None).await.unwrap());
    assert!(opened.due_ids().await.is_empty());
    let over = opened.get("once").await;
    assert_eq!((over.next_at, over.is_paused), (None, false));
}

fn place(schedule: &Schedule) -> DuePlace {
    DuePlace::new(schedule.next_at.unwrap(), schedule.tenant(), &*schedule.id)
}
