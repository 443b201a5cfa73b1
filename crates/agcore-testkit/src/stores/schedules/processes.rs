//! Many processes at the same time.

use std::{collections::BTreeMap, sync::Arc};

use agcore_schedule::{Outcome, Previous, RunRef, ScheduleStore};
use futures_util::future::join_all;

use super::opened::{hourly, open};
use crate::stores::ScheduleStoreSubject;

const PROCESSES: usize = 16;
const SCHEDULES: usize = 200;

/// Records the next occurrence of every schedule that is due. Returns the ids of those that this process has recorded.
async fn record_all(store: &dyn ScheduleStore, process: usize) -> Vec<String> {
    let due = store.due(None, SCHEDULES as u64).await.unwrap();
    // The others ask, too, before this one records.
    tokio::task::yield_now().await;
    let mut recorded = Vec::new();
    // Each process begins at another place, so that not all of them work on the same one.
    let (left, right) = due.schedules.split_at(process * due.schedules.len() / PROCESSES);
    for schedule in right.iter().chain(left) {
        let plan = schedule.plan(due.now, Previous::None);
        let run = plan
            .start
            .map(|at| RunRef::new(process.to_string(), schedule.run_id(at)));
        let occurrences = plan.occurrences(run);
        if store.record(schedule, occurrences, plan.next_at).await.unwrap() {
            recorded.push(schedule.id.clone());
        }
    }
    recorded
}

/// Checks that of two processes that record the same occurrence at once, one does.
pub async fn of_two_processes_one_records(subject: &dyn ScheduleStoreSubject) {
    let opened = open(subject).await;
    for number in 0..10 {
        opened.create(hourly(&number.to_string())).await;
    }
    opened.pass(3601).await;
    let both = join_all([record_all(&*opened.store, 0), record_all(&*opened.other, 0)]).await;
    let mut recorded = both.concat();
    recorded.sort();
    let all: Vec<String> = (0..10).map(|number| number.to_string()).collect();
    assert_eq!(recorded, all);
}

/// Checks that sixteen processes that work on all due schedules at once record each occurrence once.
pub async fn sixteen_processes_record_each_once(subject: &dyn ScheduleStoreSubject) {
    let opened = open(subject).await;
    for number in 0..SCHEDULES {
        opened.create(hourly(&format!("{number:03}"))).await;
    }
    opened.pass(3601).await;
    let processes = (0..PROCESSES).map(|process| {
        let store = Arc::clone(if process % 2 == 0 { &opened.store } else { &opened.other });
        async move { record_all(&*store, process).await }
    });
    let recorded = join_all(processes).await.concat();
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for id in recorded {
        *counts.entry(id).or_default() += 1;
    }
    assert_eq!(counts.len(), SCHEDULES);
    assert!(counts.values().all(|count| *count == 1), "{counts:?}");
    assert!(opened.due_ids().await.is_empty());
    for number in 0..SCHEDULES {
        let id = format!("{number:03}");
        assert_eq!(opened.get(&id).await.revision, 2);
        let entries = opened.store.occurrences("acme", &id, 9).await.unwrap().into_iter();
        assert_eq!(entries.filter(|entry| entry.outcome == Outcome::Started).count(), 1);
    }
}
