//! Tests the times of occurrences and the plans for them, runs the conformance suite on the store of this crate, and shows that
//! each check of the suite can fail.

#![allow(
    clippy::disallowed_methods,
    clippy::panic,
    clippy::unwrap_used,
    reason = "tests fail by panicking, and one reads the variable AGCORE_SOAK"
)]

mod crashes;
mod flawed;
mod plan;
mod timing;

use std::{sync::Arc, time::Duration};

use agcore_schedule::{InMemorySchedules, ScheduleStore, Timestamp};
use agcore_testkit::{
    clock::ManualClock,
    stores::{ScheduleStoreSubject, StoreSubject},
};
use async_trait::async_trait;

/// Has one store, whose clock it moves.
#[derive(Default)]
struct InMemory(Arc<ManualClock>);

impl StoreSubject for InMemory {}

#[async_trait]
impl ScheduleStoreSubject for InMemory {
    async fn schedule_stores(&self) -> [Arc<dyn ScheduleStore>; 2] {
        let store = Arc::new(InMemorySchedules::new(Arc::clone(&self.0) as _));
        [Arc::clone(&store) as _, store]
    }

    async fn pass(&self, duration: Duration) {
        self.0.advance(duration);
    }
}

mod schedule_store {
    agcore_testkit::schedule_store_tests!(super::InMemory::default());
}

/// Reads a time.
#[track_caller]
fn time(text: &str) -> Timestamp {
    text.parse().unwrap()
}
