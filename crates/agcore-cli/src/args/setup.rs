//! Arguments of the commands that set the program up: `init`, `new`, `keys` and `trust`.

pub(super) mod init;
pub(super) mod keys;
pub(super) mod trust;
