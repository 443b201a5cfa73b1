//! The behaviors of journals whose calls fail, lose their answers, wait or are abandoned: what callers can rely on when they
//! repeat a call. Each function checks one of them on a [`FaultyStore`] around the subject's store, and panics with the reason if
//! it fails.

#![expect(
    clippy::missing_panics_doc,
    clippy::unwrap_used,
    reason = "a check panics if it fails"
)]

use std::sync::Arc;

use agcore_session::{Journal, Record, SessionErrorKind, Timestamp};
use futures_util::future::join_all;
use serde_json::{Value, json};

use crate::stores::{
    JournalSubject,
    faulty::{FaultPlan, FaultyStore, StoreFault},
};

type Faulty = FaultyStore<Arc<dyn Journal>>;

fn record(data: impl Into<Value>) -> Record {
    Record::new("test", 1, Timestamp::default(), data.into())
}

async fn open(subject: &dyn JournalSubject, plan: FaultPlan) -> Faulty {
    FaultyStore::new(subject.journal().await, plan)
}

/// Returns the data of all records, and checks that their numbers have no gaps.
async fn data(journal: &dyn Journal) -> Vec<Value> {
    let entries = journal.read("s", 0).await.unwrap();
    let numbers = entries.iter().map(|entry| entry.seq);
    assert!(numbers.eq(1..=entries.len() as u64), "the numbers have gaps");
    entries.into_iter().map(|entry| entry.record.data).collect()
}

/// Checks that an append whose answer was lost is not applied again when it is repeated: the writer gets a conflict that names
/// the end that it would have reached.
pub async fn a_torn_acknowledgement_is_not_applied_twice(subject: &dyn JournalSubject) {
    let plan = FaultPlan::new().with_faults([0, 2].map(|call| (call, StoreFault::LoseAnswer)));
    let journal = open(subject, plan).await;
    let records = || vec![record("a"), record("b")];
    for (expected, found) in [(0, 2), (2, 4)] {
        let lost = journal.append("s", expected, records()).await.unwrap_err();
        assert_eq!(lost.kind(), SessionErrorKind::Unavailable);
        assert!(lost.is_recoverable());
        let again = journal.append("s", expected, records()).await.unwrap_err();
        assert_eq!(again.kind(), SessionErrorKind::Conflict { expected, found });
    }
    let expected = ["a", "b", "a", "b"].map(Value::from);
    assert_eq!(data(journal.inner()).await, expected);
}

/// Checks that a writer that reads the end of the stream after every failure appends each record exactly once, whatever goes
/// wrong.
pub async fn every_record_is_appended_once(subject: &dyn JournalSubject) {
    let abandon = |polls| StoreFault::Abandon { polls };
    let faults = [StoreFault::Fail, StoreFault::LoseAnswer, abandon(1), abandon(3)];
    let journal = open(subject, FaultPlan::random(3, faults)).await;
    for number in 1..=100u64 {
        loop {
            match journal.append("s", number - 1, vec![record(number)]).await {
                Ok(end) => {
                    assert_eq!(end, number);
                    break;
                }
                Err(error) => match error.kind() {
                    // An earlier attempt took place.
                    SessionErrorKind::Conflict { found, .. } => {
                        assert_eq!(found, number, "{error}");
                        break;
                    }
                    kind => assert_eq!(kind, SessionErrorKind::Unavailable, "{error}"),
                },
            }
        }
    }
    let expected: Vec<Value> = (1..=100).map(Value::from).collect();
    assert_eq!(data(journal.inner()).await, expected);
}

/// Checks that of an append whose future was dropped, everything is stored or nothing, and that it cannot appear behind
/// records that were appended later.
pub async fn abandoned_appends_are_whole(subject: &dyn JournalSubject) {
    let plan = FaultPlan::from_fn(|number, _| {
        let polls = u32::try_from(number % 12).unwrap_or(0);
        Some(StoreFault::Abandon { polls })
    });
    let journal = open(subject, plan).await;
    let mut expected = Vec::new();
    for number in 0..60 {
        let end = expected.len() as u64;
        let abandoned = [json!([number, "a"]), json!([number, "b"])];
        let records = abandoned.clone().map(record).to_vec();
        journal.append("s", end, records).await.unwrap_err();
        let later = json!([number, "later"]);
        match journal.inner().append("s", end, vec![record(later.clone())]).await {
            Ok(_) => expected.push(later),
            Err(error) => {
                let found = end + 2;
                assert_eq!(error.kind(), SessionErrorKind::Conflict { expected: end, found });
                expected.extend(abandoned);
            }
        }
    }
    assert_eq!(data(journal.inner()).await, expected);
}

/// Checks that appends that were held up and arrive in another order than they were started get a conflict, until they follow the
/// record that they expect.
pub async fn delayed_appends_keep_their_order(subject: &dyn JournalSubject) {
    const WRITERS: usize = 6;
    let plan = FaultPlan::from_fn(|number, _| (number < WRITERS).then_some(StoreFault::Hold));
    let journal = open(subject, plan).await;
    let (arrived, arrivals) = tokio::sync::watch::channel(0);
    let writers = (0..WRITERS).map(|writer| {
        let (journal, arrived) = (&journal, &arrived);
        async move {
            let expected = writer as u64;
            let appended = journal.append("s", expected, vec![record(expected)]).await;
            arrived.send_modify(|arrived| *arrived += 1);
            appended
        }
    });
    let release = async {
        journal.wait_for_held(WRITERS).await;
        for (place, writer) in (0..WRITERS).rev().enumerate() {
            assert!(journal.release(writer));
            let mut arrivals = arrivals.clone();
            let _ = arrivals.wait_for(|arrived| *arrived == place + 1).await;
        }
    };
    let (appended, ()) = tokio::join!(join_all(writers), release);
    let mut end = 0;
    for (writer, appended) in (0..).zip(appended) {
        match appended {
            Ok(seq) => assert_eq!((writer, seq), (0, 1), "only the first record could be appended"),
            Err(error) => {
                let kind = SessionErrorKind::Conflict {
                    expected: writer,
                    found: 0,
                };
                assert_eq!(error.kind(), kind);
                assert_eq!(
                    journal.append("s", writer, vec![record(writer)]).await.unwrap(),
                    writer + 1
                );
            }
        }
        end = writer + 1;
    }
    let expected: Vec<Value> = (0..end).map(Value::from).collect();
    assert_eq!(data(journal.inner()).await, expected);
}
