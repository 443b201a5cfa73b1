#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod error;
pub mod mistake;
pub mod atomic_file;
pub mod utc;
pub mod vendor;
pub mod listen_address;
pub mod places;
pub mod file_lock;
pub mod secrets;
pub mod grants_place;
pub mod redaction;
pub mod trust;
mod options;
mod settings;

pub use self::{
    error::SettingsError,
    options::{PolicyOptions, ServerOptions, SettingsOptions},
    settings::*,
};
