//! The behaviors of journals. Each function checks one of them and panics with the reason if it fails.

#![expect(
    clippy::missing_panics_doc,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a check panics if it fails"
)]

use std::sync::Arc;

use agcore_session::{Journal, Record, SessionErrorKind, Timestamp, id};
use futures_util::future::join_all;
use serde_json::{Value, json};

use super::JournalSubject;

fn record(data: impl Into<Value>) -> Record {
    Record::new("test", 1, Timestamp::from_millis(1_700_000_000_123), data.into())
}

/// Returns numbers and data of the records from a number on.
async fn data(journal: &Arc<dyn Journal>, stream: &str, from: u64) -> Vec<(u64, Value)> {
    let entries = journal.read(stream, from).await.unwrap();
    entries
        .into_iter()
        .map(|entry| (entry.seq, entry.record.data))
        .collect()
}

/// Checks that the first record has the number 1, and the next ones follow without gaps.
pub async fn numbers_records_from_one(subject: &dyn JournalSubject) {
    let journal = subject.journal().await;
    assert_eq!(data(&journal, "s", 0).await, []);
    assert_eq!(journal.append("s", 0, vec![record("a")]).await.unwrap(), 1);
    assert_eq!(journal.append("s", 1, vec![record("b"), record("c")]).await.unwrap(), 3);
    let expected = [(1, json!("a")), (2, json!("b")), (3, json!("c"))];
    assert_eq!(data(&journal, "s", 0).await, expected);
    assert_eq!(journal.append("s", 3, Vec::new()).await.unwrap(), 3);
}

/// Checks that if one record is not acceptable, none is appended.
pub async fn appends_all_or_none(subject: &dyn JournalSubject) {
    let journal = subject.journal().await;
    let bad = Record::new("", 1, Timestamp::default(), Value::Null);
    let error = journal.append("s", 0, vec![record("a"), bad]).await.unwrap_err();
    assert_eq!(error.kind(), SessionErrorKind::InvalidInput);
    assert_eq!(data(&journal, "s", 0).await, []);
    assert_eq!(journal.append("s", 0, vec![record("a")]).await.unwrap(), 1);
}

/// Checks that a writer who expects another end gets an error with the real one, and nothing is appended.
pub async fn reports_every_conflict(subject: &dyn JournalSubject) {
    let journal = subject.journal().await;
    journal.append("s", 0, vec![record("a"), record("b")]).await.unwrap();
    for expected in [0, 1, 3, u64::MAX] {
        for records in [vec![record("c")], Vec::new()] {
            let error = journal.append("s", expected, records).await.unwrap_err();
            assert_eq!(error.kind(), SessionErrorKind::Conflict { expected, found: 2 });
            assert!(error.is_recoverable());
        }
    }
    let error = journal.append("other", 1, vec![record("c")]).await.unwrap_err();
    assert_eq!(error.kind(), SessionErrorKind::Conflict { expected: 1, found: 0 });
    assert_eq!(data(&journal, "s", 0).await.len(), 2);
}

/// Checks that streams with similar names have nothing to do with each other.
pub async fn streams_are_independent(subject: &dyn JournalSubject) {
    let journal = subject.journal().await;
    let names = ["a", "a/b", "a/", "A", "a%", "a_", "a*", "a:b", "日本", "😀", "a'--"];
    for name in names {
        assert_eq!(journal.append(name, 0, vec![record(name)]).await.unwrap(), 1, "{name}");
    }
    assert!(journal.delete("a").await.unwrap());
    for name in &names[1..] {
        assert_eq!(data(&journal, name, 0).await, [(1, json!(name))]);
    }
    assert_eq!(data(&journal, "a", 0).await, []);
}

/// Checks that reading starts at the number that is asked for, also after the end.
pub async fn reads_from_a_number_on(subject: &dyn JournalSubject) {
    let journal = subject.journal().await;
    journal.append("s", 0, (1..=20).map(record).collect()).await.unwrap();
    assert_eq!(data(&journal, "s", 19).await, [(19, json!(19)), (20, json!(20))]);
    assert_eq!(data(&journal, "s", 21).await, []);
    assert_eq!(data(&journal, "s", u64::MAX).await, []);
    let numbers: Vec<u64> = data(&journal, "s", 0).await.iter().map(|(seq, _)| *seq).collect();
    assert!(numbers.into_iter().eq(1..=20));
}

/// Checks that a record comes back as it was, whatever its data is.
pub async fn keeps_every_member(subject: &dyn JournalSubject) {
    let journal = subject.journal().await;
    let values = [
        json!(null),
        json!({"b": 1, "a": [true, 0.1, -7, u64::MAX, 1e300], "": {"\u{0}": "\u{0}\u{7f}日本😀\\\"\n"}}),
        json!("x".repeat(1 << 20)),
    ];
    let records: Vec<Record> = values
        .into_iter()
        .map(|value| Record::new("kind/ü", u32::MAX, Timestamp::from_millis(-1), value))
        .collect();
    journal.append("s", 0, records.clone()).await.unwrap();
    let read: Vec<Record> = journal
        .read("s", 0)
        .await
        .unwrap()
        .into_iter()
        .map(|entry| entry.record)
        .collect();
    assert!(read == records, "a record has changed");
}

/// Checks that trimming removes the records before a number. The others keep their numbers, and the stream keeps its end.
pub async fn trims_the_beginning(subject: &dyn JournalSubject) {
    let journal = subject.journal().await;
    journal.append("s", 0, (1..=5).map(record).collect()).await.unwrap();
    journal.trim("s", 4).await.unwrap();
    assert_eq!(data(&journal, "s", 0).await, [(4, json!(4)), (5, json!(5))]);
    journal.trim("s", 100).await.unwrap();
    assert_eq!(data(&journal, "s", 0).await, []);
    assert_eq!(journal.append("s", 5, vec![record(6)]).await.unwrap(), 6);
    assert_eq!(data(&journal, "s", 0).await, [(6, json!(6))]);
    journal.trim("missing", 4).await.unwrap();
}

/// Checks that a stream that was deleted does not exist, and can be started again.
pub async fn a_deleted_stream_starts_again(subject: &dyn JournalSubject) {
    let journal = subject.journal().await;
    assert!(!journal.delete("s").await.unwrap());
    journal.append("s", 0, vec![record(1), record(2)]).await.unwrap();
    journal.trim("s", 3).await.unwrap();
    assert!(
        journal.delete("s").await.unwrap(),
        "a stream without records exists, too"
    );
    assert!(!journal.delete("s").await.unwrap());
    assert_eq!(journal.append("s", 0, vec![record(3)]).await.unwrap(), 1);
    assert_eq!(data(&journal, "s", 0).await, [(1, json!(3))]);
}

/// Checks that names that a database could not keep are refused by every journal.
pub async fn refuses_unacceptable_names(subject: &dyn JournalSubject) {
    let journal = subject.journal().await;
    let long = "x".repeat(10_000);
    for name in ["", "a\0b", long.as_str()] {
        let error = journal.append(name, 0, vec![record(1)]).await.unwrap_err();
        assert_eq!(error.kind(), SessionErrorKind::InvalidInput, "{error}");
        assert_eq!(data(&journal, name, 0).await, []);
    }
    let name = "日".repeat(id::MAX_ID_BYTES / 3);
    assert_eq!(journal.append(&name, 0, vec![record(1)]).await.unwrap(), 1);
}

/// Checks that one of several writers wins and the others get an error: no record is lost or doubled.
pub async fn of_two_writers_one_wins(subject: &dyn JournalSubject) {
    const WRITERS: u64 = 4;
    const RECORDS: u64 = 25;
    let journal = subject.journal().await;
    let conflicts = join_all((0..WRITERS).map(|writer| {
        let journal = Arc::clone(&journal);
        async move {
            let (mut end, mut written, mut conflicts) = (0, 0, 0);
            while written < RECORDS {
                match journal.append("s", end, vec![record(json!([writer, written]))]).await {
                    Ok(seq) => (end, written) = (seq, written + 1),
                    Err(error) => {
                        let SessionErrorKind::Conflict { found, .. } = error.kind() else {
                            panic!("{error}");
                        };
                        (end, conflicts) = (found, conflicts + 1);
                    }
                }
                tokio::task::yield_now().await;
            }
            conflicts
        }
    }))
    .await;
    assert!(conflicts.iter().sum::<u64>() > 0, "the writers did not meet");
    let entries = data(&journal, "s", 0).await;
    assert!(entries.iter().map(|(seq, _)| *seq).eq(1..=WRITERS * RECORDS));
    for writer in 0..WRITERS {
        let own = entries
            .iter()
            .filter(|(_, data)| data[0] == writer)
            .map(|(_, data)| data[1].as_u64());
        assert!(own.eq((0..RECORDS).map(Some)), "writer {writer}");
    }
}
