//! Budgets: tokens, money, time, calls of the model and of tools; for each turn, for a cycle, or shared by many.
//!
//! Nothing is spent before it is known to fit: the worst case of a call is [reserved](BudgetPool::reserve), what it really
//! came to is [settled](Reservation::settle), and a reservation that is dropped is given back. So calls that run side by
//! side cannot spend more together than there is.
//!
//! ```
//! use agcore_cycle::{budget::Resource, Budget, BudgetPool, Spent};
//!
//! let pool = BudgetPool::new(Budget::new().with_tokens(1_000));
//! let worst = Spent::new().with_tokens(600);
//! let held = pool.reserve(&worst)?;
//! assert_eq!(pool.reserve(&worst).unwrap_err(), Resource::Tokens, "not while the first may need it");
//! held.settle(&Spent::new().with_tokens(150));
//! assert_eq!(pool.spent().tokens, 150);
//! pool.reserve(&worst)?;
//! # Ok::<(), Resource>(())
//! ```

mod limit;
mod pool;
mod price;
mod settings;
mod spent;

pub use limit::{Budget, BudgetLimit, Resource, Scope};
pub use pool::{BudgetPool, Reservation};
pub use price::PriceError;
pub use settings::Budgets;
pub use spent::Spent;
