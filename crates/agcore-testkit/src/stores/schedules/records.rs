//! Recording occurrences.

use agcore_schedule::{KEPT_OCCURRENCES, Occurrence, Outcome, RunRef, ScheduleChange, ScheduleErrorKind, SkipReason};

use super::opened::{at, hourly, open};
use crate::stores::ScheduleStoreSubject;

/// Checks that occurrences are read as they were recorded, newest first, and that the schedule follows from them.
pub async fn records_what_happened(subject: &dyn ScheduleStoreSubject) {
    let opened = open(subject).await;
    let created = opened.create(hourly("s")).await;
    let run = RunRef::new("thread", created.run_id(at(2000)));
    let first = vec![
        Occurrence::skipped(at(1000), SkipReason::Missed, 7),
        Occurrence::started(at(2000), Some(run.clone())),
    ];
    assert!(
        opened
            .store
            .record(&created, first.clone(), Some(at(3000)))
            .await
            .unwrap()
    );
    let after = opened.get("s").await;
    assert_eq!((after.next_at, after.revision), (Some(at(3000)), 2));
    assert_eq!(
        (&after.last, &after.last_run),
        (&Some(first[1].clone()), &Some(run.clone()))
    );
    assert_eq!(after.updated_at, created.updated_at);

    let second = vec![
        Occurrence::skipped(at(3000), SkipReason::Refused, 1),
        Occurrence::skipped(at(3500), SkipReason::Overlap, 1),
    ];
    assert!(
        opened
            .other
            .record(&after, second.clone(), Some(at(4000)))
            .await
            .unwrap()
    );
    let after = opened.get("s").await;
    assert_eq!(
        (&after.last, &after.last_run),
        (&Some(second[1].clone()), &Some(run)),
        "the run stays known"
    );
    let found = opened.store.occurrences("acme", "s", 9).await.unwrap();
    assert_eq!(found, [&second[1], &second[0], &first[1], &first[0]].map(Clone::clone));
    let newest = opened.store.occurrences("acme", "s", 1).await.unwrap();
    assert_eq!(
        (newest.len(), newest[0].outcome),
        (1, Outcome::Skipped(SkipReason::Overlap))
    );
    assert!(opened.store.occurrences("acme", "none", 9).await.unwrap().is_empty());

    let bad = vec![Occurrence::skipped(at(5000), SkipReason::Missed, 0)];
    let error = opened.store.record(&after, bad, None).await.unwrap_err();
    assert_eq!(error.kind(), ScheduleErrorKind::InvalidInput);
    assert_eq!(opened.get("s").await, after);
}

/// Checks that nothing is recorded for a schedule that was changed or deleted since it was read.
pub async fn a_stale_record_changes_nothing(subject: &dyn ScheduleStoreSubject) {
    let opened = open(subject).await;
    let stale = opened.create(hourly("s")).await;
    let change = ScheduleChange::new().with_title("new");
    let changed = opened.store.change("acme", "s", 1, change).await.unwrap();
    let entry = || vec![Occurrence::started(at(1), None)];
    assert!(!opened.store.record(&stale, entry(), None).await.unwrap());
    assert_eq!(opened.get("s").await, changed);
    assert!(opened.store.occurrences("acme", "s", 9).await.unwrap().is_empty());
    assert!(opened.store.delete("acme", "s").await.unwrap());
    assert!(!opened.store.record(&changed, entry(), None).await.unwrap());
}

/// Checks that nothing is recorded for a schedule that was deleted and created again since it was read.
pub async fn a_schedule_of_the_same_id_is_another_one(subject: &dyn ScheduleStoreSubject) {
    let opened = open(subject).await;
    let mut old = opened.create(hourly("s")).await;
    // As if it had been created earlier.
    old.created_at = at(old.created_at.as_millis() - 1000);
    assert!(
        !opened
            .store
            .record(&old, vec![Occurrence::started(at(1), None)], None)
            .await
            .unwrap()
    );
    assert_eq!(opened.get("s").await.revision, 1);
}

/// Checks that an occurrence that is recorded again stays as it was first recorded.
pub async fn occurrences_are_unique(subject: &dyn ScheduleStoreSubject) {
    let opened = open(subject).await;
    let created = opened.create(hourly("s")).await;
    let first = Occurrence::started(at(1000), Some(RunRef::new("thread", "first")));
    assert!(
        opened
            .store
            .record(&created, vec![first.clone()], created.next_at)
            .await
            .unwrap()
    );
    let read = opened.get("s").await;
    let again = vec![
        Occurrence::started(at(1000), Some(RunRef::new("thread", "second"))),
        Occurrence::started(at(2000), None),
    ];
    assert!(opened.store.record(&read, again.clone(), read.next_at).await.unwrap());
    let found = opened.store.occurrences("acme", "s", 9).await.unwrap();
    assert_eq!(found, [again[1].clone(), first]);
}

/// Checks that the last occurrences are kept, and earlier ones are not.
pub async fn the_last_occurrences_are_kept(subject: &dyn ScheduleStoreSubject) {
    let opened = open(subject).await;
    let mut schedule = opened.create(hourly("s")).await;
    let kept = i64::try_from(KEPT_OCCURRENCES).unwrap();
    for numbers in [1..=kept, kept + 1..=kept + 3] {
        let entries = numbers.map(|number| Occurrence::started(at(number), None));
        assert!(
            opened
                .store
                .record(&schedule, entries.collect(), schedule.next_at)
                .await
                .unwrap()
        );
        schedule = opened.get("s").await;
    }
    let found = opened.store.occurrences("acme", "s", u64::MAX).await.unwrap();
    let ends = (found.first().unwrap().at, found.last().unwrap().at);
    assert_eq!((found.len() as u64, ends), (KEPT_OCCURRENCES, (at(kept + 3), at(4))));
}
