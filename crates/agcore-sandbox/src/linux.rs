//! Linux: Landlock for files, filters of system calls, and namespaces.

mod child;
mod filters;
mod grants;
mod mounts;
mod ruleset;

use std::{
    env::consts::ARCH,
    ffi::OsStr,
    path::PathBuf,
    process::{Command, Stdio},
};

use crate::{
    error::SandboxError,
    policy::{Mode, Network, Policy},
    support::Support,
    temporary::Temporary,
};

/// The first version of Landlock's interface with which files can be truncated only where they can be written. Before it, a mount
/// namespace must make them read-only.
const TRUNCATES: u32 = 3;
/// The first version that confines signals and abstract sockets.
const SCOPES: u32 = 6;

/// Finds out what the kernel offers.
pub(crate) fn support() -> Support {
    let landlock = child::landlock_version();
    let filters = child::has_filters()
        && filters::filters(filters::Wanted {
            internet: false,
            tracing: false,
        })
        .is_ok();
    let namespaces = namespaces();
    let missing = match (landlock, filters) {
        (None, _) => {
            Some("the kernel has no Landlock, or does not use it (5.13 or newer, `lsm=landlock,…`)".to_owned())
        }
        (_, false) => Some(format!("there are no filters of system calls (seccomp) for {ARCH}")),
        (Some(version), _) if version < TRUNCATES && namespaces.is_err() => Some(format!(
            "Landlock has version {version} and there are no user namespaces; one of Linux 6.2 and user namespaces is needed"
        )),
        _ => None,
    };
    Support {
        missing,
        landlock,
        filters,
        namespaces,
        confines_signals: landlock.is_some_and(|version| version >= SCOPES),
        limits_processes: namespaces_limit_processes(),
    }
}

/// Returns why a process cannot enter namespaces of its own.
fn namespaces() -> Result<(), String> {
    let mut probe = Command::new("/bin/true");
    probe.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    child::try_namespaces(&mut probe);
    match probe.status() {
        Ok(_) => Ok(()),
        // The file is not everywhere, but it is run when all else is done.
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error.to_string()),
    }
}

/// Returns whether the number of processes is limited for each command. The kernel does not limit those of root.
fn namespaces_limit_processes() -> bool {
    !child::is_root()
}

/// Returns a command that confines itself before it runs the program.
pub(crate) fn command(
    program: &OsStr,
    (policy, temporary, support): (&Policy, &Temporary, &Support),
) -> Result<Command, SandboxError> {
    let failed = |error| SandboxError::failed("the sandbox cannot be prepared", error);
    let has_namespaces = support.namespaces.is_ok();
    let is_online = policy.network() == Network::On;
    let own_network = has_namespaces && !is_online;
    let (mounts, seen) = match has_namespaces {
        true => mounts::mounts(policy, temporary)
            .map(|(mounts, seen)| (Some(mounts), seen))
            .map_err(failed)?,
        false => (None, temporary_without_mounts(temporary)),
    };
    let internet = is_online || own_network;
    let wanted = filters::Wanted {
        internet,
        tracing: policy.mode() != Mode::Strict,
    };
    let filters = filters::filters(wanted).map_err(|error| failed(std::io::Error::other(error)))?;
    let rules = grants::grants(policy, temporary.parts());
    let plan = child::Plan {
        own_network,
        // Without a user namespace, all processes of the user would count.
        processes: policy.limits().processes.filter(|_| has_namespaces),
        memory: policy.limits().memory,
        ruleset: ruleset::ruleset(&rules, internet).map_err(failed)?,
        filters,
        mounts,
    };
    let mut command = Command::new(program);
    command.env("TMPDIR", seen);
    child::confine(&mut command, plan);
    Ok(command)
}

fn temporary_without_mounts(temporary: &Temporary) -> PathBuf {
    temporary.part("/tmp".as_ref())
}
