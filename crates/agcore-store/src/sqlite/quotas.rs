//! The store of quotas.

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
use rusqlite::{Connection, params};

use super::{
    SqliteStore,
    rows::{execute, number, select, select_one},
};
use crate::{
    error::StoreError,
    sql::quotas::{Ledger, quotas, read_quota, read_used, usage},
    user_data::UserUsage,
};

#[async_trait]
impl QuotaStore for SqliteStore {
    async fn set_quota(&self, tenant: &str, quota: &Quota) -> Result<(), SessionError> {
        id::check_named("the tenant", tenant)?;
        quota.check()?;
        let (tenant, quota) = (tenant.to_owned(), quota.clone());
        self.write(move |connection| set(connection, &tenant, &quota)).await
    }

    async fn quotas(&self, tenant: &str) -> Result<Vec<Quota>, SessionError> {
        let tenant = tenant.to_owned();
        let list = move |connection: &Connection| {
            let attempt = "cannot list the quotas";
            select(connection, attempt, &quotas("tenant = ?1"), [tenant], |row| {
                read_quota(row)
            })
        };
        let mut found: Vec<Quota> = self.read::<_, SessionError>(list).await?;
        found.sort_by(|a, b| (&a.scope, a.window).cmp(&(&b.scope, b.window)));
        Ok(found)
    }

    async fn delete_quota(&self, tenant: &str, scope: &QuotaScope, window: QuotaWindow) -> Result<bool, SessionError> {
        let (tenant, scope) = (tenant.to_owned(), scope.clone());
        self.write_statement(move |connection| {
            let sql = "DELETE FROM quotas WHERE tenant = ?1 AND subject_user = ?2 AND scope = ?3 AND window_name = ?4";
            let user = scope.user().unwrap_or_default();
            let params = params![tenant, user, scope.as_str(), window.as_str()];
            Ok(execute(connection, "cannot delete the quota", sql, params)? > 0)
        })
        .await
    }

    async fn quota_usage(&self, owner: &Actor, defaults: &QuotaDefaults) -> Result<Vec<QuotaUsage>, SessionError> {
        let attempt = "cannot read what is used of the quotas";
        let (reader, clock) = (owner.clone(), self.clock());
        let read = move |connection: &Connection| ledger::read(connection, attempt, &reader, None, clock.now().into());
        let ledger = self.read::<Ledger, SessionError>(read).await?;
        if !ledger.has_expired() {
            return ledger.applied(defaults);
        }
        let defaults = defaults.clone();
        self.change_ledger(attempt, owner, None, move |ledger| ledger.applied(&defaults))
            .await
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
        let defaults = defaults.clone();
        self.change_ledger(attempt, owner, None, move |ledger| ledger.count_run(&defaults))
            .await
    }

    async fn uncount_run(&self, owner: &Actor) -> Result<(), SessionError> {
        self.change_ledger("cannot take back the run", owner, None, |ledger| {
            ledger.uncount_run();
            Ok(())
        })
        .await
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
        let (opened, defaults) = (key.clone(), defaults.clone());
        self.change_ledger(attempt, &key.owner, Some(key), move |ledger| {
            ledger.open(&opened, &defaults)
        })
        .await
    }

    async fn draw(
        &self,
        allowance: &Allowance,
        report: &QuotaReport,
        wanted: &[QuotaAmount],
    ) -> Result<Result<usize, QuotaShortage>, SessionError> {
        let (attempt, key) = ("cannot draw from the quotas", &allowance.key);
        let (allowance, report, wanted) = (allowance.clone(), *report, wanted.to_vec());
        self.change_ledger(attempt, &key.owner, Some(key), move |ledger| {
            ledger.draw(&allowance, &report, &wanted)
        })
        .await
    }

    async fn close_allowance(&self, allowance: &Allowance, spent: &QuotaAmount) -> Result<(), SessionError> {
        let (attempt, key) = ("cannot close the allowance of the run", &allowance.key);
        let (allowance, spent) = (allowance.clone(), *spent);
        self.change_ledger(attempt, &key.owner, Some(key), move |ledger| {
            ledger.close(&allowance, &spent);
            Ok(())
        })
        .await
    }

    async fn erase_quotas(&self, owner: &Actor) -> Result<(), SessionError> {
        let (owner, clock) = (owner.clone(), self.clock());
        let erase = move |connection: &Connection| ledger::erase(connection, &owner, clock.now().into());
        self.write::<_, StoreError>(erase).await?;
        Ok(self.truncate_log().await?)
    }
}

impl SqliteStore {
    /// Returns the quotas of a user.
    pub(super) async fn own_quotas(&self, attempt: &'static str, user: &Actor) -> Result<Vec<Quota>, StoreError> {
        let owner = [user.tenant.to_string(), user.user.to_string()];
        self.read(move |connection| {
            let own = quotas("tenant = ?1 AND subject_user = ?2 AND scope = 'user'");
            select(connection, attempt, &own, owner, |row| read_quota(row))
        })
        .await
    }

    /// Returns what a user has used.
    pub(super) async fn own_usage(&self, attempt: &'static str, user: &Actor) -> Result<Vec<UserUsage>, StoreError> {
        let owner = [user.tenant.to_string(), user.user.to_string()];
        self.read(move |connection| {
            // The empty subject is the tenant.
            let own = usage("tenant = ?1 AND subject = ?2 AND subject <> ''");
            select(connection, attempt, &own, owner, |row| {
                read_used(row).map(UserUsage::new)
            })
        })
        .await
    }
}

fn set(connection: &Connection, tenant: &str, quota: &Quota) -> Result<(), StoreError> {
    let attempt = "cannot write the quota";
    let (user, currency) = (
        quota.scope.user().unwrap_or_default(),
        quota.currency().map(|code| &**code),
    );
    let clashing = "tenant = ?1 AND NOT (subject_user = ?2 AND scope = ?3 AND window_name = ?4) AND currency <> ?5";
    let sql = format!("{} LIMIT 1", quotas(clashing));
    let (scope, window) = (quota.scope.as_str(), quota.window.as_str());
    let params = params![tenant, user, scope, window, currency];
    if let Some(other) = select_one(connection, attempt, &sql, params, |row| read_quota(row))? {
        check_currency(&[other, quota.clone()])?;
    }
    let sql =
        "INSERT INTO quotas (tenant, subject_user, scope, window_name, runs, model_calls, tokens, micros, currency)
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
               ON CONFLICT (tenant, subject_user, scope, window_name) DO UPDATE
               SET runs = excluded.runs, model_calls = excluded.model_calls, tokens = excluded.tokens,
                   micros = excluded.micros, currency = excluded.currency";
    let [runs, calls, tokens] = [quota.runs, quota.model_calls, quota.tokens].map(|limit| limit.map(number));
    let micros = quota.money.as_ref().map(|money| money.micros);
    let params = params![tenant, user, scope, window, runs, calls, tokens, micros, currency];
    execute(connection, attempt, sql, params).map(drop)
}
