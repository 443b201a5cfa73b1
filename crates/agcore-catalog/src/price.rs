//! Prices: rates, tiers, and the list of all of them.

pub(crate) mod call_usage;
pub(crate) mod import;
pub(crate) mod model_price;
pub(crate) mod price_list;
pub(crate) mod quantities;
pub(crate) mod rate;
pub(crate) mod tiers;
