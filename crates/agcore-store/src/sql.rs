//! Parts that the databases with SQL have in common.

mod conditions;
mod knowledge;
mod sessions;

pub(crate) use self::conditions::{Conditions, Value};
