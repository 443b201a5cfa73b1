//! Lists of sessions, runs and approvals.

use agcore_session::{Approval, ApprovalFilter, ListedRun, RunListFilter, Session, SessionFilter};
use rusqlite::{Connection, params_from_iter};

use super::{approval, row::COLUMNS, run};
use crate::{
    error::StoreError,
    sql::{
        Conditions, Value,
        tables::{read_approval, read_run, read_session},
    },
    sqlite::rows::{limit, select},
};

pub(super) fn sessions(connection: &Connection, filter: &SessionFilter) -> Result<Vec<Session>, StoreError> {
    let conditions = Conditions::sessions(filter);
    let sql = format!(
        "SELECT {COLUMNS} FROM sessions WHERE {} ORDER BY updated_at DESC, id DESC LIMIT ?",
        conditions.sql()
    );
    let limit = Value::Integer(limit(filter.limit));
    let params = params_from_iter(conditions.values().iter().chain([&limit]));
    select(connection, "cannot list the sessions", &sql, params, |row| {
        read_session(row)
    })
}

pub(super) fn runs(connection: &Connection, filter: &RunListFilter) -> Result<Vec<ListedRun>, StoreError> {
    let conditions = Conditions::run_list(filter);
    // The order of a cross join is that of the text: the index of runs has the order of the list.
    let sql = format!(
        "SELECT {}, sessions.id AS session_id, sessions.title AS session_title \
         FROM runs CROSS JOIN sessions ON sessions.session = runs.session WHERE {} \
         ORDER BY runs.created_at DESC, sessions.id DESC, runs.id DESC LIMIT ?",
        *run::COLUMNS,
        conditions.sql()
    );
    let limit = Value::Integer(limit(filter.limit));
    let params = params_from_iter(conditions.values().iter().chain([&limit]));
    let read = |row: &rusqlite::Row<'_>| {
        let (session, title) = (row.get::<_, String>("session_id")?, row.get("session_title")?);
        Ok(ListedRun::new(session, title, read_run(row)?))
    };
    select(connection, "cannot list the runs", &sql, params, read)
}

pub(super) fn approvals(connection: &Connection, filter: &ApprovalFilter) -> Result<Vec<Approval>, StoreError> {
    let conditions = Conditions::approvals(filter);
    let sql = format!(
        "SELECT {}, sessions.id AS session_id FROM sessions JOIN approvals USING (session) WHERE {} \
         ORDER BY asked_at, sessions.id, approvals.id LIMIT ?",
        *approval::COLUMNS,
        conditions.sql()
    );
    let limit = Value::Integer(limit(filter.limit));
    let params = params_from_iter(conditions.values().iter().chain([&limit]));
    let read = |row: &rusqlite::Row<'_>| read_approval(row, &row.get::<_, String>("session_id")?);
    select(connection, "cannot list the approvals", &sql, params, read)
}
