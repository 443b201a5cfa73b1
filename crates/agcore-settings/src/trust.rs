//! Trust in the files of the current directory: [`Snapshot`] contains the files, [`TrustStore`] remembers the user's
//! decision together with a hash of each file.

mod bounded;
mod command_words;
mod decision;
mod scripts;
mod snapshot;
mod store;
mod startable;

pub(crate) use self::{command_words::line as command_line, snapshot::PROJECT_DIRECTORIES};
pub use self::{
    decision::{Trust, listed_changes},
    snapshot::{FileKind, FolderFile, Snapshot},
    startable::Startable,
    store::{TrustStore, TrustedFolder},
};
