//! Documents of sessions in their table.

use std::sync::LazyLock;

use agcore_chat::Timestamp;
use agcore_session::{DocumentChange, SessionDocument};
use rusqlite::Connection;

use super::row::KEY;
use crate::{
    error::StoreError,
    sql::tables::{DOCUMENTS, Dialect, read_document},
    sqlite::rows::{select_one, write_row},
};

const ATTEMPT: &str = "cannot read the document";

static COLUMNS: LazyLock<String> = LazyLock::new(|| DOCUMENTS.columns(Dialect::Sqlite));
static UPSERT: LazyLock<String> = LazyLock::new(|| DOCUMENTS.upsert(Dialect::Sqlite));

pub(super) fn find(connection: &Connection, tenant: &str, id: &str) -> Result<Option<SessionDocument>, StoreError> {
    let sql = format!("SELECT {} FROM documents WHERE session = {KEY}", *COLUMNS);
    select_one(connection, ATTEMPT, &sql, [tenant, id], |row| read_document(row))
}

pub(super) fn change(
    connection: &Connection,
    session: i64,
    change: DocumentChange,
    now: Timestamp,
) -> Result<(), StoreError> {
    let sql = format!("SELECT {} FROM documents WHERE session = ?1", *COLUMNS);
    let known = select_one(connection, ATTEMPT, &sql, [session], |row| read_document(row))?;
    let document = change.apply(known.as_ref(), now)?;
    let attempt = "cannot write the document";
    write_row(connection, attempt, &UPSERT, &DOCUMENTS, (session, &document))
}
