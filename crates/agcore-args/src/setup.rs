//! Arguments of the commands that set the program up: `init`, `new`, `keys` and `trust`, and of those that report on it.

pub(super) mod init;
pub(super) mod keys;
pub(super) mod trust;
pub(super) mod reports;
