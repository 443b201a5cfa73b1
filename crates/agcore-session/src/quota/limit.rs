//! [`Quota`]: the most that may be used within a window.

use std::{fmt, sync::Arc};

use agcore_chat::Money;
use serde::{Deserialize, Serialize};

use super::{
    amount::{QuotaAmount, QuotaResource},
    window::QuotaWindow,
};
use crate::error::SessionError;

/// The largest number of bytes of the name of a user with a quota.
pub const MAX_QUOTA_USER_BYTES: usize = 1024;

/// The most that a tenant or a user may use within a window. A resource without a limit is unlimited.
///
/// ```
/// use agcore_chat::Money;
/// use agcore_session::quota::{Quota, QuotaScope, QuotaWindow};
///
/// let quota = Quota::new(QuotaScope::EachUser, QuotaWindow::Day)
///     .with_runs(100)
///     .with_money(Money::from_micros(2_000_000, "USD"));
/// assert!(quota.check().is_ok());
/// assert!(Quota::new(QuotaScope::Tenant, QuotaWindow::Day).check().is_err(), "it limits nothing");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Quota {
    /// Whose use counts.
    pub scope: QuotaScope,
    /// The period in which it counts.
    pub window: QuotaWindow,
    /// The largest number of runs that are started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runs: Option<u64>,
    /// The largest number of calls of models.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model_calls: Option<u64>,
    /// The largest number of input and output tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// The most that models may cost. A call is refused whose price is unknown or in another currency.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub money: Option<Money>,
}

/// Whose use counts for a quota.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum QuotaScope {
    /// All users of the tenant together.
    Tenant,
    /// Each user of the tenant alone.
    EachUser,
    /// One user. Replaces the quota of [each user](Self::EachUser) with the same window.
    User(String),
}

impl QuotaScope {
    /// Returns the name of the scope: `tenant`, `each_user` or `user`.
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Tenant => "tenant",
            Self::EachUser => "each_user",
            Self::User(_) => "user",
        }
    }

    /// Returns the user, if the scope is one user.
    pub fn user(&self) -> Option<&str> {
        match self {
            Self::User(user) => Some(user),
            _ => None,
        }
    }

    /// Returns the scope with this name. The user counts for `user` only.
    pub fn from_name(name: &str, user: &str) -> Option<Self> {
        match name {
            "tenant" => Some(Self::Tenant),
            "each_user" => Some(Self::EachUser),
            "user" => Some(Self::User(user.to_owned())),
            _ => None,
        }
    }
}

/// Writes the scope for people, such as `each user`.
impl fmt::Display for QuotaScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tenant => f.write_str("the tenant"),
            Self::EachUser => f.write_str("each user"),
            Self::User(user) => write!(f, "the user `{user}`"),
        }
    }
}

impl Quota {
    /// Creates a quota without limits.
    pub const fn new(scope: QuotaScope, window: QuotaWindow) -> Self {
        Self {
            scope,
            window,
            runs: None,
            model_calls: None,
            tokens: None,
            money: None,
        }
    }

    /// Limits the runs that are started.
    #[must_use]
    pub fn with_runs(mut self, runs: u64) -> Self {
        self.runs = Some(runs);
        self
    }

    /// Limits the calls of models.
    #[must_use]
    pub fn with_model_calls(mut self, calls: u64) -> Self {
        self.model_calls = Some(calls);
        self
    }

    /// Limits input and output tokens.
    #[must_use]
    pub fn with_tokens(mut self, tokens: u64) -> Self {
        self.tokens = Some(tokens);
        self
    }

    /// Limits what models cost.
    #[must_use]
    pub fn with_money(mut self, money: Money) -> Self {
        self.money = Some(money);
        self
    }

    /// Returns the limit of a resource; that of money in millionths.
    pub fn limit(&self, resource: QuotaResource) -> Option<u64> {
        match resource {
            QuotaResource::Runs => self.runs,
            QuotaResource::ModelCalls => self.model_calls,
            QuotaResource::Tokens => self.tokens,
            QuotaResource::Money => self
                .money
                .as_ref()
                .map(|money| u64::try_from(money.micros).unwrap_or(0)),
        }
    }

    /// Returns the currency, if money is limited.
    pub fn currency(&self) -> Option<&Arc<str>> {
        self.money.as_ref().map(|money| &money.currency)
    }

    /// Returns whose usage counts, if this quota applies to a user: the empty text for the whole tenant.
    pub fn subject<'u>(&self, user: &'u str) -> &'u str {
        match self.scope {
            QuotaScope::Tenant => "",
            QuotaScope::EachUser | QuotaScope::User(_) => user,
        }
    }

    /// Returns the first resource whose limit would be exceeded by adding `more` to `used`.
    pub(crate) fn exceeded(&self, used: &QuotaAmount, more: &QuotaAmount) -> Option<QuotaResource> {
        QuotaResource::ALL.into_iter().find(|&resource| {
            let (used, more) = (used.of(resource), more.of(resource));
            let limit = self.limit(resource).filter(|_| more > 0);
            limit.is_some_and(|limit| used.checked_add(more).is_none_or(|sum| sum > limit))
        })
    }

    /// Checks that the quota is acceptable.
    ///
    /// # Errors
    /// [`InvalidInput`](crate::SessionErrorKind::InvalidInput) if it limits nothing, money is negative or without a currency, or
    /// the user has no name or too long a name.
    pub fn check(&self) -> Result<(), SessionError> {
        if QuotaResource::ALL
            .into_iter()
            .all(|resource| self.limit(resource).is_none())
        {
            return Err(SessionError::invalid(
                "the quota limits nothing; set runs, model calls, tokens or money",
            ));
        }
        if let Some(money) = &self.money
            && (money.micros < 0 || !is_currency(&money.currency))
        {
            return Err(SessionError::invalid(
                "the money of a quota must not be negative, and its currency must be a code such as USD",
            ));
        }
        let user = self.scope.user().unwrap_or("user");
        if user.is_empty() || user.len() > MAX_QUOTA_USER_BYTES || user.contains('\0') {
            return Err(SessionError::invalid(format!(
                "the user of a quota must have 1 to {MAX_QUOTA_USER_BYTES} bytes and no null characters"
            )));
        }
        // Databases count with signed numbers.
        let is_large = |resource| {
            self.limit(resource)
                .is_some_and(|limit| limit > i64::MAX.cast_unsigned())
        };
        match QuotaResource::ALL.into_iter().find(|&resource| is_large(resource)) {
            Some(resource) => Err(SessionError::invalid(format!("the limit of {resource} is too large"))),
            None => Ok(()),
        }
    }
}

fn is_currency(code: &str) -> bool {
    (1..=8).contains(&code.len()) && !code.contains('\0')
}
