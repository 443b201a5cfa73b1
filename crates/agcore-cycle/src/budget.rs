//! Budgets for tokens, money, time, model calls and tool calls: per turn, per conversation, or shared by many.
//!
//! Nothing is spent before it is known to fit. The worst case of a call is [reserved](crate::BudgetPool::reserve) before the
//! call is made, and its real cost is [settled](Reservation::settle) afterwards, however the call ends. So concurrent calls
//! cannot overspend together.
//!
//! ```
//! use agcore_cycle::{Budget, BudgetPool, Spent, budget::Resource};
//!
//! let pool = BudgetPool::new(Budget::new().with_tokens(1_000));
//! let worst = Spent::new().with_tokens(600);
//! let first = pool.reserve(&worst)?;
//! assert_eq!(pool.reserve(&worst).unwrap_err(), Resource::Tokens, "the first call may need them");
//! first.settle(&Spent::new().with_tokens(150));
//! assert_eq!(pool.spent().tokens, 150);
//! pool.reserve(&worst)?;
//! # Ok::<(), Resource>(())
//! ```

pub(crate) mod learnt_limits;
pub(crate) mod limit;
pub(crate) mod pool;
pub(crate) mod settings;
pub(crate) mod shared;
pub(crate) mod spent;

mod limited;
mod price;
mod shortage;

/// The smallest token limit that the loop sets for a reply when little of a budget is left. If less is left, the call is
/// refused.
pub const MIN_REPLY_TOKENS: u64 = 512;

pub use limit::{BudgetLimit, Resource, Scope};
pub use limited::LimitedSource;
pub use pool::Reservation;
pub use price::PriceError;
pub use shared::{BudgetSource, DrawError};
pub use shortage::BudgetShortage;

pub(crate) use learnt_limits::{Learnt, LearntLimits};
pub(crate) use limit::Budget;
pub(crate) use pool::{BudgetPool, RunningTurn};
pub(crate) use settings::Budgets;
pub(crate) use shared::SharedBudget;
pub(crate) use spent::Spent;
