//! Billing: the cost of messages and sessions.

pub(crate) mod billed_call;
pub(crate) mod calculator;
pub(crate) mod catalog_biller;
pub(crate) mod message_bill;
pub(crate) mod policy;
pub(crate) mod provider_cost;
mod summary;
pub(crate) mod totals;
