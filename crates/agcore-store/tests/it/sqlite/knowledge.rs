//! Knowledge in a SQLite file: erasure, damage.

use std::{fs, path::Path, sync::Arc};

use agcore_memory::{
    Actor, MemoryErrorKind,
    knowledge::{KnowledgePage, KnowledgeStore, PageFilter},
    search::KnowledgeIndex,
};
use agcore_store::sqlite::{SqliteOptions, SqliteStore, maintenance};
use agcore_testkit::clock::ManualClock;
use rusqlite::Connection;

async fn open(path: &Path) -> SqliteStore {
    SqliteStore::open(path, Arc::new(ManualClock::new())).await.unwrap()
}

#[tokio::test]
async fn erased_pages_are_not_left_in_the_file() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("agcore.db");
    let store = open(&path).await;
    let word = "PLUMTREE";
    let page = KnowledgePage::new(word, word, word.repeat(1000)).with_summary(word);
    let page = page.with_tag(word).with_reference(word).with_owner(Actor::user("ann"));
    store.upsert(page.clone()).await.unwrap();
    // Its id would be remembered.
    store.upsert(KnowledgePage::new("PLUMTREE gone", "", "")).await.unwrap();
    KnowledgeStore::delete(&store, "local", "PLUMTREE gone").await.unwrap();
    store.upsert(KnowledgePage::new("KEPTWORD", "", "")).await.unwrap();
    // Indexes contain the words, too.
    let index = KnowledgeIndex::new(Arc::new(store.clone()), Arc::new(store.text_index()));
    assert_eq!(index.search("local", word, 10).await.unwrap().len(), 1);
    assert_eq!(KnowledgeStore::erase(&store, &Actor::user("ann")).await.unwrap(), 1);
    let files = fs::read_dir(directory.path()).unwrap();
    let bytes: Vec<u8> = files.flat_map(|file| fs::read(file.unwrap().path()).unwrap()).collect();
    let contains = |word: &str| {
        let lower = bytes.to_ascii_lowercase();
        lower
            .windows(word.len())
            .any(|part| part == word.to_lowercase().as_bytes())
    };
    assert!(contains("KEPTWORD") && !contains(word));
}

#[tokio::test]
async fn damaged_pages_are_reported() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("agcore.db");
    let store = open(&path).await;
    for id in ["a", "b"] {
        store
            .upsert(KnowledgePage::new(id, id, "").with_tag("t"))
            .await
            .unwrap();
    }
    let damage = Connection::open(&path).unwrap();
    damage
        .execute("UPDATE knowledge_pages SET tags = '[\"t\"' WHERE id = 'a'", [])
        .unwrap();
    let error = KnowledgeStore::get(&store, "local", "a").await.unwrap_err();
    assert_eq!(error.kind(), MemoryErrorKind::Serialization, "{error:?}");
    assert_eq!(
        KnowledgeStore::list(&store, &PageFilter::new("local"))
            .await
            .unwrap_err()
            .kind(),
        error.kind()
    );
    let error = store.changes("local", None, 10).await.unwrap_err();
    assert_eq!(error.kind(), MemoryErrorKind::Serialization);
    // The others are still there.
    assert!(KnowledgeStore::get(&store, "local", "b").await.unwrap().is_some());
    let report = maintenance::check(&SqliteOptions::new(&path)).await.unwrap();
    let messages: Vec<String> = report.damage.iter().map(ToString::to_string).collect();
    assert_eq!(
        messages,
        ["the JSON of the page `a` of local in knowledge_pages cannot be read"]
    );
    // Saving the page again repairs it.
    store.upsert(KnowledgePage::new("a", "a", "")).await.unwrap();
    assert!(
        maintenance::check(&SqliteOptions::new(&path))
            .await
            .unwrap()
            .is_intact()
    );
}
