//! Leases of runs.

mod administration;
mod claim;
mod state;

use std::sync::Arc;

use agcore_chat::{Clock, Timestamp, id};
use agcore_session::{
    CancelRequest, ClaimRequest, Claims, DeadLetter, Lease, Release, Renewal, RunLeases, SessionError, TenantShare,
};
use async_trait::async_trait;
use rusqlite::{Connection, params};

pub(super) use self::state::{check_fence, check_limits};
use self::state::{find_existing, write_state};
use super::{
    SqliteStore,
    rows::{execute, limit, select, select_one},
};
use crate::{
    error::StoreError,
    sql::leases::{COUNTED, end_delays},
};

#[async_trait]
impl RunLeases for SqliteStore {
    async fn claim(&self, request: &ClaimRequest) -> Result<Claims, SessionError> {
        request.check()?;
        let request = request.clone();
        self.lease(move |connection, now| claim::claim(connection, &request, now))
            .await
    }

    async fn renew(&self, leases: &[Lease]) -> Result<Vec<Renewal>, SessionError> {
        let leases = leases.to_vec();
        self.lease(move |connection, now| leases.iter().map(|lease| renew(connection, lease, now)).collect())
            .await
    }

    async fn cancel_requests(&self, leases: &[Lease]) -> Result<Vec<bool>, SessionError> {
        let (leases, clock) = (leases.to_vec(), self.clock());
        self.read(move |connection| {
            let now = clock.now().into();
            let is_wanted = |lease: &Lease| {
                let held = state::held(connection, lease, now)?;
                Ok(held.is_some_and(|found| found.lease.cancel_requested_at.is_some()))
            };
            leases.iter().map(is_wanted).collect()
        })
        .await
    }

    async fn release(&self, lease: &Lease, release: Release) -> Result<bool, SessionError> {
        let lease = lease.clone();
        self.lease(move |connection, now| {
            let Some(mut found) = state::held(connection, &lease, now)? else {
                return Ok(false);
            };
            found.lease.release(&release, now);
            write_state(connection, found.run, &found.lease).map(|()| true)
        })
        .await
    }

    async fn end_delays(&self, tenant: &str, session: &str) -> Result<u64, SessionError> {
        let (tenant, session) = (tenant.to_owned(), session.to_owned());
        self.write(move |connection| {
            let sql = end_delays(["?1", "?2"]);
            execute(connection, "cannot end the delays of runs", &sql, [tenant, session])
        })
        .await
    }

    async fn take_over(&self, cancels: bool) -> Result<u64, SessionError> {
        self.lease(move |connection, now| {
            let sql = format!(
                "UPDATE runs SET holder = NULL, lease_until = NULL,
                     cancel_requested_at = CASE WHEN ?1 THEN coalesce(cancel_requested_at, ?2) ELSE cancel_requested_at END
                 WHERE {COUNTED}"
            );
            let params = params![cancels, now.as_millis()];
            execute(connection, "cannot take the runs back", &sql, params)
        })
        .await
    }

    async fn request_cancel(&self, tenant: &str, session: &str, run: &str) -> Result<CancelRequest, SessionError> {
        let key = [tenant, session, run].map(str::to_owned);
        self.lease(move |connection, now| {
            let mut found = find_existing(connection, &key)?;
            if found.status.is_over() {
                return Ok(CancelRequest::Over);
            }
            found.lease.cancel_requested_at.get_or_insert(now);
            write_state(connection, found.run, &found.lease)?;
            Ok(match found.lease.is_held(found.status, now) {
                true => CancelRequest::Held,
                false => CancelRequest::Free,
            })
        })
        .await
    }

    async fn dead_letters(&self, tenant: Option<&str>, count: u64) -> Result<Vec<DeadLetter>, SessionError> {
        let tenant = tenant.map(str::to_owned);
        self.read(move |connection| {
            let sql =
                "SELECT runs.tenant AS tenant, sessions.id AS session_id, runs.id AS id, attempts, worker, dead_at
                       FROM runs JOIN sessions USING (session)
                       WHERE dead_at IS NOT NULL AND (?1 IS NULL OR runs.tenant = ?1) ORDER BY dead_at, run LIMIT ?2";
            let params = params![tenant, limit(Some(count))];
            select(
                connection,
                "cannot list the dead letters",
                sql,
                params,
                state::read_dead,
            )
        })
        .await
    }

    async fn revive(&self, tenant: &str, session: &str, run: &str) -> Result<(), SessionError> {
        let key = [tenant, session, run].map(str::to_owned);
        self.lease(move |connection, now| revive(connection, &key, now)).await
    }

    async fn set_share(&self, tenant: &str, share: TenantShare) -> Result<(), SessionError> {
        id::check_named("the tenant", tenant)?;
        share.check()?;
        let tenant = tenant.to_owned();
        self.write(move |connection| {
            let sql = "INSERT INTO run_shares (tenant, weight, ceiling) VALUES (?1, ?2, ?3)
                       ON CONFLICT (tenant) DO UPDATE SET weight = excluded.weight, ceiling = excluded.ceiling";
            let params = params![tenant, share.weight, share.ceiling];
            execute(connection, "cannot write the share", sql, params).map(drop)
        })
        .await
    }

    async fn share(&self, tenant: &str) -> Result<TenantShare, SessionError> {
        let tenant = tenant.to_owned();
        self.read(move |connection| {
            let sql = "SELECT tenant, weight, ceiling FROM run_shares WHERE tenant = ?1";
            let found = select_one(connection, "cannot read the share", sql, [tenant], |row| {
                claim::read_share(row)
            });
            Ok(found?.map(|(_, share)| share).unwrap_or_default())
        })
        .await
    }
}

impl SqliteStore {
    /// Writes with the time at which the transaction runs, and not that at which the caller began to wait for it.
    async fn lease<T: Send + 'static>(
        &self,
        job: impl FnOnce(&Connection, Timestamp) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, SessionError> {
        let clock = self.clock();
        self.write(move |connection| job(connection, clock.now().into())).await
    }

    /// Returns the clock, for what has to know the time within a transaction.
    pub(super) fn clock(&self) -> Arc<dyn Clock> {
        Arc::clone(&self.0.clock)
    }
}

fn renew(connection: &Connection, lease: &Lease, now: Timestamp) -> Result<Renewal, StoreError> {
    let Some(found) = state::held(connection, lease, now)? else {
        return Ok(Renewal::Lost);
    };
    let sql = "UPDATE runs SET lease_until = ?2 WHERE run = ?1";
    let until = now.after(lease.length).as_millis();
    execute(connection, "cannot renew the lease", sql, params![found.run, until])?;
    Ok(Renewal::Held {
        remaining: lease.length,
        cancel_requested: found.lease.cancel_requested_at.is_some(),
    })
}

fn revive(connection: &Connection, key: &[String; 3], now: Timestamp) -> Result<(), StoreError> {
    let mut found = find_existing(connection, key)?;
    if found.lease.dead_at.is_none() {
        return Err(DeadLetter::refuse(&key[2]).into());
    }
    found.lease.revive(now);
    let sql = "UPDATE runs SET status = 'queued', dead_at = NULL, queued_at = ?2, updated_at = max(updated_at, ?2)
               WHERE run = ?1";
    let params = params![found.run, now.as_millis()];
    execute(connection, "cannot queue the run again", sql, params)?;
    write_state(connection, found.run, &found.lease)
}
