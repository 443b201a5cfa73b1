//! Indexes in a SQLite file: the death of the process, damage, other rules for terms.

use std::{path::Path, sync::Arc};

use agcore_memory::{
    MemoryErrorKind,
    knowledge::{KnowledgePage, KnowledgeStore},
    search::{Bm25Settings, Keywords, KnowledgeIndex, TextIndex},
};
use agcore_store::sqlite::{Durability, SqliteOptions, SqliteStore, maintenance};
use rusqlite::Connection;

use super::child::{Writer, open, report};
use crate::index_changes::{Followed, change_count, changes_before_kill};

fn followed(store: SqliteStore) -> Followed {
    Followed {
        texts: Arc::new(store.text_index()),
        vectors: Arc::new(store.vector_index("model")),
        store: Arc::new(store),
    }
}

/// The job `change`: changes pages until it is killed.
pub(super) async fn change(file: &str, seed: &str) {
    let store = open(file, Durability::ProcessDeath).await;
    followed(store).change_forever(seed.parse().unwrap(), report).await;
}

#[tokio::test]
async fn indexes_equal_a_rebuild_when_the_process_is_killed() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("agcore.db");
    let (mut changes, mut round) = (0, 0);
    while changes < change_count() {
        let mut writer = Writer::start("change", &path, &round.to_string());
        for _ in 0..changes_before_kill(round) {
            writer.next().expect("the process ended by itself");
        }
        writer.kill();
        changes += changes_before_kill(round) + std::iter::from_fn(|| writer.next()).count();
        round += 1;
        let store = open(path.to_str().unwrap(), Durability::ProcessDeath).await;
        followed(store.clone()).assert_equals_a_rebuild().await;
        store.close().await;
        let report = maintenance::check(&SqliteOptions::new(&path)).await.unwrap();
        assert!(report.is_intact(), "{report:?}");
    }
    println!("{changes} changes, {round} kills");
}

async fn with_pages(path: &Path) -> (SqliteStore, KnowledgeIndex) {
    let store = open(path.to_str().unwrap(), Durability::ProcessDeath).await;
    let pages = (0..300).map(|number| KnowledgePage::new(format!("p{number}"), "Watering", "tea"));
    store.upsert_many(pages.collect()).await.unwrap();
    let index = KnowledgeIndex::new(Arc::new(store.clone()), Arc::new(store.text_index()));
    assert_eq!(index.search("local", "water", 1000).await.unwrap().len(), 300);
    (store, index)
}

#[tokio::test]
async fn a_damaged_index_is_reported_and_built_again() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("agcore.db");
    let (_store, index) = with_pages(&path).await;
    for damage in [
        "UPDATE text_leaves SET terms = substr(terms, 2)",
        "UPDATE text_lengths SET lengths = x'00'",
        "UPDATE text_leaves SET terms = x''",
    ] {
        Connection::open(&path).unwrap().execute(damage, []).unwrap();
        let error = index.search("local", "water", 10).await.unwrap_err();
        assert_eq!(error.kind(), MemoryErrorKind::Serialization, "{damage}: {error:?}");
        assert!(error.to_string().contains("rebuild it"), "{error}");
        assert_eq!(index.rebuild("local").await.unwrap(), 300);
        assert_eq!(
            index.search("local", "water", 1000).await.unwrap().len(),
            300,
            "{damage}"
        );
    }
    // What is gone entirely is built again by the next search.
    for loss in [
        "DELETE FROM text_indexes",
        "UPDATE text_indexes SET generation = NULL",
        "UPDATE text_indexes SET change = 9999",
    ] {
        let connection = Connection::open(&path).unwrap();
        connection.pragma_update(None, "foreign_keys", true).unwrap();
        connection.execute(loss, []).unwrap();
        assert_eq!(index.search("local", "water", 1000).await.unwrap().len(), 300, "{loss}");
    }
}

#[tokio::test]
async fn an_index_with_other_terms_is_built_again() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("agcore.db");
    let (store, _index) = with_pages(&path).await;
    let without_stems = store
        .text_index()
        .with_extractor(Arc::new(Keywords::new().without_stems()));
    assert_eq!(without_stems.position("local").await.unwrap(), None);
    assert_eq!(without_stems.search("local", "watering", 10).await.unwrap(), []);
    let index = KnowledgeIndex::new(Arc::new(store.clone()), Arc::new(without_stems));
    assert_eq!(index.search("local", "water", 10).await.unwrap(), []);
    assert_eq!(index.search("local", "watering", 1000).await.unwrap().len(), 300);
    let mut settings = Bm25Settings::default();
    settings.title = 3.0;
    let weighted = Arc::new(store.text_index().with_settings(settings));
    assert_eq!(weighted.position("local").await.unwrap(), None);
    // One that is written by a newer version is built again as well.
    let raw = Connection::open(&path).unwrap();
    raw.execute("UPDATE text_indexes SET format = '2 something else'", [])
        .unwrap();
    let index = KnowledgeIndex::new(Arc::new(store.clone()), Arc::new(store.text_index()));
    assert_eq!(index.search("local", "water", 1000).await.unwrap().len(), 300);
    let indexes: u32 = raw
        .query_row("SELECT count(*) FROM text_indexes", [], |row| row.get(0))
        .unwrap();
    assert_eq!(indexes, 1);
}

#[tokio::test]
async fn models_have_indexes_of_their_own() {
    use agcore_memory::search::{IndexChanges, VectorIndex};

    let directory = tempfile::tempdir().unwrap();
    let store = open(
        directory.path().join("a.db").to_str().unwrap(),
        Durability::ProcessDeath,
    )
    .await;
    let (one, other) = (store.vector_index("one"), store.vector_index("other"));
    let vector = |vector: &[f32]| IndexChanges::new(None, None).with_saved("a", vector.to_vec());
    assert!(one.apply("local", vector(&[1.0, 0.0])).await.unwrap());
    assert!(other.apply("local", vector(&[1.0, 0.0, 0.0])).await.unwrap());
    assert_eq!(one.search("local", &[1.0, 0.0], 5).await.unwrap().len(), 1);
    assert_eq!(
        store.vector_index("third").search("local", &[1.0], 5).await.unwrap(),
        []
    );
}
