//! The stored state of quotas, and its rules: [`Counted`] and [`AllowanceState`]. For implementations of
//! [`QuotaStore`](super::QuotaStore).

use agcore_chat::Timestamp;

use super::{
    allowance::{HELD_FOR, QuotaReport},
    amount::QuotaAmount,
    window::QuotaWindow,
};

/// The amount that a tenant or a user has used in a window.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counted {
    /// The beginning of the window in which it was counted last.
    pub start: Timestamp,
    /// The amount.
    pub used: QuotaAmount,
}

impl Counted {
    /// Adds an amount. If the window is over, it counts from zero.
    pub fn add(&mut self, more: &QuotaAmount, window: QuotaWindow, now: Timestamp) {
        let start = window.start(now);
        if start > self.start {
            *self = Self {
                start,
                used: QuotaAmount::new(),
            };
        }
        self.used.add(more);
    }

    /// Takes an amount back that was added in the window of now. Amounts stop at zero.
    pub fn take_back(&mut self, less: &QuotaAmount, window: QuotaWindow, now: Timestamp) {
        if window.start(now) <= self.start {
            self.used = self.used.since(less);
        }
    }
}

/// The stored state of an allowance.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AllowanceState {
    /// The id under which it was opened.
    pub holder: String,
    /// The amount that the holder has reported.
    pub spent: QuotaAmount,
    /// The amount that calls in flight may use.
    pub held: QuotaAmount,
    /// The part of the amount used that was counted because the allowance had expired, and was not reported since.
    pub presumed: QuotaAmount,
    /// When the amount that is held counts as used.
    pub expires_at: Timestamp,
}

impl AllowanceState {
    /// Creates the state of an allowance that was just opened.
    pub fn new(holder: impl Into<String>, now: Timestamp) -> Self {
        Self {
            holder: holder.into(),
            spent: QuotaAmount::new(),
            held: QuotaAmount::new(),
            presumed: QuotaAmount::new(),
            expires_at: now.after(HELD_FOR),
        }
    }

    /// Returns whether the amount that is held counts as used from now on.
    pub fn has_expired(&self, now: Timestamp) -> bool {
        !self.held.is_zero() && self.expires_at <= now
    }

    /// Presumes that the amount that is held was used. Returns the amount, which must be counted.
    pub fn presume(&mut self) -> QuotaAmount {
        let held = std::mem::take(&mut self.held);
        self.presumed.add(&held);
        held
    }

    /// Takes a report. Returns the amount that must be counted: what was used since the last one, unless it was presumed already.
    pub fn report(&mut self, report: &QuotaReport, now: Timestamp) -> QuotaAmount {
        let more = report.spent.since(&self.spent);
        self.spent.add(&more);
        let unknown = more.since(&self.presumed);
        self.presumed = self.presumed.since(&more);
        self.held = report.in_flight;
        self.expires_at = now.after(HELD_FOR);
        unknown
    }
}
