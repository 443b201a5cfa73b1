//! Events in their table.

use agcore_chat::Timestamp;
use agcore_session::{EventFilter, NewEvent};

use super::run;
use crate::{
    error::StoreError,
    postgres::{
        connection::{statement::Statement, transaction::Transaction},
        query::number,
        text::lookup,
    },
};

/// Writes events, whose runs must exist. They are numbered from `first` on.
pub(super) async fn insert(
    transaction: &mut Transaction<'_>,
    session: i64,
    first: u64,
    events: &[NewEvent],
    now: Timestamp,
) -> Result<(), StoreError> {
    let runs: Vec<&str> = events.iter().map(|event| event.run.as_str()).collect();
    let mut distinct = runs.clone();
    distinct.dedup();
    for run in distinct {
        run::check(transaction, session, run).await?;
    }
    let sql = "INSERT INTO events (session, seq, run, kind, created_at, data)
               SELECT $1, $2 + place - 1, run, kind, $3, data::json
               FROM unnest($4::text[], $5::text[], $6::text[]) WITH ORDINALITY AS new (run, kind, data, place)";
    let statement = sqlx::query(sql)
        .bind(session)
        .bind(number(first))
        .bind(now.as_millis())
        .bind(runs)
        .bind(events.iter().map(|event| event.kind.as_str()).collect::<Vec<_>>())
        .bind(events.iter().map(|event| event.data.to_text()).collect::<Vec<_>>());
    transaction
        .execute("cannot write the events", statement)
        .await
        .map(drop)
}

/// Returns the statement that selects the events of a filter.
pub(super) fn listing<'q>(tenant: &'q str, session: &'q str, filter: &'q EventFilter) -> Statement<'q> {
    macro_rules! select {
        ($of_run:literal, $order:literal) => {
            concat!(
                "SELECT seq, run, kind, created_at, data::text AS data FROM events WHERE session = ",
                super::row::KEY!(),
                " AND seq > $3 ",
                $of_run,
                " ORDER BY seq ",
                $order,
                " LIMIT $4"
            )
        };
    }
    let of_all = |sql| {
        let statement = sqlx::query(sql).bind(lookup(tenant)).bind(lookup(session));
        statement.bind(number(filter.after)).bind(filter.limit.map(number))
    };
    match (&filter.run, filter.is_last) {
        (Some(run), false) => of_all(select!("AND run = $5", "ASC")).bind(lookup(run)),
        (Some(run), true) => of_all(select!("AND run = $5", "DESC")).bind(lookup(run)),
        (None, false) => of_all(select!("", "ASC")),
        (None, true) => of_all(select!("", "DESC")),
    }
}
