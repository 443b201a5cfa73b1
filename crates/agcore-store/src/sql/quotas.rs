//! The part of the quotas of a tenant that an operation reads and changes.

mod rows;

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write,
    time::Duration,
};

use agcore_chat::Timestamp;
use agcore_session::{
    SessionError, SessionErrorKind,
    quota::{
        Allowance, AllowanceKey, AllowanceState, Counted, Quota, QuotaAmount, QuotaDefaults, QuotaReport,
        QuotaShortage, QuotaUsage, QuotaWindow, admit_run, first_fitting,
    },
};

pub(crate) use self::rows::{
    Dialect, Entry, HELD, Opened, amounts, applying, quotas, read_amount, read_entry, read_quota, read_used, reading,
    usage,
};

/// The time for which an allowance is kept after it has expired. Those of runs that were left are never closed.
const KEPT: Duration = Duration::from_secs(366 * 24 * 3600);

/// The quotas of a tenant that concern a user, and their usage.
///
/// Allowances are loaded only if an operation may change them: that of its run, and those that have expired.
#[derive(Debug)]
pub(crate) struct Ledger {
    user: String,
    now: Timestamp,
    /// A random text.
    random: String,
    /// Allowances are deleted that have expired before this and hold nothing, if there are any.
    oldest: Option<Timestamp>,
    own: Vec<Quota>,
    /// By the user, or the empty text for all of them, and the window.
    counted: BTreeMap<(String, QuotaWindow), Counted>,
    allowances: BTreeMap<String, Opened>,
    /// The amount that allowances hold which are not loaded.
    held: QuotaAmount,
    /// The part of it that those of the user hold.
    held_by_user: QuotaAmount,
    changed_counts: BTreeSet<(String, QuotaWindow)>,
    changed_allowances: BTreeSet<String>,
}

/// The rows that an operation changes.
#[derive(Debug, Default)]
pub(crate) struct Changes {
    /// Whose usage it is, in which windows.
    pub(crate) counted: Vec<(String, QuotaWindow, Counted)>,
    pub(crate) allowances: Vec<(String, Opened)>,
    pub(crate) closed: Vec<String>,
    /// Allowances are deleted that have expired before this and hold nothing.
    pub(crate) oldest: Option<Timestamp>,
}

/// Returns the place of the allowance of a run among those of its tenant. Ids may be too long for a key of a table.
pub(crate) fn place(key: &AllowanceKey) -> String {
    let mut place = String::new();
    for byte in super::hold_key(&key.session, &key.run) {
        // Writing to a text does not fail.
        let _ = write!(place, "{byte:02x}");
    }
    place
}

impl Ledger {
    /// Creates the part that concerns a user from the rows of [`reading`].
    pub(crate) fn new(user: &str, entries: Vec<Entry>) -> Self {
        let mut ledger = Self {
            user: user.to_owned(),
            now: Timestamp::default(),
            random: String::new(),
            oldest: None,
            own: Vec::new(),
            counted: BTreeMap::new(),
            allowances: BTreeMap::new(),
            held: QuotaAmount::new(),
            held_by_user: QuotaAmount::new(),
            changed_counts: BTreeSet::new(),
            changed_allowances: BTreeSet::new(),
        };
        for entry in entries {
            ledger.insert(entry);
        }
        ledger
    }

    fn insert(&mut self, entry: Entry) {
        match entry {
            Entry::Clock {
                now,
                random,
                first_expiry,
            } => {
                let kept = i64::try_from(KEPT.as_millis()).unwrap_or(i64::MAX);
                let oldest = Timestamp::from_millis(now.as_millis().saturating_sub(kept));
                (self.now, self.random) = (now, random);
                self.oldest = Some(oldest).filter(|oldest| first_expiry.is_some_and(|expiry| expiry < *oldest));
            }
            Entry::Quota(quota) => self.own.push(quota),
            Entry::Counted(subject, window, counted) => {
                self.counted.insert((subject, window), counted);
            }
            Entry::Held { is_of_user, amount } => {
                self.held.add(&amount);
                if is_of_user {
                    self.held_by_user.add(&amount);
                }
            }
            Entry::Allowance(place, opened) => {
                self.allowances.insert(place, opened);
            }
        }
    }

    /// Returns whether an allowance has expired, and what it holds was not counted yet.
    pub(crate) fn has_expired(&self) -> bool {
        let mut states = self.allowances.values().map(|opened| &opened.state);
        states.any(|state| state.has_expired(self.now))
    }

    /// Counts what allowances hold that have expired.
    pub(crate) fn expire(&mut self) {
        let mut presumed = Vec::new();
        for (place, opened) in &mut self.allowances {
            if opened.state.has_expired(self.now) {
                presumed.push((opened.user.clone(), opened.state.presume()));
                self.changed_allowances.insert(place.clone());
            }
        }
        for (user, amount) in presumed {
            self.count(&["", &user], &amount);
        }
    }

    /// Counts an amount in the windows of all lengths, so that a quota with any of them applies when it is set.
    fn count(&mut self, subjects: &[&str], amount: &QuotaAmount) {
        if amount.is_zero() {
            return;
        }
        for subject in subjects {
            for window in QuotaWindow::ALL {
                let key = ((*subject).to_owned(), window);
                self.changed_counts.insert(key.clone());
                self.counted.entry(key).or_default().add(amount, window, self.now);
            }
        }
    }

    /// Counts what the erased allowances of the user have held, for the tenant only.
    pub(crate) fn count_erased(&mut self, held: &QuotaAmount) {
        self.count(&[""], held);
    }

    fn usage(&self, quotas: Vec<Quota>) -> Vec<QuotaUsage> {
        let usage = |quota: Quota| {
            let subject = quota.subject(&self.user).to_owned();
            let mut held = if subject.is_empty() {
                self.held
            } else {
                self.held_by_user
            };
            for opened in self.allowances.values() {
                if subject.is_empty() || opened.user == subject {
                    held.add(&opened.state.held);
                }
            }
            let counted = self.counted.get(&(subject, quota.window)).copied().unwrap_or_default();
            QuotaUsage::new(quota, counted.used, counted.start, held, self.now)
        };
        quotas.into_iter().map(usage).collect()
    }

    /// Returns the quotas that apply to the user, with their usage.
    pub(crate) fn applied(&self, defaults: &QuotaDefaults) -> Result<Vec<QuotaUsage>, SessionError> {
        Ok(self.usage(defaults.with_own(&self.own, &self.user)?))
    }

    /// Counts a run of the user that is about to be started, if it fits.
    pub(crate) fn count_run(&mut self, defaults: &QuotaDefaults) -> Result<Result<(), QuotaShortage>, SessionError> {
        let quotas = self.applied(defaults)?;
        let admitted = admit_run(&quotas, self.now);
        if admitted.is_ok() && !quotas.is_empty() {
            let user = self.user.clone();
            self.count(&["", &user], &QuotaAmount::new().with_runs(1));
        }
        Ok(admitted)
    }

    /// Takes back a run of the user that was counted in the windows of now.
    pub(crate) fn uncount_run(&mut self) {
        let one = QuotaAmount::new().with_runs(1);
        for (key, counted) in &mut self.counted {
            if key.0.is_empty() || key.0 == self.user {
                counted.take_back(&one, key.1, self.now);
                self.changed_counts.insert(key.clone());
            }
        }
    }

    /// Opens the allowance of a run of the user, if a quota applies.
    pub(crate) fn open(
        &mut self,
        key: &AllowanceKey,
        defaults: &QuotaDefaults,
    ) -> Result<Option<Allowance>, SessionError> {
        let place = place(key);
        if let Some(mut before) = self.allowances.remove(&place) {
            self.changed_allowances.insert(place.clone());
            let held = before.state.presume();
            self.count(&["", &before.user], &held);
        }
        let quotas = defaults.with_own(&self.own, &self.user)?;
        if quotas.is_empty() {
            return Ok(None);
        }
        let opened = Opened {
            user: self.user.clone(),
            state: AllowanceState::new(&*self.random, self.now),
        };
        self.changed_allowances.insert(place.clone());
        self.allowances.insert(place, opened);
        let holder = self.random.clone();
        Ok(Some(Allowance::new(key.clone(), holder, defaults.clone(), &quotas)))
    }

    /// Takes a report, and holds the first of the wanted amounts that fits.
    pub(crate) fn draw(
        &mut self,
        allowance: &Allowance,
        report: &QuotaReport,
        wanted: &[QuotaAmount],
    ) -> Result<Result<usize, QuotaShortage>, SessionError> {
        let place = place(&allowance.key);
        self.report(&place, allowance, report).ok_or_else(fenced)?;
        let fitting = first_fitting(&self.applied(&allowance.defaults)?, wanted, self.now);
        if let (Ok(index), Some(opened)) = (&fitting, self.allowances.get_mut(&place))
            && let Some(amount) = wanted.get(*index)
        {
            opened.state.held.add(amount);
        }
        Ok(fitting)
    }

    /// Takes the last report of an allowance, and closes it.
    pub(crate) fn close(&mut self, allowance: &Allowance, spent: &QuotaAmount) {
        let place = place(&allowance.key);
        if self.report(&place, allowance, &QuotaReport::new(*spent)).is_some() {
            self.allowances.remove(&place);
        }
    }

    /// Takes a report, if the allowance is still that of its holder.
    fn report(&mut self, place: &str, allowance: &Allowance, report: &QuotaReport) -> Option<()> {
        let opened = self.allowances.get_mut(place)?;
        if opened.state.holder != allowance.holder {
            return None;
        }
        // A larger amount could not be stored, so that a part of it would count again with the next report.
        let report = QuotaReport::new(storable(&report.spent)).with_in_flight(storable(&report.in_flight));
        let more = opened.state.report(&report, self.now);
        self.changed_allowances.insert(place.to_owned());
        self.count(&["", allowance.key.user()], &more);
        Some(())
    }

    /// Returns the rows that were changed since the last time.
    pub(crate) fn take_changes(&mut self) -> Changes {
        let mut changes = Changes::default();
        for key in std::mem::take(&mut self.changed_counts) {
            if let Some(counted) = self.counted.get(&key) {
                changes.counted.push((key.0, key.1, *counted));
            }
        }
        for place in std::mem::take(&mut self.changed_allowances) {
            match self.allowances.get(&place) {
                Some(opened) => changes.allowances.push((place, opened.clone())),
                None => changes.closed.push(place),
            }
        }
        changes.oldest = self.oldest.take();
        changes
    }
}

/// Returns an amount with at most the largest number that databases have.
fn storable(amount: &QuotaAmount) -> QuotaAmount {
    let most = i64::MAX.cast_unsigned();
    QuotaAmount::new()
        .with_runs(amount.runs.min(most))
        .with_model_calls(amount.model_calls.min(most))
        .with_tokens(amount.tokens.min(most))
        .with_micros(amount.micros.min(most))
}

#[cold]
fn fenced() -> SessionError {
    SessionError::new(
        SessionErrorKind::Fenced,
        "the allowance of the run was closed, or another process has opened it",
    )
}
