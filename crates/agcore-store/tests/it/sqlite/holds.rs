//! Holds of processes that are killed.

use std::path::Path;

use agcore_session::{Hold, SessionError, SessionErrorKind, SessionWriter};
use agcore_store::sqlite::Durability;

use super::child::{Writer, open, report};

const NAME: &str = "name";

/// The job `hold`: takes a hold, alone or `shared`, and keeps it until the process is killed.
pub(super) async fn hold(file: &str, form: &str) {
    let store = open(file, Durability::ProcessDeath).await;
    let _hold = match form {
        "shared" => store.hold_shared(NAME).await.unwrap(),
        _ => store.hold(NAME).await.unwrap(),
    };
    report(&std::process::id().to_string());
    std::future::pending::<()>().await;
}

/// Starts a process with the hold. Returns its id.
fn start(path: &Path, form: &str) -> (Writer, u32) {
    let mut process = Writer::start("hold", path, form);
    let id = process.next().expect("the process failed");
    (process, id.parse().unwrap())
}

/// Returns the process that has what was refused.
fn process_of(taken: Result<Hold, SessionError>) -> u32 {
    let refused = taken.unwrap_err();
    assert_eq!(refused.kind(), SessionErrorKind::Held, "{refused:?}");
    refused.holder().unwrap().process.unwrap()
}

#[tokio::test]
async fn a_killed_process_releases_its_hold() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("agcore.db");
    let store = open(path.to_str().unwrap(), Durability::ProcessDeath).await;
    let (mut process, id) = start(&path, "alone");
    assert_eq!(process_of(store.hold(NAME).await), id);
    assert_eq!(process_of(store.hold_shared(NAME).await), id);
    process.kill();
    drop(store.hold(NAME).await.unwrap());
    store.close().await;
}

#[tokio::test]
async fn a_killed_process_releases_the_hold_that_it_shares() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("agcore.db");
    let store = open(path.to_str().unwrap(), Durability::ProcessDeath).await;
    let processes = [start(&path, "shared"), start(&path, "shared")];
    let [(mut one, of_one), (mut other, of_other)] = processes;
    assert!([of_one, of_other].contains(&process_of(store.hold(NAME).await)));
    let shared = store.hold_shared(NAME).await.unwrap();
    one.kill();
    drop(shared);
    assert_eq!(process_of(store.hold(NAME).await), of_other);
    other.kill();
    let hold = store.hold(NAME).await.unwrap();
    assert_eq!(process_of(store.hold_shared(NAME).await), std::process::id());
    drop(hold);
    // What the killed processes have left behind is removed as well.
    let left = std::fs::read_dir(directory.path().join("agcore.db-holds")).unwrap();
    assert_eq!(left.count(), 0);
    store.close().await;
}
