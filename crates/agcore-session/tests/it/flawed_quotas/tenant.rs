//! The state of a tenant, with flaws.

use std::collections::BTreeMap;

use agcore_session::{
    SessionError, Timestamp,
    quota::{
        AllowanceKey, AllowanceState, Counted, Quota, QuotaAmount, QuotaDefaults, QuotaReport, QuotaResource,
        QuotaScope, QuotaUsage, QuotaWindow,
    },
};

use super::flaw::Flaw;

/// The quotas of a tenant, and the amounts used.
#[derive(Debug, Default)]
pub(super) struct Tenant {
    pub(super) quotas: BTreeMap<(QuotaScope, QuotaWindow), Quota>,
    /// By the user, or the empty text for all of them, and the window.
    pub(super) counted: BTreeMap<(String, QuotaWindow), Counted>,
    /// By session and run.
    pub(super) allowances: BTreeMap<(String, String), Opened>,
    /// The defaults that were used, whose windows count.
    pub(super) defaults: QuotaDefaults,
}

/// An allowance, with its user.
#[derive(Debug, Clone)]
pub(super) struct Opened {
    pub(super) user: String,
    pub(super) state: AllowanceState,
    pub(super) is_closed: bool,
    /// When it was drawn from last.
    pub(super) drawn_at: Timestamp,
}

/// Returns the place of an allowance.
pub(super) fn place(flaw: Flaw, key: &AllowanceKey) -> (String, String) {
    let (session, run) = (key.session.clone(), key.run.clone());
    match flaw {
        Flaw::SessionsAreIgnored => (String::new(), run),
        Flaw::KeysAreJoined => (String::new(), session + &run),
        Flaw::IdsAreCut => (session.chars().take(1000).collect(), run.chars().take(1000).collect()),
        _ => (session, run),
    }
}

impl Tenant {
    pub(super) fn expire(&mut self, flaw: Flaw, now: Timestamp) {
        let now = match flaw {
            Flaw::HoldsDoNotExpire => return,
            Flaw::HoldsExpireEarly => now.after(std::time::Duration::from_secs(700)),
            _ => now,
        };
        let mut presumed = Vec::new();
        for opened in self.allowances.values_mut() {
            if opened.state.has_expired(now) {
                let held = opened.state.presume();
                if flaw == Flaw::LateReportsCountTwice {
                    opened.state.presumed = QuotaAmount::new();
                }
                opened.is_closed |= flaw == Flaw::ExpiredOnesAreFenced;
                presumed.push((opened.user.clone(), held));
            }
        }
        for (user, amount) in presumed {
            match flaw {
                Flaw::ExpiredHoldsAreReturned => {}
                Flaw::ExpiredHoldsCountForTheTenant => self.count(flaw, &[""], &amount, now),
                _ => self.count(flaw, &["", &user], &amount, now),
            }
        }
    }

    pub(super) fn count(&mut self, flaw: Flaw, subjects: &[&str], amount: &QuotaAmount, now: Timestamp) {
        for subject in subjects {
            for window in QuotaWindow::ALL {
                let is_limited = |quota: &Quota| (quota.subject(subject), quota.window) == (subject, window);
                let apply = self.defaults.with_own(&[], subject).unwrap();
                if flaw == Flaw::OnlyQuotasCount && !self.quotas.values().chain(&apply).any(is_limited) {
                    continue;
                }
                let counted = self.counted.entry(((*subject).to_owned(), window)).or_default();
                match flaw {
                    Flaw::WindowsDoNotEnd => counted.used.add(amount),
                    _ => counted.add(amount, window, now),
                }
            }
        }
    }

    /// Returns the quotas that apply to a user.
    pub(super) fn apply(&self, flaw: Flaw, defaults: &QuotaDefaults, user: &str) -> Result<Vec<Quota>, SessionError> {
        let own: Vec<Quota> = self.quotas.values().cloned().collect();
        let mut all = match flaw {
            Flaw::DefaultsAreIgnored => QuotaDefaults::default().with_own(&own, user)?,
            _ => defaults.with_own(&own, user)?,
        };
        match flaw {
            Flaw::DefaultsAreAdded => all.extend(defaults.with_own(&[], user)?),
            Flaw::QuotasOfUsersAreAdded => {
                let others = own.into_iter().filter(|quota| quota.scope == QuotaScope::EachUser);
                all.extend(others);
            }
            Flaw::TenantsComeLast => all.reverse(),
            Flaw::UsersShareTheirQuota => all.iter_mut().for_each(|quota| quota.scope = QuotaScope::Tenant),
            _ => {}
        }
        Ok(all)
    }

    /// Returns the amount that is held of a quota of a subject. `of` is the allowance that asks.
    fn held(&self, flaw: Flaw, subject: &str, of: Option<&(String, String)>, window_start: Timestamp) -> QuotaAmount {
        let mut held = QuotaAmount::new();
        for (key, opened) in &self.allowances {
            let is_own = of.is_none_or(|of| of == key);
            let is_seen = match flaw {
                Flaw::OthersAreNotSeen => is_own,
                Flaw::OthersOfTheTenantAreNotSeen => is_own || !subject.is_empty(),
                Flaw::HoldsEndWithTheirWindow => opened.drawn_at >= window_start,
                _ => true,
            };
            if !is_seen || (!subject.is_empty() && opened.user != subject) {
                continue;
            }
            match flaw {
                Flaw::SumsWrap => held.tokens = held.tokens.wrapping_add(opened.state.held.tokens),
                _ => held.add(&opened.state.held),
            }
        }
        held
    }

    pub(super) fn usage(
        &self,
        flaw: Flaw,
        quotas: Vec<Quota>,
        (user, of): (&str, Option<&(String, String)>),
        now: Timestamp,
    ) -> Vec<QuotaUsage> {
        let usage = |mut quota: Quota| {
            let subject = quota.subject(user).to_owned();
            let held = self.held(flaw, &subject, of, quota.window.start(now));
            let counted = self.counted.get(&(subject, quota.window)).copied().unwrap_or_default();
            match flaw {
                Flaw::Ignores(QuotaResource::Runs) => quota.runs = None,
                Flaw::Ignores(QuotaResource::ModelCalls) => quota.model_calls = None,
                Flaw::Ignores(QuotaResource::Tokens) => quota.tokens = None,
                Flaw::Ignores(QuotaResource::Money) => quota.money = None,
                _ => {}
            }
            let start = if flaw == Flaw::WindowsDoNotEnd {
                now
            } else {
                counted.start
            };
            QuotaUsage::new(quota, counted.used, start, held, now)
        };
        quotas.into_iter().map(usage).collect()
    }

    /// Takes a report, if the allowance is still that of its holder.
    pub(super) fn report(
        &mut self,
        flaw: Flaw,
        (key, holder): (&(String, String), &str),
        report: &QuotaReport,
        now: Timestamp,
    ) -> Option<()> {
        let opened = self.allowances.get_mut(key)?;
        let is_fenced = opened.state.holder != holder || opened.is_closed;
        if is_fenced && flaw != Flaw::HoldersAreNotChecked {
            return None;
        }
        let (before, expires_at) = (opened.state.held, opened.state.expires_at);
        let mut report = *report;
        match flaw {
            Flaw::ReportsAddUp => report.spent.add(&opened.state.spent),
            Flaw::ReportsAreCut => {
                let most = opened.state.spent.tokens.saturating_add(before.tokens);
                report.spent.tokens = report.spent.tokens.min(most);
            }
            Flaw::HoldsAddUp => report.in_flight.add(&before),
            _ => {}
        }
        let more = opened.state.report(&report, now);
        opened.drawn_at = now;
        if flaw == Flaw::DrawsDoNotRenew && !before.is_zero() {
            opened.state.expires_at = expires_at;
        }
        let user = opened.user.clone();
        self.count(flaw, &["", &user], &more, now);
        Some(())
    }
}
