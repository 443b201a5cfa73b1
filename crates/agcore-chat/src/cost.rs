//! Tokens, prices, amounts of money, and how a session is billed.

pub(crate) mod amount;
pub(crate) mod billing;
pub(crate) mod money;
pub(crate) mod price;
pub(crate) mod price_table;
pub(crate) mod reported_cost;
pub(crate) mod usage;
