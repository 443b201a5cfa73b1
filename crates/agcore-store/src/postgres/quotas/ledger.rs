//! Reads and writes the part of the quotas of a tenant that an operation changes.

use std::sync::LazyLock;

use agcore_chat::{Actor, Timestamp};
use agcore_session::{
    SessionError,
    quota::{AllowanceKey, QuotaAmount},
};
use sqlx::{Error, postgres::PgRow};

use super::amounts;
use crate::{
    error::StoreError,
    postgres::{
        PostgresStore,
        connection::{statement::Statement, transaction::Transaction},
        error::convert,
        query::NOW,
        text::lookup,
    },
    sql::quotas::{Changes, Dialect, Entry, HELD, Ledger, applying, place, read_amount, read_entry, reading},
};

const DIALECT: Dialect = Dialect {
    now: NOW,
    random: "replace(gen_random_uuid()::text, '-', '')",
    // The server chooses the index for a list.
    is_among: |column, query| format!("{column} = ANY (ARRAY({query}))"),
    sum: |column| format!("least(sum({column}), {})::bigint", i64::MAX),
    groups: " GROUP BY \"user\" = $2",
};

/// Values: the tenant, the user and the place of the allowance.
static READ: LazyLock<String> = LazyLock::new(|| reading(&DIALECT, ["$1", "$2", "$3"]));
static APPLY: LazyLock<String> = LazyLock::new(|| applying(["$1", "$2", "$3"]));

/// Values: the tenant, lists with the columns of usage, the places of the allowances that are closed, and lists with the columns of
/// allowances. No allowance is both closed and written.
const WRITE: &str = "
    WITH counted AS (
        INSERT INTO quota_usage (tenant, subject, window_name, start_at, runs, model_calls, tokens, micros)
        SELECT $1, * FROM unnest($2::text[], $3::text[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[], $8::bigint[])
        ON CONFLICT (tenant, subject, window_name) DO UPDATE
        SET start_at = excluded.start_at, runs = excluded.runs, model_calls = excluded.model_calls,
            tokens = excluded.tokens, micros = excluded.micros
    ),
    closed AS (DELETE FROM quota_allowances WHERE tenant = $1 AND place = ANY ($9::text[]))
    INSERT INTO quota_allowances (
        tenant, place, \"user\", holder, expires_at, spent_runs, spent_model_calls, spent_tokens, spent_micros,
        held_runs, held_model_calls, held_tokens, held_micros,
        presumed_runs, presumed_model_calls, presumed_tokens, presumed_micros
    )
    SELECT $1, * FROM unnest(
        $10::text[], $11::text[], $12::text[], $13::bigint[], $14::bigint[], $15::bigint[], $16::bigint[], $17::bigint[],
        $18::bigint[], $19::bigint[], $20::bigint[], $21::bigint[],
        $22::bigint[], $23::bigint[], $24::bigint[], $25::bigint[]
    )
    ON CONFLICT (tenant, place) DO UPDATE
    SET \"user\" = excluded.\"user\", holder = excluded.holder, expires_at = excluded.expires_at,
        spent_runs = excluded.spent_runs, spent_model_calls = excluded.spent_model_calls,
        spent_tokens = excluded.spent_tokens, spent_micros = excluded.spent_micros,
        held_runs = excluded.held_runs, held_model_calls = excluded.held_model_calls,
        held_tokens = excluded.held_tokens, held_micros = excluded.held_micros,
        presumed_runs = excluded.presumed_runs, presumed_model_calls = excluded.presumed_model_calls,
        presumed_tokens = excluded.presumed_tokens, presumed_micros = excluded.presumed_micros";

impl PostgresStore {
    /// Returns whether a quota of the tenant applies to a user, or there is an allowance of a run.
    pub(super) async fn is_limited(
        &self,
        attempt: &str,
        owner: &Actor,
        key: Option<&AllowanceKey>,
    ) -> Result<bool, StoreError> {
        let asking = with_key(&APPLY, owner, key);
        Ok(self.statements().row(attempt, asking).await?.is_some())
    }

    /// Reads the part that concerns a user. Expired allowances are not counted.
    pub(super) async fn read_ledger(&self, attempt: &str, owner: &Actor) -> Result<Ledger, StoreError> {
        let rows = self.statements().rows(attempt, with_key(&READ, owner, None)).await?;
        ledger(attempt, owner, &rows)
    }

    /// Changes the part that concerns a user, with the allowance of a run, after expired allowances were counted.
    pub(super) async fn change_ledger<T: Send>(
        &self,
        attempt: &str,
        owner: &Actor,
        key: Option<&AllowanceKey>,
        change: impl FnOnce(&mut Ledger) -> Result<T, SessionError> + Send,
    ) -> Result<T, StoreError> {
        let _turn = self.0.quota_turns.wait(attempt, &owner.tenant).await?;
        let mut transaction = self.statements().begin(attempt).await?;
        let changed = async {
            let mut ledger = load(&mut transaction, attempt, owner, key).await?;
            let result = change(&mut ledger)?;
            write(&mut transaction, attempt, &owner.tenant, ledger.take_changes()).await?;
            Ok(result)
        };
        let changed = changed.await;
        transaction.end(attempt, changed).await
    }
}

/// Has other transactions that change the usage of a tenant wait for the end of this one. Call it before anything is locked.
pub(super) async fn lock(transaction: &mut Transaction<'_>, attempt: &str, tenant: &str) -> Result<(), StoreError> {
    let sql = "SELECT pg_advisory_xact_lock(hashtextextended('agcore quotas ' || current_schema() || ' ' || $1, 0))";
    let locked = transaction.rows(attempt, sqlx::query(sql).bind(lookup(tenant))).await;
    locked.map(drop)
}

/// Locks the tenant, and reads the part that concerns a user. The statement after the lock sees what others have written.
async fn load(
    transaction: &mut Transaction<'_>,
    attempt: &str,
    owner: &Actor,
    key: Option<&AllowanceKey>,
) -> Result<Ledger, StoreError> {
    lock(transaction, attempt, &owner.tenant).await?;
    let rows = transaction.rows(attempt, with_key(&READ, owner, key)).await?;
    let mut ledger = ledger(attempt, owner, &rows)?;
    ledger.expire();
    Ok(ledger)
}

/// Erases what belongs to a user. See [`QuotaStore::erase_quotas`](agcore_session::quota::QuotaStore::erase_quotas).
pub(super) async fn erase(transaction: &mut Transaction<'_>, attempt: &str, owner: &Actor) -> Result<(), StoreError> {
    let mut ledger = load(transaction, attempt, owner, None).await?;
    write(transaction, attempt, &owner.tenant, ledger.take_changes()).await?;
    let [tenant, user] = [lookup(&owner.tenant), lookup(&owner.user)];
    let sql = "DELETE FROM quota_allowances WHERE tenant = $1 AND \"user\" = $2
               RETURNING held_runs, held_model_calls, held_tokens, held_micros";
    let mut held = QuotaAmount::new();
    for row in transaction
        .rows(attempt, sqlx::query(sql).bind(tenant).bind(user))
        .await?
    {
        held.add(&read_amount(&row, HELD).map_err(|error| convert(attempt, error))?);
    }
    ledger.count_erased(&held);
    write(transaction, attempt, &owner.tenant, ledger.take_changes()).await?;
    for sql in [
        // The empty subject is the tenant.
        "DELETE FROM quota_usage WHERE tenant = $1 AND subject = $2 AND subject <> ''",
        "DELETE FROM quotas WHERE tenant = $1 AND subject_user = $2 AND scope = 'user'",
    ] {
        transaction
            .execute(attempt, sqlx::query(sql).bind(tenant).bind(user))
            .await?;
    }
    Ok(())
}

fn with_key<'q>(sql: &'static str, owner: &'q Actor, key: Option<&AllowanceKey>) -> Statement<'q> {
    sqlx::query(sql)
        .bind(lookup(&owner.tenant))
        .bind(lookup(&owner.user))
        .bind(key.map(place))
}

fn ledger(attempt: &str, owner: &Actor, rows: &[PgRow]) -> Result<Ledger, StoreError> {
    let entries: Result<Vec<Entry>, Error> = rows.iter().map(read_entry).collect();
    let entries = entries.map_err(|error| convert(attempt, error))?;
    Ok(Ledger::new(&owner.user, entries))
}

async fn write(
    transaction: &mut Transaction<'_>,
    attempt: &str,
    tenant: &str,
    changes: Changes,
) -> Result<(), StoreError> {
    if let Some(oldest) = changes.oldest {
        // First, so that one that has come back is written again.
        let sql = "DELETE FROM quota_allowances WHERE tenant = $1 AND holding = 0 AND expires_at < $2";
        let deleting = sqlx::query(sql).bind(lookup(tenant)).bind(oldest.as_millis());
        transaction.execute(attempt, deleting).await?;
    }
    if changes.counted.is_empty() && changes.allowances.is_empty() && changes.closed.is_empty() {
        return Ok(());
    }
    transaction.execute(attempt, writing(tenant, changes)).await.map(drop)
}

fn writing(tenant: &str, changes: Changes) -> Statement<'_> {
    let (mut subjects, mut windows, mut starts) = (Vec::new(), Vec::new(), Vec::new());
    let mut used: [Vec<i64>; 4] = Default::default();
    for (subject, window, counted) in changes.counted {
        subjects.push(subject);
        windows.push(window.as_str());
        starts.push(counted.start.as_millis());
        push(&mut used, &counted.used);
    }
    let mut names: [Vec<String>; 3] = Default::default();
    let mut expiries = Vec::new();
    let [mut spent, mut held, mut presumed]: [[Vec<i64>; 4]; 3] = Default::default();
    for (place, opened) in changes.allowances {
        let state = opened.state;
        for (list, name) in names.iter_mut().zip([place, opened.user, state.holder]) {
            list.push(name);
        }
        expiries.push(Timestamp::as_millis(state.expires_at));
        push(&mut spent, &state.spent);
        push(&mut held, &state.held);
        push(&mut presumed, &state.presumed);
    }
    let statement = sqlx::query(WRITE)
        .bind(lookup(tenant))
        .bind(subjects)
        .bind(windows)
        .bind(starts);
    let statement = used.into_iter().fold(statement, Statement::bind).bind(changes.closed);
    let statement = names.into_iter().fold(statement, Statement::bind).bind(expiries);
    let numbers = [spent, held, presumed].into_iter().flatten();
    numbers.fold(statement, Statement::bind)
}

/// Appends an amount to the lists of its columns.
fn push(lists: &mut [Vec<i64>; 4], amount: &QuotaAmount) {
    for (list, value) in lists.iter_mut().zip(amounts(amount)) {
        list.push(value);
    }
}
