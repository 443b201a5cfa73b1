//! Claims. Only one transaction writes at a time, so that it can read the runs and choose.

use std::collections::HashMap;

use agcore_chat::Timestamp;
use agcore_session::{
    ClaimCandidate, ClaimRequest, Claims, DeadLetter, Lease, LeaseState, RunStatus, TenantLoad, TenantShare,
};
use rusqlite::{Connection, Row, params};

use super::state::{read_dead, write_state};
use crate::{
    error::StoreError,
    sql::{
        leases,
        row::SqlRow,
        tables::{LEASE_COLUMNS, read_lease},
    },
    sqlite::{
        rows::{execute, select, select_one},
        webhooks,
    },
};

const ATTEMPT: &str = "cannot claim runs";

/// A run that can be claimed.
struct Choice {
    run: i64,
    tenant: String,
    due: i64,
    attempts: u32,
}

/// Gives runs to a worker.
pub(super) fn claim(connection: &Connection, request: &ClaimRequest, now: Timestamp) -> Result<Claims, StoreError> {
    let asked_before = asked_before(connection, request, now)?;
    if !asked_before.is_empty() {
        return Ok(Claims::new(asked_before, Vec::new()));
    }
    let mut dead = Vec::new();
    let live = loop {
        let choices = choices(connection, request, now)?;
        let is_exhausted = |choice: &&Choice| choice.attempts >= request.max_attempts;
        let before = dead.len();
        for choice in choices.iter().filter(is_exhausted) {
            dead.push(bury(connection, choice.run, now)?);
        }
        if dead.len() == before {
            break choices;
        }
        // Others have the places of those that failed.
    };
    let loads = loads(connection, now)?;
    let candidates = live
        .into_iter()
        .map(|choice| ClaimCandidate::new(choice.run, choice.tenant, choice.due));
    let order = ClaimCandidate::order(candidates.collect(), |tenant| {
        loads.get(tenant).copied().unwrap_or_default()
    });
    let chosen = order
        .into_iter()
        .take(usize::try_from(request.limit).unwrap_or(usize::MAX));
    let leases = chosen.map(|candidate| take(connection, candidate.key, request, now));
    Ok(Claims::new(leases.collect::<Result<_, _>>()?, dead))
}

/// Returns the leases that were given to this holder before.
fn asked_before(connection: &Connection, request: &ClaimRequest, now: Timestamp) -> Result<Vec<Lease>, StoreError> {
    let sql = format!(
        "SELECT runs.tenant AS tenant, sessions.id AS session_id, runs.id AS id, {LEASE_COLUMNS}
         FROM runs JOIN sessions USING (session) WHERE {} AND holder = ?1 AND lease_until > ?2",
        leases::held("runs")
    );
    let params = params![request.holder, now.as_millis()];
    select(connection, ATTEMPT, &sql, params, |row| {
        lease(row, &read_lease(row)?, request, now)
    })
}

/// Returns the runs that can be claimed: of each tenant, as many as the worker wants, and all whose lease has expired.
fn choices(connection: &Connection, request: &ClaimRequest, now: Timestamp) -> Result<Vec<Choice>, StoreError> {
    let sql = format!(
        "SELECT run, tenant, due, attempts FROM runs WHERE {} AND lease_until <= ?1 AND {}",
        leases::held("runs"),
        leases::ready("runs", "?1")
    );
    let mut choices = select(connection, ATTEMPT, &sql, [now.as_millis()], read_choice)?;
    // Asked to sort by this, SQLite would read the table in this order instead of the index.
    choices.sort_by_key(|choice| choice.run);
    choices.retain(|choice| request.selects(&choice.tenant));
    let sql = format!(
        "SELECT run, tenant, due, attempts FROM runs WHERE tenant = ?1 AND {} AND {} AND {} ORDER BY due, run LIMIT ?3",
        leases::waiting("runs"),
        leases::ready("runs", "?2"),
        leases::has_turn("runs", "?2")
    );
    for tenant in tenants(connection)?.iter().filter(|tenant| request.selects(tenant)) {
        let params = params![tenant, now.as_millis(), request.limit];
        choices.extend(select(connection, ATTEMPT, &sql, params, read_choice)?);
    }
    Ok(choices)
}

/// Returns the tenants whose runs wait.
fn tenants(connection: &Connection) -> Result<Vec<String>, StoreError> {
    let sql = format!(
        "WITH RECURSIVE {} SELECT tenant FROM tenants WHERE tenant IS NOT NULL",
        leases::waiting_tenants()
    );
    select(connection, ATTEMPT, &sql, [], |row| row.get(0))
}

/// Returns the loads of the tenants that have a share or runs with a holder.
fn loads(connection: &Connection, now: Timestamp) -> Result<HashMap<String, TenantLoad>, StoreError> {
    let sql = "SELECT tenant, weight, ceiling FROM run_shares";
    let shares = select(connection, ATTEMPT, sql, [], read_share)?;
    let with_share = |(tenant, share)| (tenant, TenantLoad::new(0, share));
    let mut loads: HashMap<String, TenantLoad> = shares.into_iter().map(with_share).collect();
    let sql = format!(
        "SELECT tenant, count(*) FROM runs WHERE {} AND lease_until > ?1 GROUP BY tenant",
        leases::held("runs")
    );
    let read = |row: &Row<'_>| Ok((row.get::<_, String>(0)?, row.get::<_, i64>(1)?.unsigned_abs()));
    for (tenant, held) in select(connection, ATTEMPT, &sql, [now.as_millis()], read)? {
        loads.entry(tenant).or_default().held = held;
    }
    Ok(loads)
}

/// Gives a run to the worker.
fn take(connection: &Connection, run: i64, request: &ClaimRequest, now: Timestamp) -> Result<Lease, StoreError> {
    let sql = format!(
        "SELECT runs.tenant AS tenant, sessions.id AS session_id, runs.id AS id, {LEASE_COLUMNS}
         FROM runs JOIN sessions USING (session) WHERE run = ?1"
    );
    let taken = select_one(connection, ATTEMPT, &sql, [run], |row| {
        let mut state = read_lease(row)?;
        state.claim(request, now);
        Ok((lease(row, &state, request, now)?, state))
    });
    let (lease, state) = taken?.ok_or_else(|| StoreError::not_found("the run to be claimed is gone"))?;
    write_state(connection, run, &state)?;
    Ok(lease)
}

/// Makes a run a dead letter. Its session fails, if it is running.
fn bury(connection: &Connection, run: i64, now: Timestamp) -> Result<DeadLetter, StoreError> {
    let params = params![run, now.as_millis()];
    let sql = "UPDATE runs SET status = 'failed', dead_at = ?2, updated_at = max(updated_at, ?2) WHERE run = ?1";
    execute(connection, ATTEMPT, sql, params)?;
    let sql = "UPDATE sessions SET status = 'failed', updated_at = max(updated_at, ?2)
               WHERE session = (SELECT session FROM runs WHERE run = ?1) AND status = 'running'";
    execute(connection, ATTEMPT, sql, params)?;
    let sql =
        "SELECT session, runs.tenant AS tenant, sessions.id AS session_id, runs.id AS id, attempts, worker, dead_at
               FROM runs JOIN sessions USING (session) WHERE run = ?1";
    let read = |row: &Row<'_>| Ok((row.get("session")?, read_dead(row)?));
    let found = select_one(connection, ATTEMPT, sql, [run], read)?;
    let (session, letter) = found.ok_or_else(|| StoreError::not_found("the run that was claimed too often is gone"))?;
    webhooks::notify(connection, (session, &letter.run), RunStatus::Failed, now)?;
    Ok(letter)
}

fn read_choice(row: &Row<'_>) -> rusqlite::Result<Choice> {
    Ok(Choice {
        run: row.get(0)?,
        tenant: row.get(1)?,
        due: row.get(2)?,
        attempts: row.get(3)?,
    })
}

/// Reads a tenant with its share.
pub(super) fn read_share(row: &Row<'_>) -> rusqlite::Result<(String, TenantShare)> {
    let mut share = TenantShare::new(row.get(1)?);
    share.ceiling = row.get(2)?;
    Ok((row.get(0)?, share))
}

fn lease(row: &Row<'_>, state: &LeaseState, request: &ClaimRequest, now: Timestamp) -> rusqlite::Result<Lease> {
    let key = (row.text("tenant")?, row.text("session_id")?, row.text("id")?);
    let status = row.named("status", RunStatus::from_name)?;
    Ok(Lease::new(key, (status, state), request.length, now))
}
