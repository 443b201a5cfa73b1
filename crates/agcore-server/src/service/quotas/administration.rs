//! The quotas of tenants, for their administrators.

use agcore_session::{
    SessionError, SessionErrorKind,
    quota::{Quota, QuotaScope, QuotaWindow},
};

use crate::{
    problem::{Problem, ProblemCode},
    service::state::{Quotas, Service},
};

impl Service {
    /// # Errors
    /// `not_found` if the server keeps no quotas.
    fn kept_quotas(&self) -> Result<&Quotas, Problem> {
        self.quotas
            .as_ref()
            .ok_or_else(|| Problem::new(ProblemCode::NotFound, "this server keeps no quotas"))
    }

    /// Returns the quotas of a tenant itself.
    ///
    /// # Errors
    /// When the server keeps no quotas, or the store fails.
    pub(crate) async fn tenant_quotas(&self, tenant: &str) -> Result<Vec<Quota>, Problem> {
        Ok(self.kept_quotas()?.store.quotas(tenant).await?)
    }

    /// Sets a quota of a tenant.
    ///
    /// # Errors
    /// `invalid_request` if it is not acceptable, or in another currency than those that would apply beside it.
    pub(crate) async fn set_tenant_quota(&self, tenant: &str, quota: &Quota) -> Result<(), Problem> {
        let quotas = self.kept_quotas()?;
        let mut own = quotas.store.quotas(tenant).await?;
        own.retain(|known| !is_at(known, &quota.scope, quota.window));
        own.push(quota.clone());
        quotas.defaults.check_own(&own).map_err(unacceptable)?;
        quotas.store.set_quota(tenant, quota).await.map_err(unacceptable)
    }

    /// Deletes a quota of a tenant.
    ///
    /// # Errors
    /// `not_found` if there is none, and `invalid_request` if the one of every tenant that would replace it is in another currency
    /// than the others of the tenant.
    pub(crate) async fn delete_tenant_quota(
        &self,
        tenant: &str,
        scope: &QuotaScope,
        window: QuotaWindow,
    ) -> Result<(), Problem> {
        let quotas = self.kept_quotas()?;
        let own = quotas.store.quotas(tenant).await?;
        let rest: Vec<Quota> = own
            .iter()
            .filter(|known| !is_at(known, scope, window))
            .cloned()
            .collect();
        // What is wrong already can be repaired.
        if quotas.defaults.check_own(&own).is_ok() {
            quotas.defaults.check_own(&rest).map_err(unacceptable)?;
        }
        match quotas.store.delete_quota(tenant, scope, window).await? {
            true => Ok(()),
            false => Err(Problem::unknown("quota")),
        }
    }
}

fn is_at(quota: &Quota, scope: &QuotaScope, window: QuotaWindow) -> bool {
    (&quota.scope, quota.window) == (scope, window)
}

fn unacceptable(error: SessionError) -> Problem {
    match error.kind() {
        SessionErrorKind::InvalidInput => Problem::invalid(error.message()),
        _ => error.into(),
    }
}
