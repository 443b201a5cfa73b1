//! The commands that set the program up and check it: `init`, `keys`, `config`, `doctor` and `trust`.

pub(crate) mod config;
pub(crate) mod doctor;
pub(crate) mod keys;
pub(crate) mod init;
pub(crate) mod trust;
