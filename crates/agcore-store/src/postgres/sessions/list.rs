//! The list of runs.

use agcore_session::{ListedRun, RunListFilter};
use sqlx::{Row, postgres::PgRow};

use super::run;
use crate::{
    error::StoreError,
    postgres::{
        PostgresStore,
        query::{bind_all, number, numbered, statement},
        text::lookup,
    },
    sql::{Conditions, Value, tables::read_run},
};

impl PostgresStore {
    /// Returns the runs that a filter selects, the newest first.
    pub(super) async fn listed_runs(&self, filter: &RunListFilter) -> Result<Vec<ListedRun>, StoreError> {
        let conditions = Conditions::run_list(filter, metadata);
        let count = conditions.values().len();
        // Inputs are read of the page only.
        let sql = format!(
            "WITH page AS MATERIALIZED (
                 SELECT runs.run AS place, sessions.id AS session_id, sessions.title AS session_title
                 FROM runs JOIN sessions USING (session) WHERE {}
                 ORDER BY runs.created_at DESC, sessions.id DESC, runs.id DESC LIMIT ${})
             SELECT {}, session_id, session_title, {} AS label FROM page JOIN runs ON runs.run = page.place
             ORDER BY runs.created_at DESC, session_id DESC, runs.id DESC",
            numbered(conditions.sql(), 1),
            count + 1,
            *run::LISTED,
            text_of("runs.input", count + 2),
        );
        let statement = bind_all(statement(sql), &conditions).bind(filter.limit.map(number));
        let statement = statement.bind(filter.label.as_deref().and_then(lookup));
        let read = |row: &PgRow| {
            let (session, title) = (row.try_get::<String, _>("session_id")?, row.try_get("session_title")?);
            Ok(ListedRun::new(session, title, row.try_get("label")?, read_run(row)?))
        };
        self.select("cannot list the runs", statement, read).await
    }
}

/// Returns the member with the name at a place of a JSON column, if it is a text. The server cannot look into JSON with the escape
/// of NUL.
pub(super) fn text_of(column: &str, place: usize) -> String {
    let json = format!("replace({column}::text, '\\u0000', '\\ufffd')::json");
    format!("CASE WHEN json_typeof({json} -> ${place}) = 'string' THEN {json} ->> ${place} END")
}

/// Selects sessions whose metadata has a text.
fn metadata(name: &str, value: &str) -> Conditions {
    let json = "replace(sessions.metadata::text, '\\u0000', '\\ufffd')::json";
    let has = format!("json_typeof({json} -> ?) = 'string' AND {json} ->> ? = ?");
    Conditions::new(has, [name, name, value].map(|text| Value::Text(text.to_owned())))
}
