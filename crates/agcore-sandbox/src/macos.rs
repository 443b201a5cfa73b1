//! macOS: the program `sandbox-exec` with a profile of Seatbelt.

use std::{ffi::OsStr, path::Path, process::Command};

use crate::{error::SandboxError, policy::Policy, seatbelt::profile, support::Support, temporary::Temporary};

/// The program by its full path: one in `PATH` could be another one.
const PROGRAM: &str = "/usr/bin/sandbox-exec";

/// Finds out what the system offers.
pub(crate) fn support() -> Support {
    let missing = (!Path::new(PROGRAM).exists()).then(|| format!("{PROGRAM} does not exist"));
    Support {
        missing,
        landlock: None,
        filters: false,
        namespaces: Err("macOS has none".to_owned()),
        confines_signals: true,
        limits_processes: false,
    }
}

/// Returns a command that runs a program with the profile.
pub(crate) fn command(
    program: &OsStr,
    (policy, temporary, _): (&Policy, &Temporary, &Support),
) -> Result<Command, SandboxError> {
    let mut command = Command::new(PROGRAM);
    command
        .arg("-p")
        .arg(profile(policy, temporary.path()))
        .arg("--")
        .arg(program);
    command.env("TMPDIR", temporary.part("/tmp".as_ref()));
    Ok(command)
}
