//! Documents of sessions in their table.

use std::sync::LazyLock;

use agcore_chat::Timestamp;
use agcore_session::DocumentChange;

use crate::{
    error::StoreError,
    postgres::{
        connection::{
            statement::{FetchRow, Statement},
            transaction::Transaction,
        },
        error::convert,
        query::statement,
        rows::writing,
        sessions::KEY,
        text::lookup,
    },
    sql::tables::{DOCUMENTS, Dialect, read_document},
};

static COLUMNS: LazyLock<String> = LazyLock::new(|| DOCUMENTS.columns(Dialect::Postgres));
static UPSERT: LazyLock<String> = LazyLock::new(|| DOCUMENTS.upsert(Dialect::Postgres));

/// Returns the statement that reads the document of a session.
pub(super) fn selecting<'q>(tenant: &'q str, session: &'q str) -> Statement<'q> {
    let from = concat!(" FROM documents WHERE session = ", KEY!());
    statement(format!("SELECT {}{from}", *COLUMNS))
        .bind(lookup(tenant))
        .bind(lookup(session))
}

/// Writes a new version of the document of a session, which is locked.
pub(super) async fn change(
    transaction: &mut Transaction<'_>,
    session: i64,
    change: DocumentChange,
    now: Timestamp,
) -> Result<(), StoreError> {
    let attempt = "cannot write the document";
    let sql = format!("SELECT {} FROM documents WHERE session = $1", *COLUMNS);
    let found = transaction.row(attempt, statement(sql).bind(session)).await?;
    let known = found.as_ref().map(read_document).transpose();
    let known = known.map_err(|error| convert(attempt, error))?;
    let document = change.apply(known.as_ref(), now)?;
    let write = writing(&UPSERT, &DOCUMENTS, session, &document);
    transaction.execute(attempt, write).await.map(drop)
}
