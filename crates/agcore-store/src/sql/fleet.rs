//! Tenants with their runs, runs that workers have, dead letters, and the processes that execute runs.

use agcore_session::{DeadLetter, HeldRun, RunStatus, TenantRuns, TenantShare, Worker, WorkerReport};

use super::{
    leases::{held, waiting},
    row::SqlRow,
};

/// The time in milliseconds after which a process is forgotten.
pub(crate) const KEPT: i64 = 24 * 3600 * 1000;

/// The columns of a process.
pub(crate) const WORKER_COLUMNS: &str =
    "id, name, version, slots, runs, is_draining, tenants, since, reported_at, until, drain_requested_at";

/// Returns the query of a page of tenants after one, by the placeholders of its name, of the limit and of the time. Each tenant is
/// found by one look into the index of sessions.
pub(crate) fn tenant_page([after, limit, now]: [&str; 3]) -> String {
    let named = format!(
        "named (tenant, place) AS (
             SELECT (SELECT min(tenant) FROM sessions WHERE tenant > {after}), 1
             UNION ALL
             SELECT (SELECT min(sessions.tenant) FROM sessions WHERE sessions.tenant > named.tenant), place + 1
             FROM named WHERE named.tenant IS NOT NULL AND place < {limit}
         ),
         page AS (
             SELECT tenant FROM named WHERE tenant IS NOT NULL
             UNION SELECT tenant FROM run_shares WHERE tenant > {after} ORDER BY tenant LIMIT {limit}
         )"
    );
    counted(&named, now)
}

/// Returns the query of a tenant, by the placeholders of its name and of the time.
pub(crate) fn one_tenant([tenant, now]: [&str; 2]) -> String {
    let page = format!(
        "page AS (
             SELECT min(tenant) AS tenant FROM sessions WHERE tenant = {tenant} HAVING min(tenant) IS NOT NULL
             UNION SELECT tenant FROM run_shares WHERE tenant = {tenant}
         )"
    );
    counted(&page, now)
}

/// Returns the query that counts the runs of the tenants of a page.
fn counted(page: &str, now: &str) -> String {
    let (waiting, held) = (waiting("runs"), held("runs"));
    format!(
        "WITH RECURSIVE {page},
         held AS (
             SELECT runs.tenant, count(*) FILTER (WHERE lease_until > {now}) AS live,
                 count(*) FILTER (WHERE lease_until <= {now}) AS expired
             FROM runs WHERE {held} GROUP BY runs.tenant
         ),
         dead AS (SELECT runs.tenant, count(*) AS dead FROM runs WHERE dead_at IS NOT NULL GROUP BY runs.tenant)
         SELECT page.tenant AS tenant, weight, ceiling, coalesce(live, 0) AS held, coalesce(dead.dead, 0) AS dead,
             coalesce(expired, 0) + (SELECT count(*) FROM runs WHERE runs.tenant = page.tenant AND {waiting}) AS waiting
         FROM page LEFT JOIN run_shares ON run_shares.tenant = page.tenant LEFT JOIN held ON held.tenant = page.tenant
             LEFT JOIN dead ON dead.tenant = page.tenant
         ORDER BY page.tenant"
    )
}

/// Reads a row of [`tenant_page`] or [`one_tenant`].
pub(crate) fn read_tenant<R: SqlRow>(row: &R) -> Result<TenantRuns, R::Error> {
    // The table allows no other numbers.
    let small = |number: i64| u32::try_from(number).unwrap_or(u32::MAX);
    let share = row
        .optional_number("weight")?
        .map(|weight| TenantShare::new(small(weight)));
    let ceiling = row.optional_number("ceiling")?.map(small);
    let share = share.map(|mut share| {
        share.ceiling = ceiling;
        share
    });
    let counts = [row.count("waiting")?, row.count("held")?, row.count("dead")?];
    Ok(TenantRuns::new(row.text("tenant")?, counts, share))
}

/// Returns the query of the runs that workers have, by the placeholders of the beginning of their holders, of the limit and of the
/// time.
pub(crate) fn held_runs([holder, limit, now]: [&str; 3]) -> String {
    format!(
        "SELECT runs.tenant AS tenant, sessions.id AS session_id, runs.id AS id, runs.status AS status, holder, worker, epoch,
             attempts, lease_until
         FROM runs JOIN sessions USING (session)
         WHERE {} AND lease_until > {now} AND substr(holder, 1, length({holder})) = {holder}
         ORDER BY runs.tenant, sessions.id, runs.id LIMIT {limit}",
        held("runs")
    )
}

/// Reads a row of [`held_runs`].
pub(crate) fn read_held<R: SqlRow>(row: &R) -> Result<HeldRun, R::Error> {
    Ok(HeldRun::new(
        (row.text("tenant")?, row.text("session_id")?, row.text("id")?),
        (row.named("status", RunStatus::from_name)?, row.time("lease_until")?),
        (row.text("holder")?, row.optional_text("worker")?),
        (row.count("epoch")?, small(row, "attempts")?),
    ))
}

/// Returns the query of a page of the dead letters of a tenant, by the placeholders of the tenant, of the place after which it
/// begins, and of the limit.
pub(crate) fn dead_letter_page([tenant, at, session, run, limit]: [&str; 5]) -> String {
    format!(
        "SELECT runs.tenant AS tenant, sessions.id AS session_id, runs.id AS id, attempts, worker, dead_at
         FROM runs JOIN sessions USING (session)
         WHERE dead_at IS NOT NULL AND runs.tenant = {tenant}
             AND (CAST({at} AS bigint) IS NULL OR (dead_at, sessions.id, runs.id) > ({at}, {session}, {run}))
         ORDER BY dead_at, sessions.id, runs.id LIMIT {limit}"
    )
}

/// Reads a row of [`dead_letter_page`].
pub(crate) fn read_dead_letter<R: SqlRow>(row: &R) -> Result<DeadLetter, R::Error> {
    let key = (row.text("tenant")?, row.text("session_id")?, row.text("id")?);
    let attempts = small(row, "attempts")?;
    Ok(DeadLetter::new(
        key,
        attempts,
        row.optional_text("worker")?,
        row.time("dead_at")?,
    ))
}

/// Returns the list of the tenants of a process as it is stored.
pub(crate) fn tenants_text(report: &WorkerReport) -> String {
    serde_json::to_string(&report.tenants).unwrap_or_default()
}

/// Reads the [columns](WORKER_COLUMNS) of a process.
pub(crate) fn read_worker<R: SqlRow>(row: &R) -> Result<Worker, R::Error> {
    let mut report = WorkerReport::new(row.text("id")?, row.text("name")?);
    report.version = row.text("version")?;
    (report.slots, report.runs) = (small(row, "slots")?, small(row, "runs")?);
    report.is_draining = row.number("is_draining")? != 0;
    report.tenants = row.json("tenants")?;
    let mut worker = Worker::reported(&report, None, row.time("reported_at")?);
    worker.since = row.time("since")?;
    worker.until = row.time("until")?;
    worker.drain_requested_at = row.optional_time("drain_requested_at")?;
    Ok(worker)
}

/// Reads a number that the table limits.
fn small<R: SqlRow>(row: &R, column: &str) -> Result<u32, R::Error> {
    Ok(u32::try_from(row.count(column)?).unwrap_or(u32::MAX))
}
