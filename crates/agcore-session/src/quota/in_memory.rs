//! [`InMemoryQuotas`].

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use agcore_chat::{Actor, Clock, Timestamp, id};
use async_trait::async_trait;

use super::{
    allowance::{Allowance, AllowanceKey, QuotaReport},
    amount::QuotaAmount,
    defaults::{QuotaDefaults, check_currency},
    limit::{Quota, QuotaScope},
    shortage::QuotaShortage,
    state::{AllowanceState, Counted},
    store::QuotaStore,
    usage::{QuotaUsage, admit_run, first_fitting},
    window::QuotaWindow,
};
use crate::error::{SessionError, SessionErrorKind};

/// A [`QuotaStore`] in the memory of the process: for tests, for programs of one process, and as the reference for other stores.
/// Nothing survives the process.
#[derive(Debug)]
pub struct InMemoryQuotas {
    clock: Arc<dyn Clock>,
    opened: AtomicU64,
    tenants: Mutex<BTreeMap<String, Tenant>>,
}

/// The quotas of a tenant.
#[derive(Debug, Default)]
struct Tenant {
    quotas: BTreeMap<(QuotaScope, QuotaWindow), Quota>,
    /// By the user, or the empty text for all of them, and the window.
    counted: BTreeMap<(String, QuotaWindow), Counted>,
    /// By session and run.
    allowances: BTreeMap<(String, String), Opened>,
}

/// An allowance, with its user.
#[derive(Debug)]
struct Opened {
    user: String,
    state: AllowanceState,
}

impl InMemoryQuotas {
    /// Creates a store without quotas.
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        Self {
            clock,
            opened: AtomicU64::new(0),
            tenants: Mutex::default(),
        }
    }

    fn now(&self) -> Timestamp {
        self.clock.now().into()
    }

    fn tenants(&self) -> MutexGuard<'_, BTreeMap<String, Tenant>> {
        self.tenants.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the quotas and amounts of a tenant, after the allowances that have expired were counted.
    fn with_tenant<T>(&self, tenant: &str, change: impl FnOnce(&mut Tenant, Timestamp) -> T) -> T {
        let mut tenants = self.tenants();
        let now = self.now();
        let tenant = tenants.entry(tenant.to_owned()).or_default();
        tenant.expire(now);
        change(tenant, now)
    }
}

impl Tenant {
    fn expire(&mut self, now: Timestamp) {
        let expired = self
            .allowances
            .values_mut()
            .filter(|opened| opened.state.has_expired(now));
        let presumed: Vec<_> = expired
            .map(|opened| (opened.user.clone(), opened.state.presume()))
            .collect();
        for (user, amount) in presumed {
            self.count(&user, &amount, now);
        }
    }

    /// Counts an amount in all windows of the tenant and the user, so that a quota with any of them applies when it is set.
    fn count(&mut self, user: &str, amount: &QuotaAmount, now: Timestamp) {
        self.count_for("", amount, now);
        self.count_for(user, amount, now);
    }

    /// Counts an amount for a user alone, or with the empty text for the tenant alone.
    fn count_for(&mut self, subject: &str, amount: &QuotaAmount, now: Timestamp) {
        if amount.is_zero() {
            return;
        }
        for window in QuotaWindow::ALL {
            let counted = self.counted.entry((subject.to_owned(), window)).or_default();
            counted.add(amount, window, now);
        }
    }

    fn apply(&self, defaults: &QuotaDefaults, user: &str) -> Result<Vec<Quota>, SessionError> {
        let own: Vec<Quota> = self.quotas.values().cloned().collect();
        defaults.with_own(&own, user)
    }

    fn usage(&self, quotas: Vec<Quota>, user: &str, now: Timestamp) -> Vec<QuotaUsage> {
        let usage = |quota: Quota| {
            let subject = quota.subject(user).to_owned();
            let mut held = QuotaAmount::new();
            for opened in self.allowances.values() {
                if subject.is_empty() || opened.user == subject {
                    held.add(&opened.state.held);
                }
            }
            let counted = self.counted.get(&(subject, quota.window)).copied().unwrap_or_default();
            QuotaUsage::new(quota, counted.used, counted.start, held, now)
        };
        quotas.into_iter().map(usage).collect()
    }

    /// Takes a report, if the allowance is still that of its holder.
    fn report(&mut self, allowance: &Allowance, report: &QuotaReport, now: Timestamp) -> Option<()> {
        let opened = self.allowances.get_mut(&place(&allowance.key))?;
        if opened.state.holder != allowance.holder {
            return None;
        }
        let more = opened.state.report(report, now);
        self.count(allowance.key.user(), &more, now);
        Some(())
    }
}

fn place(key: &AllowanceKey) -> (String, String) {
    (key.session.clone(), key.run.clone())
}

#[async_trait]
impl QuotaStore for InMemoryQuotas {
    async fn set_quota(&self, tenant: &str, quota: &Quota) -> Result<(), SessionError> {
        id::check_named("the tenant", tenant)?;
        quota.check()?;
        self.with_tenant(tenant, |tenant, _| {
            let key = (quota.scope.clone(), quota.window);
            let others = tenant.quotas.iter().filter(|(other, _)| **other != key);
            let mut all: Vec<Quota> = others.map(|(_, quota)| quota.clone()).collect();
            all.push(quota.clone());
            check_currency(&all)?;
            tenant.quotas.insert(key, quota.clone());
            Ok(())
        })
    }

    async fn quotas(&self, tenant: &str) -> Result<Vec<Quota>, SessionError> {
        Ok(self.with_tenant(tenant, |tenant, _| tenant.quotas.values().cloned().collect()))
    }

    async fn delete_quota(&self, tenant: &str, scope: &QuotaScope, window: QuotaWindow) -> Result<bool, SessionError> {
        let key = (scope.clone(), window);
        Ok(self.with_tenant(tenant, |tenant, _| tenant.quotas.remove(&key).is_some()))
    }

    async fn quota_usage(&self, owner: &Actor, defaults: &QuotaDefaults) -> Result<Vec<QuotaUsage>, SessionError> {
        self.with_tenant(&owner.tenant, |tenant, now| {
            let quotas = tenant.apply(defaults, &owner.user)?;
            Ok(tenant.usage(quotas, &owner.user, now))
        })
    }

    async fn count_run(
        &self,
        owner: &Actor,
        defaults: &QuotaDefaults,
    ) -> Result<Result<(), QuotaShortage>, SessionError> {
        owner.check()?;
        self.with_tenant(&owner.tenant, |tenant, now| {
            let quotas = tenant.apply(defaults, &owner.user)?;
            if quotas.is_empty() {
                return Ok(Ok(()));
            }
            if let Err(shortage) = admit_run(&tenant.usage(quotas, &owner.user, now), now) {
                return Ok(Err(shortage));
            }
            tenant.count(&owner.user, &QuotaAmount::new().with_runs(1), now);
            Ok(Ok(()))
        })
    }

    async fn uncount_run(&self, owner: &Actor) -> Result<(), SessionError> {
        self.with_tenant(&owner.tenant, |tenant, now| {
            let one = QuotaAmount::new().with_runs(1);
            for ((subject, window), counted) in &mut tenant.counted {
                if subject.is_empty() || **subject == *owner.user {
                    counted.take_back(&one, *window, now);
                }
            }
        });
        Ok(())
    }

    async fn open_allowance(
        &self,
        key: &AllowanceKey,
        defaults: &QuotaDefaults,
    ) -> Result<Option<Allowance>, SessionError> {
        key.check()?;
        self.with_tenant(key.tenant(), |tenant, now| {
            if let Some(mut before) = tenant.allowances.remove(&place(key)) {
                let held = before.state.presume();
                tenant.count(&before.user, &held, now);
            }
            let quotas = tenant.apply(defaults, key.user())?;
            if quotas.is_empty() {
                return Ok(None);
            }
            let holder = self.opened.fetch_add(1, Ordering::Relaxed).to_string();
            let opened = Opened {
                user: key.user().to_owned(),
                state: AllowanceState::new(holder.as_str(), now),
            };
            tenant.allowances.insert(place(key), opened);
            Ok(Some(Allowance::new(key.clone(), holder, defaults.clone(), &quotas)))
        })
    }

    async fn draw(
        &self,
        allowance: &Allowance,
        report: &QuotaReport,
        wanted: &[QuotaAmount],
    ) -> Result<Result<usize, QuotaShortage>, SessionError> {
        let (user, defaults) = (allowance.key.user(), &allowance.defaults);
        self.with_tenant(allowance.key.tenant(), |tenant, now| {
            let quotas = tenant.apply(defaults, user)?;
            tenant.report(allowance, report, now).ok_or_else(fenced)?;
            let fitting = first_fitting(&tenant.usage(quotas, user, now), wanted, now);
            if let (Ok(index), Some(opened)) = (&fitting, tenant.allowances.get_mut(&place(&allowance.key)))
                && let Some(amount) = wanted.get(*index)
            {
                opened.state.held.add(amount);
            }
            Ok(fitting)
        })
    }

    async fn close_allowance(&self, allowance: &Allowance, spent: &QuotaAmount) -> Result<(), SessionError> {
        self.with_tenant(allowance.key.tenant(), |tenant, now| {
            if tenant.report(allowance, &QuotaReport::new(*spent), now).is_some() {
                tenant.allowances.remove(&place(&allowance.key));
            }
        });
        Ok(())
    }

    async fn erase_quotas(&self, owner: &Actor) -> Result<(), SessionError> {
        self.with_tenant(&owner.tenant, |tenant, now| {
            let mut held = QuotaAmount::new();
            tenant.allowances.retain(|_, opened| {
                let is_kept = opened.user != *owner.user;
                if !is_kept {
                    held.add(&opened.state.held);
                }
                is_kept
            });
            tenant.count_for("", &held, now);
            tenant
                .counted
                .retain(|(subject, _), _| subject.is_empty() || **subject != *owner.user);
            tenant.quotas.retain(|(scope, _), _| scope.user() != Some(&*owner.user));
        });
        Ok(())
    }
}

#[cold]
fn fenced() -> SessionError {
    SessionError::new(
        SessionErrorKind::Fenced,
        "the allowance of the run was closed, or another process has opened it",
    )
}
