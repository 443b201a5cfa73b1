//! Command lines that the program runs for a model or for settings: without its secrets, in a process group of their own.

mod sandbox;

use std::path::Path;

use agcore_settings::secret_variables::{contains_secret, is_secret_name};
use agcore_terminal::process::{os_variable, variable_names};
use tokio::process::{Child, Command};

pub(crate) use self::sandbox::{CommandSandbox, with_folder};

/// The shell.
const PROGRAM: &str = if cfg!(windows) { "cmd" } else { "/bin/sh" };

/// Its option for a command line.
const OPTION: &str = if cfg!(windows) { "/C" } else { "-c" };

/// Returns the shell with a command line, to be run in a folder. It does not get variables that contain secrets, except those of
/// these names. It is killed when its handle is dropped.
pub fn shell(command: &str, folder: &Path, kept: &[String]) -> Command {
    let mut shell = Command::new(PROGRAM);
    shell.args([OPTION, command]);
    prepared(shell, folder, kept)
}

/// Returns a command for a folder, without variables that contain secrets except those of these names, in a process group of
/// its own.
fn prepared(mut shell: Command, folder: &Path, kept: &[String]) -> Command {
    shell.current_dir(folder).kill_on_drop(true);
    let is_kept = |name: &str| kept.iter().any(|kept| kept == name);
    for name in variable_names().filter(|name| !is_kept(name) && (is_secret_name(name) || has_secret(name))) {
        shell.env_remove(name);
    }
    #[cfg(unix)]
    shell.process_group(0);
    shell
}

/// Ends the process group of the shell when standard input is closed, which happens however the program ends. The command itself
/// gets no input. What runs beside it has no place where it would be seen, and ignores the signals with which groups are ended.
const SUPERVISED: &str = "exec 3<&0 </dev/null; (trap '' HUP INT TERM; read -r _ <&3; kill -9 0) >/dev/null 2>&1 & exec 3<&-; \
                          exec /bin/sh -c \"$1\"";

/// Returns the arguments of a shell that runs a command line and ends, with all processes of its group, when its standard input is
/// closed. Without groups, it ends only if its handle is dropped.
fn supervised(command: &str) -> Vec<&str> {
    match cfg!(windows) {
        true => vec![OPTION, command],
        false => vec![OPTION, SUPERVISED, "sh", command],
    }
}

/// Returns whether the value of a variable contains a password or a key.
fn has_secret(name: &str) -> bool {
    let value = os_variable(name).unwrap_or_default();
    contains_secret(&value.to_string_lossy())
}

/// The process group of a command, which is killed on drop.
pub(crate) struct Group(#[cfg(unix)] Option<rustix::process::Pid>);

impl Group {
    /// Returns the group of a child that was started with [`shell`].
    #[cfg(unix)]
    pub(crate) fn of(child: &Child) -> Self {
        let id = child.id().and_then(|id| i32::try_from(id).ok());
        Self(id.and_then(rustix::process::Pid::from_raw))
    }

    /// Returns the group of a child that was started with [`shell`].
    #[cfg(not(unix))]
    pub(crate) fn of(_: &Child) -> Self {
        Self()
    }
}

impl Group {
    /// Asks the processes of the group to end. Without groups, only killing ends them.
    pub(crate) fn terminate(&self) {
        #[cfg(unix)]
        self.signal(rustix::process::Signal::TERM);
    }

    #[cfg(unix)]
    fn signal(&self, signal: rustix::process::Signal) {
        if let Some(group) = self.0 {
            // It fails if no process of the group is left.
            let _ = rustix::process::kill_process_group(group, signal);
        }
    }
}

#[cfg(unix)]
impl Drop for Group {
    fn drop(&mut self) {
        self.signal(rustix::process::Signal::KILL);
    }
}
