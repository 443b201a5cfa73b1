//! Reads and writes the part of the quotas of a tenant that an operation changes. Only one transaction writes at a time, so that
//! nothing changes between reading and writing.

use std::sync::LazyLock;

use agcore_chat::{Actor, Timestamp};
use agcore_session::{
    SessionError,
    quota::{AllowanceKey, QuotaAmount},
};
use rusqlite::{Connection, params, params_from_iter, types::Value};

use crate::{
    error::StoreError,
    sql::quotas::{Changes, Dialect, HELD, Ledger, Opened, amounts, applying, place, read_amount, read_entry, reading},
    sqlite::{
        SqliteStore,
        rows::{execute, select, select_one},
    },
};

const DIALECT: Dialect = Dialect {
    now: "?4",
    random: "lower(hex(randomblob(16)))",
    is_among: |column, query| format!("{column} IN ({query})"),
    // A sum that is too large would be an error.
    sum: str::to_owned,
    groups: "",
};

/// Values: the tenant, the user, the place of the allowance and the time.
static READ: LazyLock<String> = LazyLock::new(|| reading(&DIALECT, ["?1", "?2", "?3"]));
static APPLY: LazyLock<String> = LazyLock::new(|| applying(["?1", "?2", "?3"]));

impl SqliteStore {
    /// Returns whether a quota of the tenant applies to a user, or there is an allowance of a run.
    pub(super) async fn is_limited(
        &self,
        attempt: &'static str,
        owner: &Actor,
        key: Option<&AllowanceKey>,
    ) -> Result<bool, StoreError> {
        let (owner, place) = (owner.clone(), key.map(place));
        self.read(move |connection| {
            let params = params![&*owner.tenant, &*owner.user, place];
            Ok(select_one(connection, attempt, &APPLY, params, |_| Ok(()))?.is_some())
        })
        .await
    }

    /// Changes the part that concerns a user, with the allowance of a run, after expired allowances were counted.
    pub(super) async fn change_ledger<T: Send + 'static>(
        &self,
        attempt: &'static str,
        owner: &Actor,
        key: Option<&AllowanceKey>,
        change: impl FnOnce(&mut Ledger) -> Result<T, SessionError> + Send + 'static,
    ) -> Result<T, SessionError> {
        let (owner, place, clock) = (owner.clone(), key.map(place), self.clock());
        self.write_checked(move |connection| {
            let mut ledger = read(connection, attempt, &owner, place, clock.now().into())?;
            ledger.expire();
            let result = change(&mut ledger)?;
            write(connection, attempt, &owner.tenant, ledger.take_changes())?;
            Ok(result)
        })
        .await
    }
}

/// Reads the part that concerns a user, with the allowance at a place. Expired allowances are not counted.
pub(super) fn read(
    connection: &Connection,
    attempt: &str,
    owner: &Actor,
    place: Option<String>,
    now: Timestamp,
) -> Result<Ledger, StoreError> {
    let params = params![&*owner.tenant, &*owner.user, place, now.as_millis()];
    let entries = select(connection, attempt, &READ, params, |row| read_entry(row))?;
    Ok(Ledger::new(&owner.user, entries))
}

/// Erases what belongs to a user. See [`QuotaStore::erase_quotas`](agcore_session::quota::QuotaStore::erase_quotas).
pub(super) fn erase(connection: &Connection, owner: &Actor, now: Timestamp) -> Result<(), StoreError> {
    let attempt = "cannot erase the quotas";
    let mut ledger = read(connection, attempt, owner, None, now)?;
    ledger.expire();
    write(connection, attempt, &owner.tenant, ledger.take_changes())?;
    let [tenant, user] = [&*owner.tenant, &*owner.user];
    let sql = "DELETE FROM quota_allowances WHERE tenant = ?1 AND user = ?2
               RETURNING held_runs, held_model_calls, held_tokens, held_micros";
    let mut held = QuotaAmount::new();
    for amount in select(connection, attempt, sql, [tenant, user], |row| read_amount(row, HELD))? {
        held.add(&amount);
    }
    ledger.count_erased(&held);
    write(connection, attempt, tenant, ledger.take_changes())?;
    for sql in [
        // The empty subject is the tenant.
        "DELETE FROM quota_usage WHERE tenant = ?1 AND subject = ?2 AND subject <> ''",
        "DELETE FROM quotas WHERE tenant = ?1 AND subject_user = ?2 AND scope = 'user'",
    ] {
        execute(connection, attempt, sql, [tenant, user])?;
    }
    Ok(())
}

fn write(connection: &Connection, attempt: &str, tenant: &str, changes: Changes) -> Result<(), StoreError> {
    if let Some(oldest) = changes.oldest {
        // First, so that one that has come back is written again.
        let sql = "DELETE FROM quota_allowances WHERE tenant = ?1 AND holding = 0 AND expires_at < ?2";
        execute(connection, attempt, sql, params![tenant, oldest.as_millis()])?;
    }
    for (subject, window, counted) in changes.counted {
        let sql = "INSERT INTO quota_usage (tenant, subject, window_name, start_at, runs, model_calls, tokens, micros)
                   VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
                   ON CONFLICT (tenant, subject, window_name) DO UPDATE
                   SET start_at = excluded.start_at, runs = excluded.runs, model_calls = excluded.model_calls,
                       tokens = excluded.tokens, micros = excluded.micros";
        let [runs, calls, tokens, micros] = amounts(&counted.used);
        let (window, start) = (window.as_str(), counted.start.as_millis());
        let params = params![tenant, subject, window, start, runs, calls, tokens, micros];
        execute(connection, attempt, sql, params)?;
    }
    for place in changes.closed {
        let sql = "DELETE FROM quota_allowances WHERE tenant = ?1 AND place = ?2";
        execute(connection, attempt, sql, [tenant, &*place])?;
    }
    let mut allowances = changes.allowances.into_iter();
    allowances.try_for_each(|(place, opened)| write_allowance(connection, attempt, (tenant, place), opened))
}

fn write_allowance(
    connection: &Connection,
    attempt: &str,
    (tenant, place): (&str, String),
    Opened { user, state }: Opened,
) -> Result<(), StoreError> {
    let sql = "INSERT INTO quota_allowances (
                   tenant, place, user, holder, expires_at, spent_runs, spent_model_calls, spent_tokens, spent_micros,
                   held_runs, held_model_calls, held_tokens, held_micros,
                   presumed_runs, presumed_model_calls, presumed_tokens, presumed_micros
               )
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17)
               ON CONFLICT (tenant, place) DO UPDATE
               SET user = excluded.user, holder = excluded.holder, expires_at = excluded.expires_at,
                   spent_runs = excluded.spent_runs, spent_model_calls = excluded.spent_model_calls,
                   spent_tokens = excluded.spent_tokens, spent_micros = excluded.spent_micros,
                   held_runs = excluded.held_runs, held_model_calls = excluded.held_model_calls,
                   held_tokens = excluded.held_tokens, held_micros = excluded.held_micros,
                   presumed_runs = excluded.presumed_runs, presumed_model_calls = excluded.presumed_model_calls,
                   presumed_tokens = excluded.presumed_tokens, presumed_micros = excluded.presumed_micros";
    let texts = [tenant.to_owned(), place, user, state.holder].map(Value::Text);
    let numbers = [state.spent, state.held, state.presumed];
    let numbers = numbers.iter().flat_map(amounts).map(Value::Integer);
    let time = Value::Integer(state.expires_at.as_millis());
    let params = params_from_iter(texts.into_iter().chain([time]).chain(numbers));
    execute(connection, attempt, sql, params).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_table_is_read_as_a_whole() {
        let connection = Connection::open_in_memory().unwrap();
        connection
            .execute_batch(include_str!("../../../migrations/sqlite/0001.sql"))
            .unwrap();
        let lines = |sql: &str| {
            let mut statement = connection.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
            for index in 1..=statement.parameter_count() {
                statement.raw_bind_parameter(index, "1").unwrap();
            }
            let mut rows = statement.raw_query();
            let mut lines = Vec::new();
            while let Some(row) = rows.next().unwrap() {
                lines.push(row.get::<_, String>("detail").unwrap());
            }
            lines
        };
        let all = [lines(&READ), lines(&APPLY)].concat();
        let of_tables: Vec<&String> = all.iter().filter(|line| line.contains(" quota")).collect();
        assert!(of_tables.len() > 6, "{all:#?}");
        for line in of_tables {
            assert!(
                line.starts_with("SEARCH ") && line.contains("(tenant=? AND "),
                "{line}: {all:#?}"
            );
        }
    }
}
