//! [`Budget`]: the limits of spending, and [`BudgetLimit`]: the one that was reached.

use std::{fmt, time::Duration};

use agcore_chat::Money;
use serde::{Deserialize, Serialize};

use super::spent::Spent;

/// The most that may be spent. A resource without a limit is unlimited.
///
/// ```
/// use std::time::Duration;
///
/// use agcore_cycle::{Budget, Spent, budget::Resource};
///
/// let budget = Budget::new().with_tokens(1_000).with_time(Duration::from_secs(60));
/// let used = Spent::new().with_tokens(900);
/// assert_eq!(budget.admits(&used, &Spent::new().with_tokens(100)), Ok(()));
/// assert_eq!(budget.admits(&used, &Spent::new().with_tokens(101)), Err(Resource::Tokens));
/// assert_eq!(budget.time_left(&used), Some(Duration::from_secs(60)));
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct Budget {
    /// Input and output tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// Money. If it is limited, a call is refused whose price is unknown, negative or in another currency.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub money: Option<Money>,
    /// Running time, excluding time spent waiting for a person. Waiting for a rate limit or before another attempt counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<Duration>,
    /// Model calls that returned at least a part of an answer, or were given up after they had been sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model_calls: Option<u64>,
    /// Tool calls.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_calls: Option<u64>,
}

impl Budget {
    /// Creates a budget without limits.
    pub fn new() -> Self {
        Self::default()
    }

    /// Limits input and output tokens.
    #[must_use]
    pub fn with_tokens(mut self, tokens: u64) -> Self {
        self.tokens = Some(tokens);
        self
    }

    /// Limits the money.
    #[must_use]
    pub fn with_money(mut self, money: Money) -> Self {
        self.money = Some(money);
        self
    }

    /// Limits the running time.
    #[must_use]
    pub fn with_time(mut self, time: Duration) -> Self {
        self.time = Some(time);
        self
    }

    /// Limits the model calls.
    #[must_use]
    pub fn with_model_calls(mut self, calls: u64) -> Self {
        self.model_calls = Some(calls);
        self
    }

    /// Limits the tool calls.
    #[must_use]
    pub fn with_tool_calls(mut self, calls: u64) -> Self {
        self.tool_calls = Some(calls);
        self
    }

    /// Returns whether anything is limited.
    pub fn is_limited(&self) -> bool {
        *self != Self::default()
    }

    /// Checks that `more` still fits when `used` is spent. Time cannot be reserved: the check is whether any is left.
    ///
    /// # Errors
    /// The first [`Resource`] that is insufficient.
    pub fn admits(&self, used: &Spent, more: &Spent) -> Result<(), Resource> {
        let fits = |limit: Option<u64>, used: u64, more: u64| {
            more == 0 || limit.is_none_or(|limit| used.checked_add(more).is_some_and(|sum| sum <= limit))
        };
        let money = self.money.as_ref().is_none_or(|limit| {
            let (used, more) = (used.micros(&limit.currency), more.micros(&limit.currency));
            fits(Some(u64::try_from(limit.micros).unwrap_or(0)), used, more)
        });
        for (fits, resource) in [
            (fits(self.tokens, used.tokens, more.tokens), Resource::Tokens),
            (money, Resource::Money),
            (self.time.is_none_or(|limit| used.time() < limit), Resource::Time),
            (
                fits(self.model_calls, used.model_calls, more.model_calls),
                Resource::ModelCalls,
            ),
            (
                fits(self.tool_calls, used.tool_calls, more.tool_calls),
                Resource::ToolCalls,
            ),
        ] {
            if !fits {
                return Err(resource);
            }
        }
        Ok(())
    }

    /// Like [`admits`](Self::admits), with a margin for a last reply that wraps up.
    pub(crate) fn admits_with(&self, used: &Spent, more: &Spent, margin: Option<&Spent>) -> Result<(), Resource> {
        let Some(margin) = margin else {
            return self.admits(used, more);
        };
        let mut total = more.clone();
        total.add(margin);
        self.before_wrap_up().admits(used, &total)
    }

    /// Returns how much time is left, or `None` if time is not limited.
    pub fn time_left(&self, used: &Spent) -> Option<Duration> {
        self.time.map(|limit| limit.saturating_sub(used.time()))
    }

    /// Returns the limit of the time, without the tenth that is held back for wrapping up.
    pub(crate) fn time_limit(&self, held_back: bool) -> Option<Duration> {
        self.time.map(|time| if held_back { time - time / 10 } else { time })
    }

    /// Returns whether the length of replies matters: whether tokens or money are limited.
    pub(crate) fn limits_replies(&self) -> bool {
        self.tokens.is_some() || self.money.is_some()
    }

    /// Returns how much of a resource is left, in its own unit; the time in microseconds.
    pub(crate) fn left(&self, resource: Resource, used: &Spent) -> u64 {
        let limit = match resource {
            Resource::Tokens => self.tokens,
            Resource::Money => self
                .money
                .as_ref()
                .map(|money| u64::try_from(money.micros).unwrap_or(0)),
            Resource::Time => self.time.map(|time| Spent::new().with_time(time).time_us),
            Resource::ModelCalls => self.model_calls,
            Resource::ToolCalls => self.tool_calls,
        };
        limit.unwrap_or(u64::MAX).saturating_sub(self.amount(resource, used))
    }

    /// Returns the amount of a resource in its own unit; money in the currency of this budget.
    pub(crate) fn amount(&self, resource: Resource, spent: &Spent) -> u64 {
        match resource {
            Resource::Tokens => spent.tokens,
            Resource::Money => self.money.as_ref().map_or(0, |money| spent.micros(&money.currency)),
            Resource::Time => spent.time_us,
            Resource::ModelCalls => spent.model_calls,
            Resource::ToolCalls => spent.tool_calls,
        }
    }

    /// Returns the budget without the tenth of the time that is held back for a last reply that wraps up.
    pub(crate) fn before_wrap_up(&self) -> Self {
        Self {
            time: self.time_limit(true),
            ..self.clone()
        }
    }
}

/// A resource that a budget can limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Resource {
    /// Input and output tokens.
    Tokens,
    /// Money.
    Money,
    /// Running time.
    Time,
    /// Model calls.
    ModelCalls,
    /// Tool calls.
    ToolCalls,
}

impl Resource {
    /// Returns the name of the resource, such as `model_calls`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Tokens => "tokens",
            Self::Money => "money",
            Self::Time => "time",
            Self::ModelCalls => "model_calls",
            Self::ToolCalls => "tool_calls",
        }
    }
}

/// Writes the name.
impl fmt::Display for Resource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl std::error::Error for Resource {}

/// The scope of a budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Scope {
    /// One turn.
    Turn,
    /// All turns of the conversation.
    Cycle,
    /// All users of a shared pool.
    Pool,
    /// All users of a budget that is kept elsewhere.
    Shared,
}

/// A limit of a budget: the scope of the budget, and the resource that it limits.
///
/// ```
/// use agcore_cycle::budget::{BudgetLimit, Resource, Scope};
///
/// let limit = BudgetLimit::new(Scope::Turn, Resource::Tokens);
/// assert_eq!(limit.to_string(), "turn.tokens");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct BudgetLimit {
    /// The scope of the budget.
    pub scope: Scope,
    /// The resource that is limited.
    pub resource: Resource,
}

impl BudgetLimit {
    /// Creates the limit of a resource in a scope.
    pub const fn new(scope: Scope, resource: Resource) -> Self {
        Self { scope, resource }
    }

    /// Returns the name of the limit as it appears in events, such as `turn.tokens`.
    pub const fn as_str(self) -> &'static str {
        macro_rules! names {
            ($($scope:ident $prefix:literal),+) => {
                match (self.scope, self.resource) {$(
                    (Scope::$scope, Resource::Tokens) => concat!($prefix, ".tokens"),
                    (Scope::$scope, Resource::Money) => concat!($prefix, ".money"),
                    (Scope::$scope, Resource::Time) => concat!($prefix, ".time"),
                    (Scope::$scope, Resource::ModelCalls) => concat!($prefix, ".model_calls"),
                    (Scope::$scope, Resource::ToolCalls) => concat!($prefix, ".tool_calls"),
                )+}
            };
        }
        // Applications call the conversation a session.
        names!(Turn "turn", Cycle "session", Pool "pool", Shared "shared")
    }
}

/// Writes the name.
impl fmt::Display for BudgetLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn admits_exactly_up_to_the_limit() {
        let budget = Budget::new()
            .with_tokens(100)
            .with_money(Money::from_micros(50, "USD"))
            .with_time(Duration::from_secs(1))
            .with_model_calls(2)
            .with_tool_calls(0);
        let used = Spent::new().with_tokens(60).with_model_calls(1);
        let check = |more: Spent, expected: Result<(), Resource>| assert_eq!(budget.admits(&used, &more), expected);
        check(Spent::new().with_tokens(40).with_model_calls(1), Ok(()));
        check(Spent::new().with_tokens(41), Err(Resource::Tokens));
        check(Spent::new().with_tokens(u64::MAX), Err(Resource::Tokens));
        check(Spent::new().with_money(&Money::from_micros(50, "USD")), Ok(()));
        check(
            Spent::new().with_money(&Money::from_micros(51, "USD")),
            Err(Resource::Money),
        );
        check(Spent::new().with_model_calls(2), Err(Resource::ModelCalls));
        check(Spent::new().with_tool_calls(1), Err(Resource::ToolCalls));
        let late = used.with_time(Duration::from_secs(1));
        assert_eq!(budget.admits(&late, &Spent::new()), Err(Resource::Time));
        assert_eq!(Budget::new().admits(&late, &Spent::new().with_tokens(u64::MAX)), Ok(()));
    }

    #[test]
    fn a_negative_limit_admits_only_free_calls() {
        let budget = Budget::new().with_money(Money::from_micros(-5, "USD"));
        let cost = |micros| Spent::new().with_money(&Money::from_micros(micros, "USD"));
        assert_eq!(budget.admits(&Spent::new(), &cost(0)), Ok(()));
        assert_eq!(budget.admits(&Spent::new(), &cost(1)), Err(Resource::Money));
    }
}
