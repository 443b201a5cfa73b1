//! `memory`: what was remembered.

use std::sync::Arc;

use agcore::{
    chat::SystemClock,
    memory::{MemoryItem, MemoryStore},
    store::sqlite::SqliteStore,
};
use serde_json::Value;

use crate::support::{Agcore, runtime};

fn remembering() -> Agcore {
    let agcore = Agcore::new().at_home();
    agcore.run(["store", "migrate"]).assert_success();
    runtime().block_on(async {
        let clock = Arc::new(SystemClock::new());
        let store = SqliteStore::open(agcore.state("agcore.db"), clock).await.unwrap();
        for (id, text) in [
            ("notes/茶", "Ann 喜欢绿茶。\nSecond line"),
            ("notes/b", "B"),
            ("other", "C"),
        ] {
            store.save(MemoryItem::new(id, text)).await.unwrap();
        }
        store.close().await;
    });
    agcore
}

fn ids(agcore: &Agcore) -> Vec<String> {
    let ran = agcore.run(["memory", "list", "--json"]);
    let items: Value = serde_json::from_str(ran.assert_success()).unwrap();
    let items = items["items"].as_array().unwrap().iter();
    let mut ids: Vec<String> = items.map(|item| item["id"].as_str().unwrap().to_owned()).collect();
    ids.sort();
    ids
}

#[test]
fn items_are_listed_and_forgotten() {
    let agcore = remembering();
    assert_eq!(ids(&agcore), ["notes/b", "notes/茶", "other"]);
    let ran = agcore.run(["memory", "list", "--prefix", "notes/茶"]);
    let listed = ran.assert_success();
    assert!(
        listed.starts_with("notes/茶  20") && listed.ends_with("Ann 喜欢绿茶。 Second line\n"),
        "{listed}"
    );
    assert_eq!(
        agcore
            .run(["memory", "list", "--limit", "2"])
            .assert_success()
            .lines()
            .count(),
        2
    );
    agcore
        .run(["memory", "forget", "other", "no"])
        .assert_failed(2, &["nothing is remembered under `no`", "`agcore memory list`"]);
    assert_eq!(
        agcore.run(["memory", "forget", "other", "other"]).assert_success(),
        "1 item was deleted.\n"
    );
    let ran = agcore.run(["memory", "forget", "--prefix", "notes/", "--json"]);
    let result: Value = serde_json::from_str(ran.assert_success()).unwrap();
    assert_eq!(result["deleted"], 2);
    let ran = agcore.run(["memory", "list"]);
    assert_eq!(
        (ran.assert_success(), ran.stderr.as_str()),
        ("", "Nothing is remembered.\n")
    );
}

#[test]
fn everything_is_never_forgotten_by_mistake() {
    let agcore = remembering();
    agcore.run(["memory", "forget"]).assert_failed(2, &["<ID"]);
    agcore
        .run(["memory", "forget", "--prefix", ""])
        .assert_failed(2, &["--prefix"]);
    agcore
        .run(["memory", "forget", "a", "--prefix", "b"])
        .assert_failed(2, &["cannot be used with"]);
    assert_eq!(ids(&agcore).len(), 3);
    let agcore = Agcore::new().at_home();
    agcore
        .run(["memory", "list"])
        .assert_failed(2, &["there is no database", "`agcore store migrate` creates it"]);
}
