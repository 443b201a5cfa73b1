//! The keys of holds: names are of any length, and say whose session it is.

use sha2::{Digest, Sha256};

/// Returns the hash of the name of a hold.
pub(crate) fn hold_key(space: &str, name: &str) -> [u8; 32] {
    let mut hash = Sha256::new();
    hash.update(space);
    hash.update([0]);
    hash.update(name);
    hash.finalize().into()
}
