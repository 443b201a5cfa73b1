//! Pages in their table.

use agcore_chat::Actor;
use agcore_memory::knowledge::{KnowledgePage, PageSource, PageSummary};
use rusqlite::Row;

use crate::sqlite::rows::{Json, count, time};

/// The columns of a page, except for its content.
pub(in crate::sqlite) const COLUMNS: &str =
    "tenant, id, user, line, title, summary, tags, refs, source, place, created_at, updated_at, change";

/// Reads a page with its content.
pub(in crate::sqlite) fn page(row: &Row<'_>) -> rusqlite::Result<KnowledgePage> {
    let content: String = row.get("content")?;
    read(row, content)
}

/// Reads an entry of the index.
pub(super) fn summary(row: &Row<'_>) -> rusqlite::Result<PageSummary> {
    read(row, String::new()).map(PageSummary::from)
}

fn read(row: &Row<'_>, content: String) -> rusqlite::Result<KnowledgePage> {
    let mut owner = Actor::new(row.get::<_, String>("tenant")?, row.get::<_, String>("user")?);
    owner.line = row.get::<_, Option<String>>("line")?.map(Into::into);
    let (id, title): (String, String) = (row.get("id")?, row.get("title")?);
    let mut page = KnowledgePage::new(id, title, content).with_owner(owner);
    page.summary = row.get("summary")?;
    let Json(tags) = row.get("tags")?;
    let Json(references) = row.get("refs")?;
    (page.tags, page.references) = (tags, references);
    if let Some(source) = row.get::<_, Option<String>>("source")? {
        let place: Option<Json<_>> = row.get("place")?;
        page.source = Some(PageSource::new(
            source,
            place.map(|Json(place)| place).unwrap_or_default(),
        ));
    }
    page.created_at = time(row, "created_at")?;
    page.updated_at = time(row, "updated_at")?;
    page.version = count(row, "change")?;
    Ok(page)
}
