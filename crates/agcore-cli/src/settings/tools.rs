//! [`ToolSettings`]: which tools may run, and where it is kept what a person allows for good.

use std::path::{Path, PathBuf};

use super::{file::File, origin::Origin, permissions::Wish, sources};
use crate::{args::PolicyArgs, exit::Failure, grants::GRANTS};

/// Which tools may run.
#[derive(Debug)]
pub(crate) struct ToolSettings {
    /// What the settings file says.
    pub(crate) permissions: Vec<Wish>,
    /// Where that stands.
    pub(crate) permissions_origin: Origin,
    /// The file of what a person has allowed for good.
    pub(crate) grants: PathBuf,
    /// Who named it.
    pub(crate) grants_origin: Origin,
}

impl ToolSettings {
    /// Reads them from the settings file alone: no provider, key or model is needed.
    ///
    /// # Errors
    /// What cannot be read, with its place.
    pub(crate) fn read(args: &PolicyArgs) -> Result<Self, Failure> {
        let mut file = sources::file(args.config.as_deref())?.unwrap_or_default();
        match file.unknown.first() {
            None => Ok(Self::of(&mut file, args)),
            Some((_, fault)) => Err(fault.clone().into()),
        }
    }

    /// Takes them out of a file that is read already. Grants are beside it, unless they are said to be elsewhere.
    pub(super) fn of(file: &mut File, args: &PolicyArgs) -> Self {
        let folder = args.config.as_deref().and_then(Path::parent).unwrap_or(Path::new(""));
        let permissions = std::mem::take(&mut file.wishes);
        let path = || args.config.clone().unwrap_or_else(|| sources::FILE.into());
        Self {
            permissions_origin: if permissions.is_empty() {
                Origin::Default
            } else {
                Origin::File(path())
            },
            permissions,
            grants_origin: args
                .grants
                .as_ref()
                .map_or(Origin::Default, |_| Origin::Option("--grants")),
            grants: args.grants.clone().unwrap_or_else(|| folder.join(GRANTS)),
        }
    }
}
