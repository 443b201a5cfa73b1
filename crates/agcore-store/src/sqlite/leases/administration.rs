//! Tenants, workers and dead letters.

use agcore_chat::Timestamp;
use agcore_session::{
    DeadLetter, DeadLetterFilter, HeldRun, RunAdministration, SessionError, TenantRuns, Worker, WorkerReport,
};
use async_trait::async_trait;
use rusqlite::{Connection, params};

use super::state::find_existing;
use crate::{
    error::StoreError,
    sql::fleet::{self, KEPT, WORKER_COLUMNS, read_dead_letter, read_held, read_tenant, read_worker, tenants_text},
    sqlite::{
        SqliteStore,
        connection::migrations::NEWEST,
        error::convert,
        rows::{execute, limit, select, select_one},
    },
};

#[async_trait]
impl RunAdministration for SqliteStore {
    async fn tenants(&self, after: Option<&str>, count: u64) -> Result<Vec<TenantRuns>, SessionError> {
        let (after, clock) = (after.unwrap_or_default().to_owned(), self.clock());
        self.read(move |connection| {
            let now: Timestamp = clock.now().into();
            let sql = fleet::tenant_page(["?1", "?2", "?3"]);
            let params = params![after, limit(Some(count)), now.as_millis()];
            select(connection, "cannot list the tenants", &sql, params, |row| {
                read_tenant(row)
            })
        })
        .await
    }

    async fn tenant(&self, tenant: &str) -> Result<Option<TenantRuns>, SessionError> {
        let (tenant, clock) = (tenant.to_owned(), self.clock());
        self.read(move |connection| {
            let now: Timestamp = clock.now().into();
            let sql = fleet::one_tenant(["?1", "?2"]);
            let params = params![tenant, now.as_millis()];
            select_one(connection, "cannot read the tenant", &sql, params, |row| {
                read_tenant(row)
            })
        })
        .await
    }

    async fn delete_share(&self, tenant: &str) -> Result<bool, SessionError> {
        let tenant = tenant.to_owned();
        self.write(move |connection| {
            let sql = "DELETE FROM run_shares WHERE tenant = ?1";
            Ok::<_, StoreError>(execute(connection, "cannot delete the share", sql, [tenant])? > 0)
        })
        .await
    }

    async fn dead_letter_page(&self, filter: &DeadLetterFilter) -> Result<Vec<DeadLetter>, SessionError> {
        let filter = filter.clone();
        self.read(move |connection| {
            let sql = fleet::dead_letter_page(["?1", "?2", "?3", "?4", "?5"]);
            let after = filter.after.as_ref();
            let params = params![
                &*filter.tenant,
                after.map(|after| after.at.as_millis()),
                after.map(|after| &*after.session),
                after.map(|after| &*after.run),
                limit(Some(filter.limit)),
            ];
            select(connection, "cannot list the dead letters", &sql, params, |row| {
                read_dead_letter(row)
            })
        })
        .await
    }

    async fn discard_dead_letter(&self, tenant: &str, session: &str, run: &str) -> Result<(), SessionError> {
        let key = [tenant, session, run].map(str::to_owned);
        self.write(move |connection| {
            let found = find_existing(connection, &key)?;
            let sql = "UPDATE runs SET dead_at = NULL WHERE run = ?1 AND dead_at IS NOT NULL";
            match execute(connection, "cannot discard the dead letter", sql, [found.run])? {
                0 => Err(DeadLetter::refuse(&key[2]).into()),
                _ => Ok::<_, StoreError>(()),
            }
        })
        .await
    }

    async fn held_runs(&self, holder: &str, count: u64) -> Result<Vec<HeldRun>, SessionError> {
        let (holder, clock) = (holder.to_owned(), self.clock());
        self.read(move |connection| {
            let now: Timestamp = clock.now().into();
            let sql = fleet::held_runs(["?1", "?2", "?3"]);
            let params = params![holder, limit(Some(count)), now.as_millis()];
            select(connection, "cannot list the leases", &sql, params, |row| read_held(row))
        })
        .await
    }

    async fn report_worker(&self, report: &WorkerReport) -> Result<Worker, SessionError> {
        report.check()?;
        let report = report.clone();
        self.lease(move |connection, now| keep(connection, &report, now.as_millis()))
            .await
    }

    async fn forget_worker(&self, id: &str) -> Result<bool, SessionError> {
        let id = id.to_owned();
        self.write(move |connection| {
            let sql = "DELETE FROM run_workers WHERE id = ?1";
            Ok::<_, StoreError>(execute(connection, "cannot forget the worker", sql, [id])? > 0)
        })
        .await
    }

    async fn workers(&self, count: u64) -> Result<Vec<Worker>, SessionError> {
        let clock = self.clock();
        self.read(move |connection| {
            let now: Timestamp = clock.now().into();
            let sql = format!("SELECT {WORKER_COLUMNS} FROM run_workers WHERE until > ?1 ORDER BY since, id LIMIT ?2");
            let params = params![now.as_millis(), limit(Some(count))];
            select(connection, "cannot list the workers", &sql, params, |row| {
                read_worker(row)
            })
        })
        .await
    }

    async fn drain_worker(&self, id: &str, drains: bool) -> Result<Option<Worker>, SessionError> {
        let id = id.to_owned();
        self.lease(move |connection, now| {
            let sql = format!(
                "UPDATE run_workers SET drain_requested_at = CASE WHEN ?2 THEN coalesce(drain_requested_at, ?3) END
                 WHERE id = ?1 AND until > ?3 RETURNING {WORKER_COLUMNS}"
            );
            let params = params![id, drains, now.as_millis()];
            let mut found = select(connection, "cannot drain the worker", &sql, params, |row| {
                read_worker(row)
            })?;
            Ok(found.pop())
        })
        .await
    }

    async fn is_outdated(&self) -> Result<bool, SessionError> {
        self.read(|connection| {
            let version = connection.pragma_query_value(None, "user_version", |row| row.get::<_, i64>(0));
            let version = version.map_err(|error| convert("cannot read the version of the tables", error))?;
            Ok::<_, StoreError>(version > i64::from(NEWEST))
        })
        .await
    }
}

/// Keeps the report of a process.
fn keep(connection: &Connection, report: &WorkerReport, now: i64) -> Result<Worker, StoreError> {
    let attempt = "cannot write the report of the worker";
    let sql = "DELETE FROM run_workers WHERE until <= ?1 AND id <> ?2";
    execute(connection, attempt, sql, params![now - KEPT, report.id])?;
    let sql = format!(
        "INSERT INTO run_workers (id, name, version, slots, runs, is_draining, tenants, since, reported_at, until)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?8, ?9)
         ON CONFLICT (id) DO UPDATE SET name = excluded.name, version = excluded.version, slots = excluded.slots,
             runs = excluded.runs, is_draining = excluded.is_draining, tenants = excluded.tenants,
             reported_at = excluded.reported_at, until = excluded.until
         RETURNING {WORKER_COLUMNS}"
    );
    let length = i64::try_from(report.length.as_millis()).unwrap_or(i64::MAX);
    let params = params![
        report.id,
        report.name,
        report.version,
        report.slots,
        report.runs,
        report.is_draining,
        tenants_text(report),
        now,
        now.saturating_add(length),
    ];
    let mut kept = select(connection, attempt, &sql, params, |row| read_worker(row))?;
    kept.pop()
        .ok_or_else(|| StoreError::not_found("the report of the worker is gone"))
}
