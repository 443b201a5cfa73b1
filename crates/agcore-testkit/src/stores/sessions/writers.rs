//! Many writers at the same time.

use agcore_session::{Commit, EventFilter, MessageFilter, NewEvent, NewMessage, SessionErrorKind};
use futures_util::future::join_all;
use serde_json::json;

use super::opened::{Opened, message, open_twice, record, start};
use crate::stores::SessionStoreSubject;

const WRITERS: usize = 64;

fn commit(writer: usize) -> Commit {
    Commit::new()
        .with_message(message(&format!("{writer} a")))
        .with_message(NewMessage::audit(format!("{writer} audit"), ""))
        .with_message(message(&format!("{writer} b")))
        .with_event(NewEvent::new("r", "text", json!(writer)))
}

/// Checks that the numbers of messages and events have no gaps, and those of one commit follow each other.
async fn check_numbers(opened: &Opened) {
    let conversation = opened.messages("s", MessageFilter::new()).await;
    assert!(
        conversation
            .iter()
            .map(|message| message.seq)
            .eq(1..=2 * WRITERS as i64)
    );
    for pair in conversation.chunks(2) {
        let writer = |index: usize| pair[index].id.split(' ').next().map(str::to_owned);
        assert_eq!(writer(0), writer(1), "the messages of a commit are not together");
    }
    let audit = opened.numbers("s", MessageFilter::audit()).await;
    assert!(audit.into_iter().eq((1..=WRITERS as i64).map(|number| -number)));
    let events = opened.store.events("local", "s", &EventFilter::new()).await.unwrap();
    assert!(events.iter().map(|event| event.seq).eq(1..=WRITERS as u64));
    let mut writers: Vec<_> = events.iter().filter_map(|event| event.data.as_u64()).collect();
    writers.sort_unstable();
    assert!(writers.into_iter().eq(0..WRITERS as u64));
}

/// Checks that 64 writers without records, who can all succeed, leave no gaps in the numbers.
pub async fn sixty_four_writers_leave_no_gaps(subject: &dyn SessionStoreSubject) {
    let handles = open_twice(subject).await;
    handles[0].create("s").await;
    handles[0].commit("s", start("r")).await;
    let writes = (0..WRITERS).map(|writer| handles[writer % 2].store.commit("local", "s", 0, commit(writer)));
    for result in join_all(writes).await {
        result.unwrap();
    }
    check_numbers(&handles[0]).await;
}

/// Checks that of 64 writers with records, who try again after a conflict, everyone succeeds once: every conflict is reported,
/// no record is lost, and there are no gaps in the numbers.
pub async fn sixty_four_writers_try_again_after_conflicts(subject: &dyn SessionStoreSubject) {
    let handles = open_twice(subject).await;
    handles[0].create("s").await;
    handles[0].commit("s", start("r")).await;
    let writes = (0..WRITERS).map(|writer| {
        let store = &handles[writer % 2].store;
        async move {
            let (mut end, mut conflicts) = (0, 0);
            loop {
                let commit = commit(writer).with_record(record(writer));
                match store.commit("local", "s", end, commit).await {
                    Ok(committed) => return (committed.end, writer, conflicts),
                    Err(error) => match error.kind() {
                        SessionErrorKind::Conflict { expected, found } if expected == end => {
                            (end, conflicts) = (found, conflicts + 1);
                        }
                        _ => panic!("{error:?}"),
                    },
                }
            }
        }
    });
    let mut written = join_all(writes).await;
    written.sort_unstable();
    assert!(
        written.iter().map(|(_, _, conflicts)| conflicts).sum::<u64>() > 0,
        "the writers did not meet"
    );
    let records = handles[1]
        .store
        .read(&handles[1].get("s").await.stream(), 0)
        .await
        .unwrap();
    let read: Vec<_> = records
        .iter()
        .map(|entry| (entry.seq, entry.record.data.clone()))
        .collect();
    let expected: Vec<_> = written.iter().map(|(end, writer, _)| (*end, json!(writer))).collect();
    assert_eq!(read, expected);
    assert!(read.into_iter().map(|(seq, _)| seq).eq(1..=WRITERS as u64));
    check_numbers(&handles[1]).await;
}
