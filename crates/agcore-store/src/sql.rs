//! Parts that the databases with SQL have in common.

mod conditions;
mod erasure;
pub(crate) mod fleet;
mod knowledge;
pub(crate) mod leases;
pub(crate) mod quotas;
mod retention;
pub(crate) mod row;
pub(crate) mod schedules;
mod sessions;
pub(crate) mod tables;
pub(crate) mod text;
pub(crate) mod vector;
pub(crate) mod webhooks;

pub(crate) use self::{
    conditions::{Conditions, Value},
    erasure::{TYPES_WITH_DATA, erased_metadata},
    knowledge::{data_of, place_of},
    sessions::{OPEN_RUNS, bill_order},
};

use sha2::{Digest, Sha256};

/// The form of a hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HoldForm {
    /// By one holder, who excludes all others.
    Alone,
    /// By any number of holders, who exclude those who want it alone.
    Shared,
}

/// Returns the hash of the name of a hold. Names are of any length, and reveal whose session it is.
pub(crate) fn hold_key(space: &str, name: &str) -> [u8; 32] {
    let mut hash = Sha256::new();
    hash.update(space);
    hash.update([0]);
    hash.update(name);
    hash.finalize().into()
}
