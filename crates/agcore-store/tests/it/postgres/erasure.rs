//! Erasure, proven by reading the files of the server.

use std::{sync::Arc, time::Duration};

use agcore_memory::{MemoryItem, MemoryStore};
use agcore_session::{
    Actor, ApprovalChange, CallChange, CheckpointStore, Commit, Journal, MessageRole, NewApproval, NewCheckpoint,
    NewEvent, NewMessage, NewSession, Record, RunChange, RunKey, RunStatus, SessionRetention, SessionWriter, Timestamp,
};
use agcore_store::{StoreErrorKind, postgres::PostgresStore};
use agcore_testkit::clock::ManualClock;
use serde_json::json;
use sqlx::{Connection, PgConnection};

use super::server::{Names, admin, admin_of, need_server, options_of, url_of};

/// Returns the numbers of files of a database that contain `PLUMTREE` and `KEPTWORD`. Before that, the server writes all its pages,
/// also those of other tests, which can take a minute.
async fn files_with_words(url: &str) -> (i64, i64) {
    admin_of(url, "CHECKPOINT").await;
    let mut connection = PgConnection::connect(url).await.unwrap();
    let sql = "WITH files AS (
                   SELECT pg_read_binary_file('base/' || oid || '/' || file, 0, 1000000000, true) AS content
                   FROM pg_database, pg_ls_dir('base/' || oid) AS file WHERE datname = current_database()
               )
               SELECT count(*) FILTER (WHERE position('PLUMTREE'::bytea IN content) > 0),
                      count(*) FILTER (WHERE position('KEPTWORD'::bytea IN content) > 0) FROM files";
    sqlx::query_as(sql).fetch_one(&mut connection).await.unwrap()
}

/// Creates a session that contains a word in every part.
async fn create_session(store: &PostgresStore, owner: &Actor, word: &str) {
    let new = NewSession::new(word)
        .with_owner(owner.clone())
        .with_title(word)
        .with_metadata("x", word);
    store.create(new).await.unwrap();
    let commit = Commit::new()
        .with_record(Record::new("k", 1, Timestamp::default(), word.into()))
        .with_run(RunChange::new(word, RunStatus::Running).with_input(word.into()))
        .with_message(NewMessage::new(word, MessageRole::User, word).with_run(word))
        .with_event(NewEvent::new(word, word, json!(word)))
        .with_call(CallChange::start(word, word, word, word.into()))
        .with_call(CallChange::finish(word, word, word.into()))
        .with_approval(ApprovalChange::Ask(NewApproval::new(word, word, word.into())))
        .with_approval(ApprovalChange::answer(word, word.into(), owner.clone()));
    store.commit("local", word, 0, commit).await.unwrap();
    let checkpoint = NewCheckpoint::snapshot(word, word.into());
    store
        .save_checkpoint(RunKey::new("local", word, word), 0, checkpoint)
        .await
        .unwrap();
}

#[tokio::test]
async fn erased_data_is_not_left_in_the_files() {
    need_server!();
    let names = Names::default();
    // Transactions of other tests in the same database would keep the rows alive.
    let name = names.name();
    admin(&format!("CREATE DATABASE {name} TEMPLATE template0 ENCODING UTF8")).await;
    let url = url_of(&name);
    let options = options_of(&url, "agcore").with_statement_timeout(Duration::from_millis(2_000));
    let store = options.open(Arc::new(ManualClock::new())).await.unwrap();
    let ann = Actor::user("ann");
    for number in 0..200 {
        let is_ann = number % 2 == 0;
        let (owner, word) = if is_ann {
            (ann.clone(), "PLUMTREE")
        } else {
            (Actor::user("ben"), "KEPTWORD")
        };
        // Longer texts are stored apart and compressed, beginning with the word itself.
        let item = MemoryItem::new(format!("{number} {word}"), word.repeat(number * 20)).with_owner(owner);
        store
            .save(item.with_metadata("x", word).with_source(word))
            .await
            .unwrap();
    }
    let record = Record::new("k", 1, Timestamp::default(), "PLUMTREE".into());
    store.append("PLUMTREE", 0, vec![record]).await.unwrap();
    create_session(&store, &ann, "PLUMTREE").await;
    create_session(&store, &Actor::user("ben"), "KEPTWORD").await;
    admin_of(&url, "ANALYZE").await;

    // A transaction that sees the rows keeps them.
    let mut old = PgConnection::connect(&url).await.unwrap();
    let begin = "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM pg_class";
    sqlx::raw_sql(begin).execute(&mut old).await.unwrap();
    assert_eq!(store.erase(&ann).await.unwrap(), 100);
    assert_eq!(store.erase_sessions(&ann).await.unwrap(), 1);
    Journal::delete(&store, "PLUMTREE").await.unwrap();
    let (erased, _) = files_with_words(&url).await;
    assert!(erased > 0, "the server overwrites deleted rows by itself");

    let error = store.vacuum().await.unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::Unavailable);
    assert!(
        error
            .message()
            .contains("an older transaction still sees the deleted rows (process"),
        "{error:?}"
    );
    old.close().await.unwrap();

    store.vacuum().await.unwrap();
    let (erased, kept) = files_with_words(&url).await;
    assert_eq!(erased, 0, "erased data can be read in the files");
    assert!(kept > 0);
    assert_eq!(
        store.get("local", "1 KEPTWORD").await.unwrap().unwrap().content,
        "KEPTWORD".repeat(20)
    );
    store.close().await;
}
