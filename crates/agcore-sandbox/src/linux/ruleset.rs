//! The rules of a policy as a ruleset of Landlock.

use std::{
    fs::OpenOptions,
    io,
    os::{fd::OwnedFd, unix::fs::OpenOptionsExt},
};

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, BitFlags, PathBeneath, Ruleset, RulesetAttr, RulesetCreatedAttr,
    RulesetError, Scope,
};

use super::grants::{Access, Grant};

/// The newest version of the interface that is used. On an older kernel, what it lacks is left out.
const VERSION: ABI = ABI::V6;

/// Creates the ruleset. Without `tcp`, no address can be connected to or listened on, where the kernel can deny that.
///
/// # Errors
/// When the kernel refuses a rule.
pub(super) fn ruleset(grants: &[Grant], tcp: bool) -> io::Result<OwnedFd> {
    let mut ruleset = Ruleset::default()
        .handle_access(AccessFs::from_all(VERSION))
        .and_then(|ruleset| ruleset.scope(Scope::AbstractUnixSocket | Scope::Signal))
        .map_err(other)?;
    if !tcp {
        ruleset = ruleset.handle_access(AccessNet::from_all(VERSION)).map_err(other)?;
    }
    let mut ruleset = ruleset.create().map_err(other)?;
    for grant in grants {
        // Not through a link: what is meant is the file that was found.
        let file = OpenOptions::new()
            .read(true)
            .custom_flags(libc::O_PATH | libc::O_NOFOLLOW | libc::O_CLOEXEC)
            .open(&grant.path);
        // Otherwise it has gone, or is in a folder that the user cannot use either.
        if let Ok(file) = file {
            let rule = PathBeneath::new(file, rights(grant.access));
            ruleset = ruleset.add_rule(rule).map_err(other)?;
        }
    }
    Option::<OwnedFd>::from(ruleset).ok_or_else(|| io::Error::from(io::ErrorKind::Unsupported))
}

fn rights(access: Access) -> BitFlags<AccessFs> {
    let read = AccessFs::from_read(VERSION);
    match access {
        Access::Names => AccessFs::ReadDir.into(),
        Access::Read => read,
        Access::Write => {
            let special = AccessFs::MakeChar | AccessFs::MakeBlock | AccessFs::MakeSock | AccessFs::IoctlDev;
            (read | AccessFs::from_write(VERSION)) & !special
        }
        Access::Device => AccessFs::ReadFile | AccessFs::WriteFile | AccessFs::Truncate | AccessFs::IoctlDev,
    }
}

fn other(error: RulesetError) -> io::Error {
    io::Error::other(error)
}
