//! Two processes that write to one file.

use std::collections::BTreeMap;

use agcore_session::{
    Commit, EventFilter, Journal, MessageFilter, MessageRole, NewEvent, NewMessage, NewSession, Record, RunChange,
    RunStatus, SessionErrorKind, SessionReader, SessionWriter, Timestamp,
};
use agcore_store::sqlite::{Durability, SqliteStore};
use futures_util::future::join_all;
use serde_json::{Value, json};
use tokio::sync::oneshot::Receiver;

use super::child::{Writer, open, report};

const STREAMS: usize = 10;
/// The appends of a process to each stream.
const APPENDS: u64 = 500;
/// The writers of a process to the session.
const WRITERS: usize = 32;
const COMMITS: usize = 3;

fn record(data: Value) -> Record {
    Record::new("test", 1, Timestamp::default(), data)
}

/// The job `append`: appends to all streams, and tries again after each conflict. Reports the place of each record, and the
/// number of conflicts.
pub(super) async fn append(file: &str, process: &str, begin: Receiver<()>) {
    let store = open(file, Durability::ProcessDeath).await;
    report("ready");
    begin.await.unwrap();
    let appends = (0..STREAMS).map(|stream| append_to(&store, stream, process));
    for conflicts in join_all(appends).await {
        report(&format!("conflicts {conflicts}"));
    }
    store.close().await;
}

async fn append_to(store: &SqliteStore, stream: usize, process: &str) -> u64 {
    let (name, mut end, mut conflicts) = (format!("stream {stream}"), 0, 0);
    for number in 0..APPENDS {
        loop {
            match store.append(&name, end, vec![record(json!([process, number]))]).await {
                Ok(seq) => {
                    assert_eq!(seq, end + 1);
                    end = seq;
                    report(&format!("appended {stream} {seq} {number}"));
                    break;
                }
                Err(error) => match error.kind() {
                    SessionErrorKind::Conflict { expected, found } if expected == end && found != end => {
                        (end, conflicts) = (found, conflicts + 1);
                    }
                    _ => panic!("{error:?}"),
                },
            }
        }
    }
    conflicts
}

/// 10 000 appends of two processes to ten streams: every conflict is reported, nothing is lost, and each process finds its
/// records at the positions that the store returned, in its own order.
#[tokio::test]
async fn two_processes_lose_no_appends() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("agcore.db");
    let mut processes = ["a", "b"].map(|name| Writer::start("append", &path, name));
    Writer::begin(&mut processes);
    let mut places: BTreeMap<(usize, u64), Value> = BTreeMap::new();
    let mut conflicts = 0;
    // Both pipes are emptied, so that no process waits for the other one's reader.
    let reports = std::thread::scope(|scope| {
        let readers = processes
            .each_mut()
            .map(|process| scope.spawn(|| std::iter::from_fn(|| process.next()).collect()));
        readers.map(|reader| -> Vec<String> { reader.join().unwrap() })
    });
    for (process, reports) in ["a", "b"].into_iter().zip(&reports) {
        for report in reports {
            let parts: Vec<&str> = report.split(' ').collect();
            match parts[..] {
                ["conflicts", number] => conflicts += number.parse::<u64>().unwrap(),
                ["appended", stream, seq, number] => {
                    let place = (stream.parse().unwrap(), seq.parse().unwrap());
                    let data = json!([process, number.parse::<u64>().unwrap()]);
                    assert_eq!(places.insert(place, data), None, "two records got the same place");
                }
                _ => panic!("{report}"),
            }
        }
    }
    assert_eq!(places.len() as u64, 2 * STREAMS as u64 * APPENDS);
    let store = open(path.to_str().unwrap(), Durability::ProcessDeath).await;
    for stream in 0..STREAMS {
        let entries = store.read(&format!("stream {stream}"), 0).await.unwrap();
        assert!(entries.iter().map(|entry| entry.seq).eq(1..=2 * APPENDS));
        for entry in &entries {
            assert_eq!(Some(&entry.record.data), places.get(&(stream, entry.seq)));
        }
        for process in ["a", "b"] {
            let own = entries.iter().filter(|entry| entry.record.data[0] == process);
            assert!(
                own.map(|entry| entry.record.data[1].as_u64())
                    .eq((0..APPENDS).map(Some))
            );
        }
    }
    assert!(conflicts > 0, "the processes did not meet");
    println!("10000 appends of two processes, {conflicts} conflicts reported");
}

/// The job `commit`: many writers commit to one session, and try again after each conflict.
pub(super) async fn commit(file: &str, process: &str, begin: Receiver<()>) {
    let store = open(file, Durability::ProcessDeath).await;
    report("ready");
    begin.await.unwrap();
    let commits = (0..WRITERS).map(|writer| commit_all(&store, process, writer));
    let conflicts: u64 = join_all(commits).await.into_iter().sum();
    report(&format!("conflicts {conflicts}"));
    store.close().await;
}

async fn commit_all(store: &SqliteStore, process: &str, writer: usize) -> u64 {
    let (mut end, mut conflicts) = (0, 0);
    for number in 0..COMMITS {
        loop {
            let id = format!("{process} {writer} {number}");
            let commit = Commit::new()
                .with_record(record(json!(id)))
                .with_message(NewMessage::new(&*id, MessageRole::User, ""))
                .with_message(NewMessage::audit(format!("{id} audit"), ""))
                .with_event(NewEvent::new("r", "text", json!(id)));
            match store.commit("local", "s", end, commit).await {
                Ok(committed) => {
                    end = committed.end;
                    break;
                }
                Err(error) => match error.kind() {
                    SessionErrorKind::Conflict { found, .. } => (end, conflicts) = (found, conflicts + 1),
                    _ => panic!("{error:?}"),
                },
            }
        }
    }
    conflicts
}

/// 64 writers in two processes on one session: no gaps in the numbers, and records, messages and events are in one order.
#[tokio::test]
async fn sixty_four_writers_in_two_processes_leave_no_gaps() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("agcore.db");
    let store = open(path.to_str().unwrap(), Durability::ProcessDeath).await;
    store.create(NewSession::new("s")).await.unwrap();
    let start = Commit::new().with_run(RunChange::new("r", RunStatus::Running));
    store.commit("local", "s", 0, start).await.unwrap();
    let mut processes = ["a", "b"].map(|name| Writer::start("commit", &path, name));
    Writer::begin(&mut processes);
    let conflicts = processes
        .each_mut()
        .map(|process| process.next().expect("the process failed"));
    let session = store.get_session("local", "s").await.unwrap().unwrap();
    let records = store.read(&session.stream(), 0).await.unwrap();
    let commits = 2 * WRITERS * COMMITS;
    assert!(records.iter().map(|entry| entry.seq).eq(1..=commits as u64));
    let messages = store.messages("local", "s", &MessageFilter::new()).await.unwrap();
    assert!(messages.iter().map(|message| message.seq).eq(1..=commits as i64));
    let audit = store.messages("local", "s", &MessageFilter::audit()).await.unwrap();
    assert!(
        audit
            .iter()
            .map(|message| message.seq)
            .eq((1..=commits as i64).map(|seq| -seq))
    );
    let events = store.events("local", "s", &EventFilter::new()).await.unwrap();
    assert!(events.iter().map(|event| event.seq).eq(1..=commits as u64));
    for (index, record) in records.iter().enumerate() {
        let id = record.record.data.as_str().unwrap();
        assert_eq!((messages[index].id.as_str(), &events[index].data), (id, &json!(id)));
    }
    println!("64 writers in two processes: {conflicts:?}");
}
