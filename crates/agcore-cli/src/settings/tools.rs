//! [`ToolSettings`]: the permissions of tools and the path of the grants file.

use std::path::{Path, PathBuf};

use super::{file::File, origin::Origin, permissions::PermissionEntry, sources};
use crate::{args::PolicyArgs, exit::Failure, grants};

/// The settings that decide which tools may run.
#[derive(Debug)]
pub(crate) struct ToolSettings {
    /// The entries of `[permissions]`.
    pub(crate) permissions: Vec<PermissionEntry>,
    /// The source of the entries.
    pub(crate) permissions_origin: Origin,
    /// The file that stores "always allow" answers.
    pub(crate) grants: PathBuf,
    /// The source of that path.
    pub(crate) grants_origin: Origin,
}

impl ToolSettings {
    /// Reads the settings file only. Needs neither a provider nor a key nor a model.
    ///
    /// # Errors
    /// When the file cannot be read or has an unknown setting.
    pub(crate) fn read(args: &PolicyArgs) -> Result<Self, Failure> {
        let mut file = sources::file(args.config.as_deref())?.unwrap_or_default();
        match file.unknown.first() {
            None => Ok(Self::new(&mut file, args)),
            Some((_, error)) => Err(error.clone().into()),
        }
    }

    /// Takes the settings out of a parsed file. The default grants file is next to the settings file.
    pub(super) fn new(file: &mut File, args: &PolicyArgs) -> Self {
        let directory = args.config.as_deref().and_then(Path::parent).unwrap_or(Path::new(""));
        let permissions = std::mem::take(&mut file.entries);
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
            grants: args
                .grants
                .clone()
                .unwrap_or_else(|| directory.join(grants::DEFAULT_FILE)),
        }
    }
}
