//! The commands, a file each.

pub(crate) mod chat;
pub(crate) mod demo;
pub(crate) mod inspect;
pub(crate) mod tools;
