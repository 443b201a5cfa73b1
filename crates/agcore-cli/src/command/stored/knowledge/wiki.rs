//! The pages in a database, and what the commands have in common.

use std::sync::Arc;

use agcore::{
    chat::Actor,
    memory::{
        knowledge::{KnowledgePage, KnowledgeStore, PageFilter, markdown},
        search::KnowledgeIndex,
    },
    store::sqlite::SqliteStore,
};
use agcore_args::{FileArgs, PageArgs};
use serde_json::{Value, json};

use crate::{command::stored::database::Database, exit::Failure};

/// The number of pages that are read or saved together.
pub(super) const BATCH: usize = 256;

/// Opens a database that exists.
pub(super) async fn open(args: &FileArgs) -> Result<(Database, SqliteStore), Failure> {
    let database = Database::of(args)?;
    let store = database.open("agcore knowledge add").await?;
    Ok((database, store))
}

/// Returns the tenant of the program's user.
pub(super) fn tenant() -> String {
    Actor::local().tenant.to_string()
}

/// Returns the filter for these options.
pub(super) fn filter(args: &PageArgs) -> PageFilter {
    let filter = PageFilter::new(tenant()).with_prefix(args.prefix.as_deref().unwrap_or_default());
    args.tags.iter().fold(filter, PageFilter::with_tag)
}

/// Returns the index of the pages in a database.
pub(super) fn index_of(store: SqliteStore) -> KnowledgeIndex {
    let texts = Arc::new(store.text_index());
    KnowledgeIndex::new(Arc::new(store), texts)
}

/// Returns pages in the order of their ids.
pub(super) async fn pages_of(store: &SqliteStore, ids: &[String]) -> Result<Vec<KnowledgePage>, Failure> {
    let mut pages = Vec::with_capacity(ids.len());
    for ids in ids.chunks(BATCH) {
        pages.extend(KnowledgeStore::get_many(store, &tenant(), ids).await?);
    }
    Ok(pages)
}

/// Returns `1 page was` or `3 pages were`.
pub(super) fn counted(number: usize, one: &str, many: &str) -> String {
    match number {
        1 => format!("1 page {one}"),
        number => format!("{number} pages {many}"),
    }
}

/// Returns files and folders that were not read, as JSON.
pub(super) fn skipped_as_json(skipped: &[markdown::Skipped]) -> Value {
    let skipped = skipped.iter().map(|skipped| {
        let path = skipped.path.display().to_string();
        json!({ "path": path, "reason": skipped.reason })
    });
    skipped.collect()
}
