//! Trust in the files of the current directory: [`Snapshot`] contains the files, [`TrustStore`] remembers the user's
//! decision together with a hash of each file.

mod bounded;
mod decision;
mod snapshot;
mod store;

pub(crate) use self::{
    decision::{Trust, listed_changes},
    snapshot::{FileKind, FolderFile, PROJECT_DIRECTORIES, PROJECT_DIRECTORY, Snapshot},
    store::{TrustStore, TrustedFolder},
};
