//! [`Flawed`]: a store of quotas with a flaw.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use agcore_session::{
    Actor, Clock, SessionError, SessionErrorKind, Timestamp, id,
    quota::{
        Allowance, AllowanceKey, AllowanceState, Quota, QuotaAmount, QuotaDefaults, QuotaReport, QuotaResource,
        QuotaScope, QuotaShortage, QuotaStore, QuotaUsage, QuotaWindow, admit_run, first_fitting,
    },
};
use async_trait::async_trait;

use super::{
    flaw::Flaw,
    tenant::{Opened, Tenant, place},
};

/// A store that keeps the contract except for its flaw.
#[derive(Debug)]
pub(super) struct Flawed {
    flaw: Flaw,
    clock: Arc<dyn Clock>,
    opened: AtomicU64,
    /// The calls in progress.
    calls: AtomicU64,
    tenants: Mutex<BTreeMap<String, Tenant>>,
}

impl Flawed {
    pub(super) fn new(flaw: Flaw, clock: Arc<dyn Clock>) -> Self {
        Self {
            flaw,
            clock,
            opened: AtomicU64::new(0),
            calls: AtomicU64::new(0),
            tenants: Mutex::default(),
        }
    }

    fn has(&self, flaw: Flaw) -> bool {
        self.flaw == flaw
    }

    fn tenants(&self) -> MutexGuard<'_, BTreeMap<String, Tenant>> {
        self.tenants.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn with<T>(&self, tenant: &str, change: impl FnOnce(&mut Tenant, Timestamp) -> T) -> T {
        let mut tenants = self.tenants();
        let now = self.clock.now().into();
        let name = if self.has(Flaw::TenantsAreMixed) { "" } else { tenant };
        let tenant = tenants.entry(name.to_owned()).or_default();
        tenant.expire(self.flaw, now);
        change(tenant, now)
    }

    fn user(&self, owner: &Actor) -> String {
        match &owner.line {
            Some(line) if self.has(Flaw::LinesAreUsers) => format!("{}/{line}", owner.user),
            _ => owner.user.to_string(),
        }
    }

    fn usage(
        &self,
        owner: &Actor,
        defaults: &QuotaDefaults,
        of: Option<&(String, String)>,
    ) -> Result<(Vec<QuotaUsage>, Timestamp), SessionError> {
        let user = self.user(owner);
        self.with(&owner.tenant, |tenant, now| {
            let quotas = tenant.apply(self.flaw, defaults, &user)?;
            Ok((tenant.usage(self.flaw, quotas, (&user, of), now), now))
        })
    }

    fn fenced() -> SessionError {
        SessionError::new(SessionErrorKind::Fenced, "another process has it")
    }

    /// Decides on a draw.
    fn choose(&self, usage: &[QuotaUsage], wanted: &[QuotaAmount], now: Timestamp) -> Result<usize, QuotaShortage> {
        let is_used_up = |usage: &QuotaUsage| usage.quota.tokens.is_some_and(|limit| usage.used.tokens >= limit);
        match self.flaw {
            Flaw::TheLastFits => {
                let fits = |index: &usize| first_fitting(usage, &wanted[*index..=*index], now).is_ok();
                let last = (0..wanted.len()).rev().find(fits);
                last.map_or_else(|| first_fitting(usage, wanted, now), Ok)
            }
            Flaw::TheFirstIsReported => {
                first_fitting(usage, wanted, now).or_else(|_| first_fitting(usage, &wanted[..1], now))
            }
            Flaw::UsedUpQuotasRefuseAll if usage.iter().any(is_used_up) => {
                first_fitting(usage, &[QuotaAmount::new().with_tokens(u64::MAX)], now)
            }
            _ => first_fitting(usage, wanted, now),
        }
    }

    /// Lets other calls take place in between, if that is the flaw.
    async fn race(&self, flaw: Flaw) {
        if self.has(flaw) {
            tokio::task::yield_now().await;
        }
    }

    /// Removes an allowance that is opened again, or that of an erased user.
    fn replace(&self, tenant: &mut Tenant, key: &AllowanceKey, now: Timestamp) -> QuotaAmount {
        let Some(mut before) = tenant.allowances.remove(&place(self.flaw, key)) else {
            return QuotaAmount::new();
        };
        let presumed = before.state.presumed;
        let held = before.state.presume();
        if !self.has(Flaw::ReopeningReturnsHolds) {
            tenant.count(self.flaw, &["", &before.user], &held, now);
        }
        let mut inherited = presumed;
        inherited.add(&held);
        inherited
    }
}

#[async_trait]
impl QuotaStore for Flawed {
    async fn set_quota(&self, tenant: &str, quota: &Quota) -> Result<(), SessionError> {
        if !self.has(Flaw::BadTenantsAreAccepted) {
            id::check_named("the tenant", tenant)?;
        }
        if let (Err(error), false) = (quota.check(), self.has(Flaw::BadQuotasAreAccepted)) {
            return Err(error);
        }
        let mut quota = quota.clone();
        if self.has(Flaw::LimitsOfRunsAreLost) {
            quota.runs = None;
        }
        if self.has(Flaw::LargeLimitsAreCut) {
            quota.tokens = quota.tokens.map(|tokens| tokens.min(1 << 53));
        }
        if let (QuotaScope::User(user), Flaw::UsersAreTrimmed) = (&mut quota.scope, self.flaw) {
            *user = user.trim().to_owned();
        }
        self.with(tenant, |tenant, _| {
            let key = (quota.scope.clone(), quota.window);
            let currency = quota.currency();
            let is_other = |(other, found): (&_, &Quota)| {
                *other != key && found.currency().is_some() && currency.is_some() && found.currency() != currency
            };
            if tenant.quotas.iter().any(is_other) && !self.has(Flaw::CurrenciesAreMixed) {
                return Err(SessionError::invalid("another currency"));
            }
            if let (Some(before), Flaw::QuotasAreMerged) = (tenant.quotas.get(&key), self.flaw) {
                quota.runs = quota.runs.or(before.runs);
            }
            if self.has(Flaw::SettingResetsUsage) {
                tenant.counted.clear();
            }
            tenant.quotas.insert(key, quota.clone());
            Ok(())
        })
    }

    async fn quotas(&self, tenant: &str) -> Result<Vec<Quota>, SessionError> {
        let mut quotas: Vec<Quota> = self.with(tenant, |tenant, _| tenant.quotas.values().cloned().collect());
        match self.flaw {
            Flaw::ScopesAreSortedByName => quotas.sort_by_key(|quota| quota.scope.as_str()),
            Flaw::WindowsAreSortedByName => {
                quotas.sort_by_key(|quota| (quota.scope.clone(), quota.window.as_str()));
            }
            _ => {}
        }
        Ok(quotas)
    }

    async fn delete_quota(&self, tenant: &str, scope: &QuotaScope, window: QuotaWindow) -> Result<bool, SessionError> {
        let key = (scope.clone(), window);
        Ok(self.with(tenant, |tenant, _| match self.flaw {
            Flaw::DeletingDoesNothing => tenant.quotas.contains_key(&key),
            Flaw::DeletingTakesAllWindows => {
                let found = tenant.quotas.contains_key(&key);
                tenant.quotas.retain(|(other, _), _| other != scope);
                found
            }
            _ => tenant.quotas.remove(&key).is_some(),
        }))
    }

    async fn quota_usage(&self, owner: &Actor, defaults: &QuotaDefaults) -> Result<Vec<QuotaUsage>, SessionError> {
        Ok(self.usage(owner, defaults, None)?.0)
    }

    async fn count_run(
        &self,
        owner: &Actor,
        defaults: &QuotaDefaults,
    ) -> Result<Result<(), QuotaShortage>, SessionError> {
        if !self.has(Flaw::BadOwnersAreAccepted) {
            owner.check()?;
        }
        let (mut usage, now) = self.usage(owner, defaults, None)?;
        if usage.is_empty() && !self.has(Flaw::RunsAreAlwaysCounted) {
            return Ok(Ok(()));
        }
        for usage in &mut usage {
            match self.flaw {
                Flaw::HeldAmountsUseUpQuotas => usage.used.add(&usage.held),
                Flaw::UsedUpQuotasAdmitRuns => {
                    usage.used = QuotaAmount::new().with_runs(usage.used.of(QuotaResource::Runs));
                }
                _ => {}
            }
        }
        self.race(Flaw::CountingRaces).await;
        let admitted = admit_run(&usage, now);
        if admitted.is_ok() || self.has(Flaw::RefusedRunsAreCounted) {
            let one = QuotaAmount::new().with_runs(1);
            let user = self.user(owner);
            self.with(&owner.tenant, |tenant, now| {
                tenant.count(self.flaw, &["", &user], &one, now);
            });
        }
        Ok(admitted)
    }

    async fn uncount_run(&self, owner: &Actor) -> Result<(), SessionError> {
        let user = self.user(owner);
        let mut one = QuotaAmount::new().with_runs(1);
        if self.has(Flaw::MoreIsTakenBack) {
            one.tokens = u64::MAX;
        }
        self.with(&owner.tenant, |tenant, now| {
            for ((subject, window), counted) in &mut tenant.counted {
                let is_taken = match self.flaw {
                    Flaw::RunsAreNotTakenBack => false,
                    Flaw::RunsAreNotTakenFromTenants => *subject == user,
                    Flaw::RunsAreNotTakenFromUsers => subject.is_empty(),
                    _ => subject.is_empty() || *subject == user,
                };
                if is_taken {
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
        match self.flaw {
            Flaw::BadKeysAreAccepted => key.owner.check()?,
            Flaw::BadOwnersAreAccepted => {}
            _ => key.check()?,
        }
        let user = self.user(&key.owner);
        self.with(key.tenant(), |tenant, now| {
            let inherited = self.replace(tenant, key, now);
            let mut quotas = tenant.apply(self.flaw, defaults, &user)?;
            if quotas.is_empty() && !self.has(Flaw::AllowancesAreAlwaysOpened) {
                return Ok(None);
            }
            let number = self.opened.fetch_add(1, Ordering::Relaxed);
            let holder = if self.has(Flaw::HoldersAreReused) { 0 } else { number }.to_string();
            let mut state = AllowanceState::new(holder.as_str(), now);
            if self.has(Flaw::ReopeningKeepsPresumptions) {
                state.presumed = inherited;
            }
            let opened = Opened {
                user: user.clone(),
                state,
                is_closed: false,
                drawn_at: now,
            };
            tenant.defaults = defaults.clone();
            tenant.allowances.insert(place(self.flaw, key), opened);
            if self.has(Flaw::CurrenciesAreForgotten) {
                quotas.iter_mut().for_each(|quota| quota.money = None);
            }
            let kept = if self.has(Flaw::DefaultsAreNotKept) {
                QuotaDefaults::default()
            } else {
                defaults.clone()
            };
            Ok(Some(Allowance::new(key.clone(), holder, kept, &quotas)))
        })
    }

    async fn draw(
        &self,
        allowance: &Allowance,
        report: &QuotaReport,
        wanted: &[QuotaAmount],
    ) -> Result<Result<usize, QuotaShortage>, SessionError> {
        if self.has(Flaw::BusyStoresFail) {
            let is_busy = self.calls.fetch_add(1, Ordering::Relaxed) > 0;
            tokio::task::yield_now().await;
            self.calls.fetch_sub(1, Ordering::Relaxed);
            if is_busy {
                return Err(SessionError::new(
                    SessionErrorKind::Unavailable,
                    "the database is locked",
                ));
            }
        }
        let place = place(self.flaw, &allowance.key);
        let (owner, defaults) = (&allowance.key.owner, &allowance.defaults);
        let before = self.with(&owner.tenant, |tenant, now| {
            if !self.has(Flaw::DrawsAreTorn) {
                tenant.apply(self.flaw, defaults, &owner.user)?;
            }
            let before = tenant.allowances.get(&place).cloned();
            let counted = tenant.counted.clone();
            let reported = tenant.report(self.flaw, (&place, &allowance.holder), report, now);
            reported.ok_or_else(Self::fenced)?;
            Ok::<_, SessionError>((before, counted))
        })?;
        let (usage, now) = self.usage(owner, defaults, Some(&place))?;
        self.race(Flaw::DrawingRaces).await;
        let fitting = self.choose(&usage, wanted, now);
        self.with(&owner.tenant, |tenant, _| {
            let opened = tenant.allowances.get_mut(&place).ok_or_else(Self::fenced)?;
            match (&fitting, self.flaw) {
                (Ok(index), _) => opened.state.held.add(wanted.get(*index).unwrap_or(&QuotaAmount::new())),
                (Err(_), Flaw::RefusedDrawsHoldNothing) => opened.state.held = QuotaAmount::new(),
                (Err(_), Flaw::RefusedDrawsReportNothing) => {
                    if let (Some(before), counted) = before {
                        *opened = before;
                        tenant.counted = counted;
                    }
                }
                (Err(_), Flaw::RefusedDrawsDoNotRenew) => {
                    if let Some(before) = before.0 {
                        opened.state.expires_at = before.state.expires_at;
                    }
                }
                _ => {}
            }
            Ok(fitting)
        })
    }

    async fn close_allowance(&self, allowance: &Allowance, spent: &QuotaAmount) -> Result<(), SessionError> {
        let place = place(self.flaw, &allowance.key);
        self.with(allowance.key.tenant(), |tenant, now| {
            let mut report = QuotaReport::new(*spent);
            let held = tenant.allowances.get(&place).map(|opened| opened.state.held);
            let holder = match (self.flaw, tenant.allowances.get(&place)) {
                (Flaw::ClosingIsNotFenced, Some(opened)) => opened.state.holder.clone(),
                _ => allowance.holder.clone(),
            };
            match self.flaw {
                Flaw::ClosingKeepsHolds => report.in_flight = held.unwrap_or_default(),
                Flaw::ClosingReportsNothing => report.spent = QuotaAmount::new(),
                _ => {}
            }
            if tenant.report(self.flaw, (&place, &holder), &report, now).is_some()
                && !matches!(self.flaw, Flaw::ClosingKeepsHolds | Flaw::ClosedOnesAreDrawnFrom)
            {
                tenant.allowances.remove(&place);
            }
        });
        Ok(())
    }

    async fn erase_quotas(&self, owner: &Actor) -> Result<(), SessionError> {
        let user = self.user(owner);
        self.with(&owner.tenant, |tenant, now| {
            let mut held = QuotaAmount::new();
            tenant.allowances.retain(|_, opened| {
                let is_kept = opened.user != user || self.has(Flaw::AllowancesSurvive);
                if !is_kept {
                    held.add(&opened.state.held);
                }
                is_kept
            });
            match self.flaw {
                Flaw::ErasedHoldsAreReturned => {}
                Flaw::ErasedHoldsCountTwice => tenant.count(self.flaw, &["", ""], &held, now),
                _ => tenant.count(self.flaw, &[""], &held, now),
            }
            match self.flaw {
                Flaw::UsageSurvives => {}
                Flaw::TenantsAreErased => tenant.counted.clear(),
                _ => tenant.counted.retain(|(subject, _), _| *subject != user),
            }
            if !self.has(Flaw::QuotasSurvive) {
                tenant.quotas.retain(|(scope, _), _| scope.user() != Some(&user));
            }
        });
        Ok(())
    }
}
