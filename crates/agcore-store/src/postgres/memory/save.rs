//! Saving: any number of items in one statement.

use std::collections::BTreeMap;

use agcore_chat::Timestamp;
use agcore_memory::MemoryItem;
use serde_json::to_string;

use super::facets::facets;
use crate::{
    error::StoreError,
    postgres::{
        PostgresStore,
        error::unwritable,
        query::{bind_all, numbered, statement},
        text,
    },
    sql::Conditions,
};

/// Inserts rows from columns, and updates those that exist.
const SAVE: &str = r#"
    INSERT INTO memory_items (tenant, id, "user", line, content, metadata, facets, source, created_at, updated_at,
                              valid_from, valid_until)
    SELECT tenant, id, "user", line, content, metadata::json, facets::jsonb, source, created_at, $12, valid_from, valid_until
    FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[],
                $9::bigint[], $10::bigint[], $11::bigint[])
         AS new (tenant, id, "user", line, content, metadata, facets, source, created_at, valid_from, valid_until)
    ON CONFLICT (tenant, id) DO UPDATE SET
    "user" = excluded."user", line = excluded.line, content = excluded.content, metadata = excluded.metadata,
    facets = excluded.facets, source = excluded.source, updated_at = excluded.updated_at,
    valid_from = excluded.valid_from, valid_until = excluded.valid_until"#;

/// The number of values of [`SAVE`].
const VALUES: usize = 12;

/// The columns that an item keeps when it is saved again, and their values if it has expired.
const KEPT: [(&str, &str); 4] = [
    ("created_at", "excluded.created_at"),
    ("recalls", "0"),
    ("score_sum", "0"),
    ("recalled_at", "NULL"),
];

impl PostgresStore {
    /// Saves items that were checked.
    pub(super) async fn save_checked(&self, items: Vec<MemoryItem>) -> Result<(), StoreError> {
        let now = self.now();
        let items = distinct(items);
        let metadata: Result<Vec<String>, _> = items.iter().map(|item| to_string(&item.metadata)).collect();
        let metadata = metadata.map_err(|error| unwritable("the metadata", error))?;
        let source = |item: &MemoryItem| item.source.as_deref().map(|source| text::encode(source).into_owned());
        let created_at = |item: &MemoryItem| match item.created_at {
            unknown if unknown == Timestamp::default() => now.as_millis(),
            known => known.as_millis(),
        };
        let millis = |time: Option<Timestamp>| time.map(Timestamp::as_millis);
        let expired = Conditions::expired(self.eviction(), now);
        let statement = statement(sql(&expired))
            .bind(column(&items, |item| &*item.owner.tenant))
            .bind(column(&items, |item| item.id.as_str()))
            .bind(column(&items, |item| &*item.owner.user))
            .bind(column(&items, |item| item.owner.line.as_deref()))
            .bind(column(&items, |item| text::encode(&item.content)))
            .bind(metadata)
            .bind(column(&items, |item| facets(&item.metadata)))
            .bind(column(&items, source))
            .bind(column(&items, created_at))
            .bind(column(&items, |item| millis(item.valid_from)))
            .bind(column(&items, |item| millis(item.valid_until)))
            .bind(now.as_millis());
        let saved = self
            .statements()
            .execute("cannot save the items", bind_all(statement, &expired))
            .await;
        saved.map(drop)
    }
}

/// Returns the statement. What has expired does not exist any more, so its history must not live on.
fn sql(expired: &Conditions) -> String {
    let mut sql = SAVE.to_owned();
    if !expired.is_never() {
        let expired = numbered(expired.sql(), VALUES + 1);
        for (column, fresh) in KEPT {
            sql += &format!(", {column} = CASE WHEN {expired} THEN {fresh} ELSE memory_items.{column} END");
        }
    }
    sql
}

/// Returns the items as if they had been saved one after the other: of the same id, the last item with the first time of
/// creation. They are sorted, so that two writers of the same items lock them in the same order.
fn distinct(items: Vec<MemoryItem>) -> Vec<MemoryItem> {
    let mut distinct: BTreeMap<(String, String), MemoryItem> = BTreeMap::new();
    for mut item in items {
        let key = (item.tenant().to_string(), item.id.clone());
        if let Some(earlier) = distinct.get(&key) {
            item.created_at = earlier.created_at;
        }
        distinct.insert(key, item);
    }
    distinct.into_values().collect()
}

fn column<'i, T>(items: &'i [MemoryItem], member: impl Fn(&'i MemoryItem) -> T) -> Vec<T> {
    items.iter().map(member).collect()
}
