//! [`BudgetShortage`]: the amount that a step needs, and the amount that is left.

use std::{fmt, sync::Arc, time::Duration};

use agcore_chat::Money;

use super::{
    limit::{Budget, BudgetLimit, Resource},
    spent::Spent,
};

/// An error about a budget that has too little left for the next step. It is the source of a
/// [`CycleError`](crate::CycleError).
///
/// ```
/// use std::{error::Error, sync::Arc};
///
/// use agcore_chat::ChatResponse;
/// use agcore_cycle::{Budget, Budgets, CycleSettings, LlmCycle, budget::BudgetShortage};
/// use agcore_llm::{SystemClock, provider_fn};
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
/// let provider = provider_fn(|_| async { Ok(ChatResponse::from_text("Hello.")) });
/// let budgets = Budgets::new().with_turn(Budget::new().with_tokens(500));
/// let mut cycle = LlmCycle::new(provider, SystemClock::new())
///     .with_settings(CycleSettings::new().with_budgets(budgets));
/// cycle.settings_mut().request.max_completion_tokens = Some(1_000);
///
/// let error = cycle.turn("Hello").await.unwrap_err();
/// let shortage = error.source().and_then(|source| source.downcast_ref::<BudgetShortage>()).unwrap();
/// assert_eq!((shortage.limit.to_string().as_str(), shortage.left), ("turn.tokens", 500));
/// assert_eq!((shortage.needed, shortage.output_tokens), (1_006, 1_000));
/// # });
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct BudgetShortage {
    /// The budget.
    pub limit: BudgetLimit,
    /// The amount that the step may need, in the unit of the resource: tokens, millionths of the currency's unit,
    /// microseconds, or calls. It includes the part that is held back for wrapping up.
    pub needed: u64,
    /// The amount that is left, in the same unit, without what calls in flight have reserved.
    pub left: u64,
    /// The currency of a money budget.
    pub currency: Option<Arc<str>>,
    /// The highest expected number of tokens of the request; 0 for tool calls.
    pub input_tokens: u64,
    /// The token limit of the reply; 0 for tool calls.
    pub output_tokens: u64,
}

impl BudgetShortage {
    pub(crate) fn new(limit: BudgetLimit, budget: &Budget, used: &Spent, more: &Spent) -> Self {
        let resource = limit.resource;
        Self {
            limit,
            needed: budget.amount(resource, more),
            left: budget.left(resource, used),
            currency: budget.money.as_ref().map(|money| Arc::clone(&money.currency)),
            input_tokens: 0,
            output_tokens: 0,
        }
    }

    fn amount(&self, amount: u64) -> String {
        amount_of(self.limit.resource, amount, self.currency.as_ref())
    }
}

/// Returns an amount of a resource with its unit.
pub(super) fn amount_of(resource: Resource, amount: u64, currency: Option<&Arc<str>>) -> String {
    match resource {
        Resource::Tokens => format!("{amount} tokens"),
        Resource::Money => {
            let micros = i64::try_from(amount).unwrap_or(i64::MAX);
            Money::from_micros(micros, currency.cloned().unwrap_or_default()).to_string()
        }
        Resource::Time => format!("{} s", Duration::from_micros(amount).as_secs_f64()),
        Resource::ModelCalls => format!("{amount} model calls"),
        Resource::ToolCalls => format!("{amount} tool calls"),
    }
}

impl fmt::Display for BudgetShortage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the budget {} has {} left", self.limit, self.amount(self.left))?;
        match self.limit.resource {
            Resource::Time => return f.write_str("; raise it"),
            Resource::Tokens | Resource::Money => write!(
                f,
                ", but the next call may need {}: up to {} tokens for the request and {} for the reply",
                self.amount(self.needed),
                self.input_tokens,
                self.output_tokens
            )?,
            Resource::ModelCalls | Resource::ToolCalls => {
                write!(f, ", but the next step needs {}", self.amount(self.needed))?;
            }
        }
        match self.limit.resource {
            Resource::Tokens | Resource::Money => {
                f.write_str("; raise it, or lower the token limit of the request or its length")
            }
            _ => f.write_str("; raise it, or let the model wrap up"),
        }
    }
}

impl std::error::Error for BudgetShortage {}
