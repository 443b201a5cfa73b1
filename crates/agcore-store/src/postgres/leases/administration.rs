//! Tenants, workers and dead letters. All times are those of the server.

use agcore_session::{
    DeadLetter, DeadLetterFilter, HeldRun, RunAdministration, SessionError, TenantRuns, Worker, WorkerReport,
};
use async_trait::async_trait;
use sqlx::Row;

use super::{missing, renewal::millis};
use crate::{
    error::StoreError,
    postgres::{
        PostgresStore,
        error::convert,
        migrations::NEWEST,
        query::{NOW, number, statement},
        text::lookup,
    },
    sql::fleet::{self, KEPT, WORKER_COLUMNS, read_dead_letter, read_held, read_tenant, read_worker, tenants_text},
};

#[async_trait]
impl RunAdministration for PostgresStore {
    async fn tenants(&self, after: Option<&str>, count: u64) -> Result<Vec<TenantRuns>, SessionError> {
        let statement = statement(fleet::tenant_page(["$1", "$2", NOW]))
            .bind(lookup(after.unwrap_or_default()))
            .bind(number(count));
        let attempt = "cannot list the tenants";
        Ok(self.select(attempt, statement, read_tenant).await?)
    }

    async fn tenant(&self, tenant: &str) -> Result<Option<TenantRuns>, SessionError> {
        let statement = statement(fleet::one_tenant(["$1", NOW])).bind(lookup(tenant));
        let attempt = "cannot read the tenant";
        Ok(self.select(attempt, statement, read_tenant).await?.pop())
    }

    async fn delete_share(&self, tenant: &str) -> Result<bool, SessionError> {
        let statement = sqlx::query("DELETE FROM run_shares WHERE tenant = $1").bind(lookup(tenant));
        Ok(self.statements().execute("cannot delete the share", statement).await? > 0)
    }

    async fn dead_letter_page(&self, filter: &DeadLetterFilter) -> Result<Vec<DeadLetter>, SessionError> {
        let after = filter.after.as_ref();
        let statement = statement(fleet::dead_letter_page(["$1", "$2", "$3", "$4", "$5"]))
            .bind(lookup(&filter.tenant))
            .bind(after.map(|after| after.at.as_millis()))
            .bind(after.and_then(|after| lookup(&after.session)))
            .bind(after.and_then(|after| lookup(&after.run)))
            .bind(number(filter.limit));
        let attempt = "cannot list the dead letters";
        Ok(self.select(attempt, statement, read_dead_letter).await?)
    }

    async fn discard_dead_letter(&self, tenant: &str, session: &str, run: &str) -> Result<(), SessionError> {
        match self.discard([tenant, session, run]).await? {
            None => Err(missing([tenant, session, run]).into()),
            Some(false) => Err(DeadLetter::refuse(run)),
            Some(true) => Ok(()),
        }
    }

    async fn held_runs(&self, holder: &str, count: u64) -> Result<Vec<HeldRun>, SessionError> {
        let statement = statement(fleet::held_runs(["$1", "$2", NOW]))
            .bind(lookup(holder))
            .bind(number(count));
        let attempt = "cannot list the leases";
        Ok(self.select(attempt, statement, read_held).await?)
    }

    async fn report_worker(&self, report: &WorkerReport) -> Result<Worker, SessionError> {
        report.check()?;
        Ok(self.keep_report(report).await?)
    }

    async fn forget_worker(&self, id: &str) -> Result<bool, SessionError> {
        let statement = sqlx::query("DELETE FROM run_workers WHERE id = $1").bind(lookup(id));
        let attempt = "cannot forget the worker";
        Ok(self.statements().execute(attempt, statement).await? > 0)
    }

    async fn workers(&self, count: u64) -> Result<Vec<Worker>, SessionError> {
        let sql = format!("SELECT {WORKER_COLUMNS} FROM run_workers WHERE until > {NOW} ORDER BY since, id LIMIT $1");
        let statement = statement(sql).bind(number(count));
        let attempt = "cannot list the workers";
        Ok(self.select(attempt, statement, read_worker).await?)
    }

    async fn drain_worker(&self, id: &str, drains: bool) -> Result<Option<Worker>, SessionError> {
        let sql = format!(
            "UPDATE run_workers SET drain_requested_at = CASE WHEN $2 THEN coalesce(drain_requested_at, {NOW}) END
             WHERE id = $1 AND until > {NOW} RETURNING {WORKER_COLUMNS}"
        );
        let statement = statement(sql).bind(lookup(id)).bind(drains);
        let attempt = "cannot drain the worker";
        Ok(self.select(attempt, statement, read_worker).await?.pop())
    }

    async fn is_outdated(&self) -> Result<bool, SessionError> {
        let attempt = "cannot read the version of the tables";
        let statement = sqlx::query("SELECT EXISTS (SELECT 1 FROM agcore_versions WHERE version > $1)");
        let row = self.statements().row(attempt, statement.bind(NEWEST)).await?;
        let is_outdated = row.map_or(Ok(false), |row| row.try_get(0));
        Ok(is_outdated.map_err(|error| convert(attempt, error))?)
    }
}

impl PostgresStore {
    /// Discards a dead letter. Returns whether it is one, and `None` if there is no such run.
    async fn discard(&self, [tenant, session, run]: [&str; 3]) -> Result<Option<bool>, StoreError> {
        let attempt = "cannot discard the dead letter";
        let sql = "WITH found AS (
                       SELECT run FROM runs
                       WHERE session = (SELECT session FROM sessions WHERE tenant = $1 AND id = $2) AND id = $3
                   ), discarded AS (
                       UPDATE runs SET dead_at = NULL WHERE run = (SELECT run FROM found) AND dead_at IS NOT NULL
                       RETURNING run
                   )
                   SELECT EXISTS (SELECT 1 FROM discarded) AS is_discarded FROM found";
        let statement = sqlx::query(sql)
            .bind(lookup(tenant))
            .bind(lookup(session))
            .bind(lookup(run));
        let row = self.statements().row(attempt, statement).await?;
        let discarded = row.map(|row| row.try_get("is_discarded")).transpose();
        discarded.map_err(|error| convert(attempt, error))
    }

    async fn keep_report(&self, report: &WorkerReport) -> Result<Worker, StoreError> {
        let attempt = "cannot write the report of the worker";
        // Rows that others remove at this moment are skipped, so that no process waits.
        let sql = format!(
            "WITH forgotten AS (
                 DELETE FROM run_workers WHERE id IN (
                     SELECT id FROM run_workers WHERE until <= {NOW} - {KEPT} AND id <> $1 FOR UPDATE SKIP LOCKED
                 )
             )
             INSERT INTO run_workers (id, name, version, slots, runs, is_draining, tenants, since, reported_at, until)
             VALUES ($1, $2, $3, $4, $5, $6, $7, {NOW}, {NOW}, {NOW} + $8)
             ON CONFLICT (id) DO UPDATE SET name = excluded.name, version = excluded.version, slots = excluded.slots,
                 runs = excluded.runs, is_draining = excluded.is_draining, tenants = excluded.tenants,
                 reported_at = excluded.reported_at, until = excluded.until
             RETURNING {WORKER_COLUMNS}"
        );
        let statement = statement(sql)
            .bind(&report.id)
            .bind(&report.name)
            .bind(&report.version)
            .bind(i64::from(report.slots))
            .bind(i64::from(report.runs))
            .bind(i64::from(report.is_draining))
            .bind(tenants_text(report))
            .bind(millis(report.length));
        let mut kept = self.select(attempt, statement, read_worker).await?;
        kept.pop()
            .ok_or_else(|| StoreError::not_found("the report of the worker is gone"))
    }
}
