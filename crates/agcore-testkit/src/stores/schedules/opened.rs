//! [`Opened`]: the stores that are checked.

use std::{sync::Arc, time::Duration};

use agcore_schedule::{Actor, Due, NewSchedule, Schedule, ScheduleStore, Timestamp, Timing};
use serde_json::json;

use crate::stores::ScheduleStoreSubject;

/// Two handles of a store, and what moves its time.
pub(super) struct Opened<'s> {
    pub(super) store: Arc<dyn ScheduleStore>,
    pub(super) other: Arc<dyn ScheduleStore>,
    subject: &'s dyn ScheduleStoreSubject,
}

pub(super) async fn open(subject: &dyn ScheduleStoreSubject) -> Opened<'_> {
    let [store, other] = subject.schedule_stores().await;
    Opened { store, other, subject }
}

/// Returns a schedule of each hour.
pub(super) fn hourly(id: &str) -> NewSchedule {
    let timing = Timing::every(Duration::from_secs(3600));
    NewSchedule::new(id, timing, json!({"prompt": id})).with_owner(Actor::new("acme", "ann"))
}

pub(super) fn at(millis: i64) -> Timestamp {
    Timestamp::from_millis(millis)
}

impl Opened<'_> {
    pub(super) async fn create(&self, new: NewSchedule) -> Schedule {
        self.store.create(new).await.unwrap()
    }

    /// Returns a schedule of the tenant `acme`.
    pub(super) async fn get(&self, id: &str) -> Schedule {
        self.other.get("acme", id).await.unwrap().unwrap()
    }

    pub(super) async fn due(&self) -> Due {
        self.other.due(None, 1000).await.unwrap()
    }

    /// Returns the ids of the schedules that are due.
    pub(super) async fn due_ids(&self) -> Vec<String> {
        let due = self.due().await.schedules.into_iter();
        due.map(|schedule| schedule.id).collect()
    }

    pub(super) async fn pass(&self, seconds: u64) {
        self.subject.pass(Duration::from_secs(seconds)).await;
    }
}
