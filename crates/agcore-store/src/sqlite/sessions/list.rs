//! Lists of sessions, runs and approvals.

use agcore_session::{Approval, ApprovalFilter, ApprovalStatus, ListedRun, RunListFilter, Session, SessionFilter};
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

/// Selects the text in the input of a run with a name.
const LABEL: &str = "(SELECT value FROM json_each(runs.input) WHERE key = ? AND type = 'text')";

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
    let conditions = Conditions::run_list(filter, metadata);
    // The order of a cross join is that of the text: the index of runs has the order of the list. Inputs are read of the page only.
    let sql = format!(
        "WITH page AS (
             SELECT runs.run AS place, sessions.id AS session_id, sessions.title AS session_title
             FROM runs CROSS JOIN sessions ON sessions.session = runs.session WHERE {}
             ORDER BY runs.created_at DESC, sessions.id DESC, runs.id DESC LIMIT ?)
         SELECT {}, session_id, session_title, {LABEL} AS label FROM page CROSS JOIN runs ON runs.run = page.place
         ORDER BY runs.created_at DESC, session_id DESC, runs.id DESC",
        conditions.sql(),
        *run::LISTED,
    );
    let limit = Value::Integer(limit(filter.limit));
    let label = Value::Text(filter.label.clone().unwrap_or_default());
    let params = params_from_iter(conditions.values().iter().chain([&limit, &label]));
    let read = |row: &rusqlite::Row<'_>| {
        let (session, title) = (row.get::<_, String>("session_id")?, row.get("session_title")?);
        let label = row
            .get::<_, Option<String>>("label")?
            .filter(|_| filter.label.is_some());
        Ok(ListedRun::new(session, title, label, read_run(row)?))
    };
    select(connection, "cannot list the runs", &sql, params, read)
}

/// Returns the tables of a list of approvals. The order of a cross join is that of the text: few questions are open, and sessions
/// are many.
pub(super) fn approvals_of(filter: &ApprovalFilter) -> &'static str {
    match (filter.status, &filter.session) {
        (Some(ApprovalStatus::Open), None) => "approvals CROSS JOIN sessions USING (session)",
        _ => "sessions JOIN approvals USING (session)",
    }
}

/// Selects sessions whose metadata has a text. The operator `->>` would take some names for paths, and numbers for texts.
fn metadata(name: &str, value: &str) -> Conditions {
    let has = "EXISTS (SELECT 1 FROM json_each(sessions.metadata) WHERE key = ? AND type = 'text' AND value = ?)";
    Conditions::new(has, [name, value].map(|text| Value::Text(text.to_owned())))
}

pub(super) fn approvals(connection: &Connection, filter: &ApprovalFilter) -> Result<Vec<Approval>, StoreError> {
    let conditions = Conditions::approvals(filter);
    let sql = format!(
        "SELECT {}, sessions.id AS session_id FROM {} WHERE {} ORDER BY asked_at, sessions.id, approvals.id LIMIT ?",
        *approval::COLUMNS,
        approvals_of(filter),
        conditions.sql()
    );
    let limit = Value::Integer(limit(filter.limit));
    let params = params_from_iter(conditions.values().iter().chain([&limit]));
    let read = |row: &rusqlite::Row<'_>| read_approval(row, &row.get::<_, String>("session_id")?);
    select(connection, "cannot list the approvals", &sql, params, read)
}
