//! Parts that the databases with SQL have in common.

mod conditions;
mod knowledge;
mod sessions;
pub(crate) mod text;
pub(crate) mod vector;

pub(crate) use self::{
    conditions::{Conditions, Value},
    sessions::OPEN_RUNS,
};
