//! [`ToolSettings`]: which tools may run, and where it is kept what a person allows for good.

use std::path::{Path, PathBuf};

use super::{file::File, permissions::Wish, sources};
use crate::{args::PolicyArgs, exit::Failure, grants::GRANTS};

/// Which tools may run.
#[derive(Debug)]
pub(crate) struct ToolSettings {
    /// What the settings file says.
    pub(crate) permissions: Vec<Wish>,
    /// The file of what a person has allowed for good.
    pub(crate) grants: PathBuf,
}

impl ToolSettings {
    /// Reads them from the settings file alone: no provider, key or model is needed.
    ///
    /// # Errors
    /// What cannot be read, with its place.
    pub(crate) fn read(args: &PolicyArgs) -> Result<Self, Failure> {
        Ok(Self::of(&mut sources::file(args.config.as_deref())?, args))
    }

    /// Takes them out of a file that is read already. Grants are beside it, unless they are said to be elsewhere.
    pub(super) fn of(file: &mut File, args: &PolicyArgs) -> Self {
        let folder = args.config.as_deref().and_then(Path::parent).unwrap_or(Path::new(""));
        Self {
            permissions: std::mem::take(&mut file.wishes),
            grants: args.grants.clone().unwrap_or_else(|| folder.join(GRANTS)),
        }
    }
}
