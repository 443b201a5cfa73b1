//! Systems without a sandbox.

use std::{ffi::OsStr, process::Command};

use crate::{error::SandboxError, policy::Policy, support::Support, temporary::Temporary};

/// The reason for users.
const REASON: &str = "there is a sandbox for Linux and macOS only";

/// Returns that the system offers nothing.
pub(crate) fn support() -> Support {
    Support {
        missing: Some(REASON.to_owned()),
        landlock: None,
        filters: false,
        namespaces: Err(REASON.to_owned()),
        confines_signals: false,
        limits_processes: false,
    }
}

/// Fails: a sandbox cannot be created here.
pub(crate) fn command(_: &OsStr, _: (&Policy, &Temporary, &Support)) -> Result<Command, SandboxError> {
    let error = SandboxError::unavailable(REASON);
    Err(error)
}
