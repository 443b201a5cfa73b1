//! The store of quotas. All times are those of the server.
//!
//! What changes the usage of a tenant locks the tenant first, for the transaction. Then nothing of it changes between reading and
//! writing.

mod ledger;

use agcore_chat::{Actor, id};
use agcore_session::{
    SessionError,
    quota::{
        Allowance, AllowanceKey, Quota, QuotaAmount, QuotaDefaults, QuotaReport, QuotaScope, QuotaShortage, QuotaStore,
        QuotaUsage, QuotaWindow, check_currency,
    },
};
use async_trait::async_trait;

use super::{
    PostgresStore,
    connection::{statement::FetchRow, transaction::Transaction},
    error::convert,
    query::{number, statement},
    text::lookup,
};
use crate::{
    error::StoreError,
    sql::quotas::{amounts, quotas, read_quota, read_used, usage},
    user_data::UserUsage,
};

#[async_trait]
impl QuotaStore for PostgresStore {
    async fn set_quota(&self, tenant: &str, quota: &Quota) -> Result<(), SessionError> {
        id::check_named("the tenant", tenant)?;
        quota.check()?;
        let attempt = "cannot write the quota";
        let _turn = self.0.quota_turns.wait(attempt, tenant).await?;
        let mut transaction = self.statements().begin(attempt).await?;
        let written = set(&mut transaction, attempt, tenant, quota).await;
        Ok(transaction.end(attempt, written).await?)
    }

    async fn quotas(&self, tenant: &str) -> Result<Vec<Quota>, SessionError> {
        let listing = statement(quotas("tenant = $1")).bind(lookup(tenant));
        let mut found: Vec<Quota> = self.select("cannot list the quotas", listing, read_quota).await?;
        found.sort_by(|a, b| (&a.scope, a.window).cmp(&(&b.scope, b.window)));
        Ok(found)
    }

    async fn delete_quota(&self, tenant: &str, scope: &QuotaScope, window: QuotaWindow) -> Result<bool, SessionError> {
        let sql = "DELETE FROM quotas WHERE tenant = $1 AND subject_user = $2 AND scope = $3 AND window_name = $4";
        let deleting = sqlx::query(sql)
            .bind(lookup(tenant))
            .bind(lookup(scope.user().unwrap_or_default()))
            .bind(scope.as_str())
            .bind(window.as_str());
        let deleted = self.statements().execute("cannot delete the quota", deleting).await?;
        Ok(deleted > 0)
    }

    async fn quota_usage(&self, owner: &Actor, defaults: &QuotaDefaults) -> Result<Vec<QuotaUsage>, SessionError> {
        let attempt = "cannot read what is used of the quotas";
        let ledger = self.read_ledger(attempt, owner).await?;
        if !ledger.has_expired() {
            return ledger.applied(defaults);
        }
        let applied = self.change_ledger(attempt, owner, None, |ledger| ledger.applied(defaults));
        Ok(applied.await?)
    }

    async fn count_run(
        &self,
        owner: &Actor,
        defaults: &QuotaDefaults,
    ) -> Result<Result<(), QuotaShortage>, SessionError> {
        owner.check()?;
        let attempt = "cannot count the run";
        if defaults.is_empty() && !self.is_limited(attempt, owner, None).await? {
            return Ok(Ok(()));
        }
        let counted = self.change_ledger(attempt, owner, None, |ledger| ledger.count_run(defaults));
        Ok(counted.await?)
    }

    async fn uncount_run(&self, owner: &Actor) -> Result<(), SessionError> {
        let uncounted = self.change_ledger("cannot take back the run", owner, None, |ledger| {
            ledger.uncount_run();
            Ok(())
        });
        Ok(uncounted.await?)
    }

    async fn open_allowance(
        &self,
        key: &AllowanceKey,
        defaults: &QuotaDefaults,
    ) -> Result<Option<Allowance>, SessionError> {
        key.check()?;
        let attempt = "cannot open the allowance of the run";
        if defaults.is_empty() && !self.is_limited(attempt, &key.owner, Some(key)).await? {
            return Ok(None);
        }
        let opened = self.change_ledger(attempt, &key.owner, Some(key), |ledger| ledger.open(key, defaults));
        Ok(opened.await?)
    }

    async fn draw(
        &self,
        allowance: &Allowance,
        report: &QuotaReport,
        wanted: &[QuotaAmount],
    ) -> Result<Result<usize, QuotaShortage>, SessionError> {
        let (attempt, key) = ("cannot draw from the quotas", &allowance.key);
        let drawn = self.change_ledger(attempt, &key.owner, Some(key), |ledger| {
            ledger.draw(allowance, report, wanted)
        });
        Ok(drawn.await?)
    }

    async fn close_allowance(&self, allowance: &Allowance, spent: &QuotaAmount) -> Result<(), SessionError> {
        let (attempt, key) = ("cannot close the allowance of the run", &allowance.key);
        let closed = self.change_ledger(attempt, &key.owner, Some(key), |ledger| {
            ledger.close(allowance, spent);
            Ok(())
        });
        Ok(closed.await?)
    }

    async fn erase_quotas(&self, owner: &Actor) -> Result<(), SessionError> {
        let attempt = "cannot erase the quotas";
        let _turn = self.0.quota_turns.wait(attempt, &owner.tenant).await?;
        let mut transaction = self.statements().begin(attempt).await?;
        let erased = ledger::erase(&mut transaction, attempt, owner).await;
        Ok(transaction.end(attempt, erased).await?)
    }
}

impl PostgresStore {
    /// Returns the quotas of a user.
    pub(super) async fn own_quotas(&self, attempt: &str, user: &Actor) -> Result<Vec<Quota>, StoreError> {
        let own = quotas("tenant = $1 AND subject_user = $2 AND scope = 'user'");
        let listing = statement(own).bind(lookup(&user.tenant)).bind(lookup(&user.user));
        self.select(attempt, listing, read_quota).await
    }

    /// Returns what a user has used.
    pub(super) async fn own_usage(&self, attempt: &str, user: &Actor) -> Result<Vec<UserUsage>, StoreError> {
        // The empty subject is the tenant.
        let own = usage("tenant = $1 AND subject = $2 AND subject <> ''");
        let listing = statement(own).bind(lookup(&user.tenant)).bind(lookup(&user.user));
        let found = self.select(attempt, listing, read_used).await?;
        Ok(found.into_iter().map(UserUsage::new).collect())
    }
}

async fn set(transaction: &mut Transaction<'_>, attempt: &str, tenant: &str, quota: &Quota) -> Result<(), StoreError> {
    ledger::lock(transaction, attempt, tenant).await?;
    let (user, currency) = (
        quota.scope.user().unwrap_or_default(),
        quota.currency().map(|code| &**code),
    );
    let clashing = "tenant = $1 AND NOT (subject_user = $2 AND scope = $3 AND window_name = $4) AND currency <> $5";
    let finding = statement(format!("{} LIMIT 1", quotas(clashing)))
        .bind(tenant)
        .bind(user)
        .bind(quota.scope.as_str())
        .bind(quota.window.as_str())
        .bind(currency);
    if let Some(row) = transaction.row(attempt, finding).await? {
        let other = read_quota(&row).map_err(|error| convert(attempt, error))?;
        check_currency(&[other, quota.clone()])?;
    }
    let sql =
        "INSERT INTO quotas (tenant, subject_user, scope, window_name, runs, model_calls, tokens, micros, currency)
               VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
               ON CONFLICT (tenant, subject_user, scope, window_name) DO UPDATE
               SET runs = excluded.runs, model_calls = excluded.model_calls, tokens = excluded.tokens,
                   micros = excluded.micros, currency = excluded.currency";
    let writing = sqlx::query(sql)
        .bind(tenant)
        .bind(user)
        .bind(quota.scope.as_str())
        .bind(quota.window.as_str())
        .bind(quota.runs.map(number))
        .bind(quota.model_calls.map(number))
        .bind(quota.tokens.map(number))
        .bind(quota.money.as_ref().map(|money| money.micros))
        .bind(currency);
    transaction.execute(attempt, writing).await.map(drop)
}
