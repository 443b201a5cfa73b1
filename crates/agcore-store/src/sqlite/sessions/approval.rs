//! Approvals in their table.

use std::sync::LazyLock;

use agcore_chat::Timestamp;
use agcore_session::{Approval, ApprovalChange};
use rusqlite::{Connection, Row, params};

use super::run;
use crate::{
    error::StoreError,
    sql::tables::{APPROVALS, Dialect, read_approval},
    sqlite::rows::{select_one, write_row},
};

pub(super) static COLUMNS: LazyLock<String> = LazyLock::new(|| APPROVALS.columns(Dialect::Sqlite));
static UPSERT: LazyLock<String> = LazyLock::new(|| APPROVALS.upsert(Dialect::Sqlite));

/// Writes a question, an answer or a withdrawal. Returns the approval, and whether it was changed.
pub(super) fn change(
    connection: &Connection,
    (key, session): (i64, &str),
    change: ApprovalChange,
    now: Timestamp,
) -> Result<(Approval, bool), StoreError> {
    if let ApprovalChange::Ask(new) = &change {
        run::check(connection, key, &new.run)?;
    }
    let sql = format!("SELECT {} FROM approvals WHERE session = ?1 AND id = ?2", *COLUMNS);
    let read = |row: &Row<'_>| read_approval(row, session);
    let known = select_one(
        connection,
        "cannot read the approval",
        &sql,
        params![key, change.id()],
        read,
    )?;
    let approval = change.apply(session, known.clone(), now)?;
    if known.as_ref() == Some(&approval) {
        return Ok((approval, false));
    }
    write_row(
        connection,
        "cannot write the approval",
        &UPSERT,
        &APPROVALS,
        (key, &approval),
    )?;
    Ok((approval, true))
}
