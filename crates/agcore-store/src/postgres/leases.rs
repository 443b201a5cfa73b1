//! Leases of runs. All times are those of the server.

mod administration;
mod claim;
mod dead;
mod fence;
mod limits;
mod renewal;

use agcore_chat::id;
use agcore_session::{
    CancelRequest, ClaimRequest, Claims, DeadLetter, Lease, Release, Renewal, RunLeases, SessionError, TenantShare,
};
use async_trait::async_trait;
use sqlx::{Row, postgres::PgRow};

pub(super) use self::{
    fence::check as check_fence,
    limits::{check as check_limits, lock as lock_limits},
};
use super::{
    PostgresStore,
    error::convert,
    query::{number, statement},
    text::lookup,
};
use crate::sql::leases::end_delays;
use crate::{error::StoreError, sql::row::SqlRow};

#[async_trait]
impl RunLeases for PostgresStore {
    async fn claim(&self, request: &ClaimRequest) -> Result<Claims, SessionError> {
        request.check()?;
        Ok(self.claim_runs(request).await?)
    }

    async fn renew(&self, leases: &[Lease]) -> Result<Vec<Renewal>, SessionError> {
        Ok(self.renew_leases(leases).await?)
    }

    async fn cancel_requests(&self, leases: &[Lease]) -> Result<Vec<bool>, SessionError> {
        Ok(self.unwanted_runs(leases).await?)
    }

    async fn release(&self, lease: &Lease, release: Release) -> Result<bool, SessionError> {
        Ok(self.release_lease(lease, release).await?)
    }

    async fn end_delays(&self, tenant: &str, session: &str) -> Result<u64, SessionError> {
        let statement = statement(end_delays(["$1", "$2"]))
            .bind(lookup(tenant))
            .bind(lookup(session));
        let attempt = "cannot end the delays of runs";
        Ok(self.statements().execute(attempt, statement).await?)
    }

    async fn take_over(&self, cancels: bool) -> Result<u64, SessionError> {
        Ok(self.take_all_back(cancels).await?)
    }

    async fn request_cancel(&self, tenant: &str, session: &str, run: &str) -> Result<CancelRequest, SessionError> {
        let key = [tenant, session, run];
        let found = self.request_end(key).await?;
        found.ok_or_else(|| missing(key).into())
    }

    async fn dead_letters(&self, tenant: Option<&str>, count: u64) -> Result<Vec<DeadLetter>, SessionError> {
        let sql = "SELECT runs.tenant, sessions.id AS session_id, runs.id, attempts, worker, dead_at
                   FROM runs JOIN sessions USING (session)
                   WHERE dead_at IS NOT NULL AND ($1 OR runs.tenant = $2) ORDER BY dead_at, run LIMIT $3";
        let statement = sqlx::query(sql)
            .bind(tenant.is_none())
            .bind(tenant.and_then(lookup))
            .bind(number(count));
        Ok(self
            .select("cannot list the dead letters", statement, dead::read)
            .await?)
    }

    async fn revive(&self, tenant: &str, session: &str, run: &str) -> Result<(), SessionError> {
        let key = [tenant, session, run];
        match self.queue_again(key).await? {
            None => Err(missing(key).into()),
            Some(false) => Err(DeadLetter::refuse(run)),
            Some(true) => Ok(()),
        }
    }

    async fn set_share(&self, tenant: &str, share: TenantShare) -> Result<(), SessionError> {
        id::check_named("the tenant", tenant)?;
        share.check()?;
        let sql = "INSERT INTO run_shares (tenant, weight, ceiling) VALUES ($1, $2, $3)
                   ON CONFLICT (tenant) DO UPDATE SET weight = excluded.weight, ceiling = excluded.ceiling";
        let statement = sqlx::query(sql).bind(tenant).bind(i64::from(share.weight));
        let statement = statement.bind(share.ceiling.map(i64::from));
        let written = self.statements().execute("cannot write the share", statement).await;
        Ok(written.map(drop)?)
    }

    async fn share(&self, tenant: &str) -> Result<TenantShare, SessionError> {
        let attempt = "cannot read the share";
        let statement = sqlx::query("SELECT weight, ceiling FROM run_shares WHERE tenant = $1").bind(lookup(tenant));
        let row = self.statements().row(attempt, statement).await?;
        let share = row.as_ref().map(read_share).transpose();
        Ok(share.map_err(|error| convert(attempt, error))?.unwrap_or_default())
    }

    async fn announce(&self) -> Result<(), SessionError> {
        let notify = sqlx::query("SELECT pg_notify($1, '')").bind(self.0.announcements.channel());
        let sent = self.statements().row("cannot announce a run", notify).await;
        Ok(sent.map(drop)?)
    }

    async fn announced(&self) -> Result<(), SessionError> {
        Ok(self.0.announcements.next().await?)
    }
}

fn read_share(row: &PgRow) -> Result<TenantShare, sqlx::Error> {
    // The table allows no other numbers.
    let mut share = TenantShare::new(u32::try_from(row.count("weight")?).unwrap_or(1));
    let ceiling: Option<i64> = row.try_get("ceiling")?;
    share.ceiling = ceiling.map(|ceiling| u32::try_from(ceiling).unwrap_or(0));
    Ok(share)
}

#[cold]
fn missing([_, session, run]: [&str; 3]) -> StoreError {
    StoreError::not_found(format!("the session `{session}` has no run `{run}`"))
}
