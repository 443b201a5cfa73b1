//! The sharing of runs with other processes, from options and settings.

use std::{process, time::Duration};

use agcore_args::{RoleName, ServeArgs};
use agcore_server::{Role, Sharing};
use agcore_settings::SharingTable;

/// The longest lease that the settings can ask for, in seconds.
const LONGEST: u64 = 3600;

/// Returns how runs are shared, if they are. Errors are added to `problems`.
pub(super) fn sharing(args: &ServeArgs, table: &SharingTable, problems: &mut Vec<String>) -> Option<Sharing> {
    let role = match args.role {
        Some(RoleName::All) => Role::All,
        Some(RoleName::Api) => Role::Api,
        Some(RoleName::Worker) => Role::Worker,
        None => {
            if args.worker.slots.is_some() || !args.worker.tenants.is_empty() {
                problems.push(
                    "--slots and --tenant are for processes that share a database; add --role, or remove them"
                        .to_owned(),
                );
            }
            return None;
        }
    };
    let mut sharing = Sharing::new(name(role)).with_role(role);
    match args.worker.slots.or(table.slots) {
        Some(0) => problems.push(zero("slots")),
        Some(slots) => sharing = sharing.with_slots(usize::try_from(slots).unwrap_or(usize::MAX)),
        None => {}
    }
    match table.lease_seconds {
        Some(seconds @ (0 | LONGEST..)) => problems.push(format!(
            "`lease_seconds` of [serve.sharing] is {seconds}; set 1 to {}, or remove it",
            LONGEST - 1
        )),
        Some(seconds) => sharing = sharing.with_lease(Duration::from_secs(seconds)),
        None => {}
    }
    match table.max_attempts {
        Some(0) => problems.push(zero("max_attempts")),
        Some(attempts) => sharing = sharing.with_max_attempts(attempts),
        None => {}
    }
    Some(args.worker.tenants.iter().fold(sharing, Sharing::with_tenant))
}

/// Returns the name of this process in the database, for people.
fn name(role: Role) -> String {
    let program = match role {
        Role::Worker => "agcore worker",
        Role::Api | Role::All => "agcore serve",
    };
    format!("{program} (process {}{})", process::id(), on_machine())
}

#[cfg(unix)]
fn on_machine() -> String {
    let system = rustix::system::uname();
    format!(" on {}", system.nodename().to_string_lossy())
}

#[cfg(not(unix))]
fn on_machine() -> String {
    String::new()
}

fn zero(name: &str) -> String {
    format!("`{name}` of [serve.sharing] is 0; set at least 1, or remove it")
}
