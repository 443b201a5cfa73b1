//! [`Budget`]: the most of everything, and [`BudgetLimit`], which of it was reached.

use std::{fmt, time::Duration};

use agcore_chat::Money;
use serde::{Deserialize, Serialize};

use super::spent::Spent;

/// The most that may be spent. What is not set is not limited.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct Budget {
    /// Tokens, in and out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// Money. With it, a call whose price is not known, is below zero or is in another currency is refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub money: Option<Money>,
    /// Time of running, that of waiting for a person not counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<Duration>,
    /// Calls of a model that returned any part of an answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model_calls: Option<u64>,
    /// Calls of tools.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_calls: Option<u64>,
}

impl Budget {
    /// No limit.
    pub fn new() -> Self {
        Self::default()
    }

    /// Limits the tokens, in and out.
    pub fn with_tokens(mut self, tokens: u64) -> Self {
        self.tokens = Some(tokens);
        self
    }

    /// Limits the money.
    pub fn with_money(mut self, money: Money) -> Self {
        self.money = Some(money);
        self
    }

    /// Limits the time of running.
    pub fn with_time(mut self, time: Duration) -> Self {
        self.time = Some(time);
        self
    }

    /// Limits the calls of a model.
    pub fn with_model_calls(mut self, calls: u64) -> Self {
        self.model_calls = Some(calls);
        self
    }

    /// Limits the calls of tools.
    pub fn with_tool_calls(mut self, calls: u64) -> Self {
        self.tool_calls = Some(calls);
        self
    }

    /// Whether anything is limited.
    pub fn is_limited(&self) -> bool {
        *self != Self::default()
    }

    /// Whether so much more fits beside what is used already. Time cannot be reserved: what is asked is whether any is left.
    ///
    /// # Errors
    /// The first resource of which there is too little.
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

    /// The same, if a margin fits, too, that a last reply may need which wraps up.
    pub(crate) fn admits_with(&self, used: &Spent, more: &Spent, margin: Option<&Spent>) -> Result<(), Resource> {
        let Some(margin) = margin else {
            return self.admits(used, more);
        };
        let mut all = more.clone();
        all.add(margin);
        self.before_wrap_up().admits(used, &all)
    }

    /// How much time is left.
    pub fn time_left(&self, used: &Spent) -> Option<Duration> {
        self.time.map(|limit| limit.saturating_sub(used.time()))
    }

    /// The budget without the time that is held back for a last reply that wraps up: a tenth.
    pub(crate) fn before_wrap_up(&self) -> Self {
        Self {
            time: self.time.map(|time| time - time / 10),
            ..self.clone()
        }
    }
}

/// What can be limited.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Resource {
    /// Tokens, in and out.
    Tokens,
    /// Money.
    Money,
    /// Time of running.
    Time,
    /// Calls of a model.
    ModelCalls,
    /// Calls of tools.
    ToolCalls,
}

impl Resource {
    /// Its name.
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

/// Prints the name.
impl fmt::Display for Resource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl std::error::Error for Resource {}

/// Whose budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Scope {
    /// Each turn's own.
    Turn,
    /// All turns of the conversation.
    Cycle,
    /// Shared with others.
    Pool,
}

/// Which budget has too little of what.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct BudgetLimit {
    /// Whose budget.
    pub scope: Scope,
    /// What there is too little of.
    pub resource: Resource,
}

impl BudgetLimit {
    /// Too little of this in that budget.
    pub const fn new(scope: Scope, resource: Resource) -> Self {
        Self { scope, resource }
    }

    /// Its name, as events tell it: `turn.tokens`.
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
        names!(Turn "turn", Cycle "cycle", Pool "pool")
    }
}

/// Prints the name.
impl fmt::Display for BudgetLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn admits_up_to_the_limit_and_not_one_more() {
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
    fn a_limit_below_zero_admits_only_what_is_free() {
        let budget = Budget::new().with_money(Money::from_micros(-5, "USD"));
        let cost = |micros| Spent::new().with_money(&Money::from_micros(micros, "USD"));
        assert_eq!(budget.admits(&Spent::new(), &cost(0)), Ok(()));
        assert_eq!(budget.admits(&Spent::new(), &cost(1)), Err(Resource::Money));
    }
}
