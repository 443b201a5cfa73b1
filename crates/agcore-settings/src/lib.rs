//! The settings of the program `agcore`: its files, environment, trusted folders, secrets and places.
//!
//! ```rust
//! use std::path::Path;
//!
//! use agcore_settings::permissions_of;
//!
//! fn main() {
//!     let text = "[permissions]\nallow = [\"read\", \"shell(git log *)\"]\n";
//!     assert_eq!(permissions_of(Path::new("agcore.toml"), text).unwrap().len(), 2);
//!
//!     // An error names the line, and never quotes text that may be a key.
//!     let error = permissions_of(Path::new("agcore.toml"), "history = 3").unwrap_err();
//!     assert_eq!(error.to_string(), "agcore.toml:1:11: `history`: expected true or false, found the number 3");
//! }
//! ```
//!
//! - **Precedence.** Options over the environment over `.env` and `agcore.toml` of the folder over the user's `agcore.toml`. Each
//!   value knows its source.
//! - **Trust.** What a folder sets is used only if its user trusts it; a hash of each file shows when to ask again.
//! - **Secrets** are kept in the keyring of the system, or in a file that only its owner can read.
//!
//! # Features
//!
//! <!-- features -->
//!
//! | feature | description |
//! |---|---|
//! | `keyring` | Keeps API keys and tokens in the keyring of the system: the Secret Service on Linux, the keychain on macOS, the credential manager on Windows. Without it, they are kept in a file that only its owner can read. |
//! | `clap` | The options that override settings can be parsed by clap. |
//!
//! <!-- /features -->
#![cfg_attr(docsrs, feature(doc_cfg))]

mod error;
pub mod wording;
pub mod atomic_file;
pub mod vendor;
pub mod listen_address;
pub mod places;
pub mod file_lock;
pub mod secrets;
pub mod secret_variables;
pub mod grants_place;
pub mod redaction;
pub mod trust;
pub mod setup;
mod options;
mod settings;

pub use self::{
    error::SettingsError,
    options::{PolicyOptions, ServerOptions, SettingsOptions},
    settings::*,
};
