//! Parts that the databases with SQL have in common.

mod conditions;
mod erasure;
mod hold_key;
mod knowledge;
mod retention;
mod sessions;
pub(crate) mod text;
pub(crate) mod vector;

pub(crate) use self::{
    conditions::{Conditions, Value},
    erasure::{TYPES_WITH_DATA, erased_metadata},
    hold_key::hold_key,
    sessions::OPEN_RUNS,
};
