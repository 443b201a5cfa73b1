//! [`QuotaShortage`]: a quota that has too little left.

use std::{fmt, sync::Arc, time::Duration};

use agcore_chat::{Money, Timestamp};

use super::{amount::QuotaResource, limit::QuotaScope, window::QuotaWindow};

/// A quota that has too little left.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct QuotaShortage {
    /// Whose quota it is.
    pub scope: QuotaScope,
    /// The window of the quota.
    pub window: QuotaWindow,
    /// The resource that is insufficient.
    pub resource: QuotaResource,
    /// The limit; money in millionths.
    pub limit: u64,
    /// The amount that is used.
    pub used: u64,
    /// The amount that calls in flight may use.
    pub held: u64,
    /// The amount that was wanted; 0 if the quota is used up.
    pub wanted: u64,
    /// The currency, if the resource is money.
    pub currency: Option<Arc<str>>,
    /// The end of the window.
    pub resets_at: Timestamp,
    /// The time until then.
    pub resets_in: Duration,
}

impl QuotaShortage {
    /// Returns whether the amount would fit if calls in flight used nothing, so that it may fit when they have ended.
    pub fn is_temporary(&self) -> bool {
        self.wanted > 0 && self.used.saturating_add(self.wanted) <= self.limit
    }

    fn amount(&self, amount: u64) -> String {
        match self.resource {
            QuotaResource::Runs => format!("{amount} runs"),
            QuotaResource::ModelCalls => format!("{amount} model calls"),
            QuotaResource::Tokens => format!("{amount} tokens"),
            QuotaResource::Money => {
                let micros = i64::try_from(amount).unwrap_or(i64::MAX);
                Money::from_micros(micros, self.currency.clone().unwrap_or_default()).to_string()
            }
        }
    }
}

/// Writes the shortage for the user: it names no other user.
impl fmt::Display for QuotaShortage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let whose = match self.scope {
            QuotaScope::Tenant => "your tenant",
            QuotaScope::EachUser | QuotaScope::User(_) => "your account",
        };
        let (limit, window) = (self.amount(self.limit), self.window);
        write!(
            f,
            "{whose} may use {limit} in a {window}; {} are used",
            self.amount(self.used)
        )?;
        if self.held > 0 {
            write!(f, ", calls in flight may use {}", self.amount(self.held))?;
        }
        match self.resource {
            _ if self.wanted == 0 => {}
            QuotaResource::Tokens | QuotaResource::Money => {
                write!(f, ", and the next call may need {}", self.amount(self.wanted))?;
            }
            QuotaResource::Runs | QuotaResource::ModelCalls => {
                write!(f, ", and the next step needs {}", self.amount(self.wanted))?;
            }
        }
        write!(f, "; the {window} ends at {}", self.resets_at.to_text_in_seconds())
    }
}

impl std::error::Error for QuotaShortage {}
