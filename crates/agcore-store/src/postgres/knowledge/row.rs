//! Reads pages from rows.

use agcore_chat::Actor;
use agcore_memory::knowledge::{KnowledgePage, PageSource, PageSummary};
use sqlx::{Error, Row, postgres::PgRow};

use crate::{
    error::StoreError,
    postgres::{
        error::convert,
        rows::{count, time},
        text,
    },
};

/// The columns of a page, except for its content.
macro_rules! COLUMNS {
    () => {
        "tenant, id, \"user\", line, title, summary, tags, refs, source, place, created_at, updated_at, change"
    };
}

pub(in crate::postgres) use COLUMNS;

/// Reads a page with its content.
pub(in crate::postgres) fn page(row: &PgRow) -> Result<KnowledgePage, StoreError> {
    let read = row
        .try_get("content")
        .and_then(|content| read(row, text::decode(content)));
    read.map_err(|error| convert("cannot read the page", error))
}

/// Reads an entry of the index.
pub(super) fn summary(row: &PgRow) -> Result<PageSummary, StoreError> {
    let read = read(row, String::new());
    read.map(PageSummary::from)
        .map_err(|error| convert("cannot read the page", error))
}

fn read(row: &PgRow, content: String) -> Result<KnowledgePage, Error> {
    let mut owner = Actor::new(row.try_get::<String, _>("tenant")?, row.try_get::<String, _>("user")?);
    owner.line = row.try_get::<Option<String>, _>("line")?.map(Into::into);
    let title = text::decode(row.try_get("title")?);
    let mut page = KnowledgePage::new(row.try_get::<String, _>("id")?, title, content).with_owner(owner);
    page.summary = text::decode(row.try_get("summary")?);
    page.tags = row.try_get("tags")?;
    page.references = row.try_get("refs")?;
    if let Some(source) = row.try_get::<Option<String>, _>("source")? {
        let place: Option<&str> = row.try_get("place")?;
        let place = place.map(serde_json::from_str).transpose();
        let place = place.map_err(|error| Error::Decode(Box::new(error)))?;
        page.source = Some(PageSource::new(source, place.unwrap_or_default()));
    }
    page.created_at = time(row, "created_at")?;
    page.updated_at = time(row, "updated_at")?;
    page.version = count(row, "change")?;
    Ok(page)
}
