//! [`Sandbox`]: starts commands that are confined.

use std::{
    ffi::OsStr,
    io,
    path::Path,
    process::Command,
    sync::{Arc, OnceLock},
};

use crate::{
    error::SandboxError,
    policy::{Mode, Network, Policy},
    support::Support,
    system,
    temporary::Temporary,
};

/// Starts commands that are confined. Clones share the private temporary folder.
///
/// ```no_run
/// use agcore_sandbox::{Mode, Policy, Sandbox};
///
/// let sandbox = Sandbox::new(Policy::new(Mode::Workspace).with_write("/srv/project"))?;
/// let mut command = sandbox.command("cargo")?;
/// let status = command.arg("test").current_dir("/srv/project").status()?;
/// # let _ = status;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Sandbox(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    policy: Policy,
    support: Support,
    /// The private temporary folder, unless nothing is confined.
    temporary: Option<Temporary>,
}

impl Sandbox {
    /// Creates a sandbox. With the mode [`Off`](Mode::Off), commands are not confined.
    ///
    /// # Errors
    /// When the system cannot confine commands, a path of the policy is not absolute, or no temporary folder can be created.
    pub fn new(policy: Policy) -> Result<Self, SandboxError> {
        Self::with_support(policy, Support::of_system().clone())
    }

    /// Creates a sandbox that uses only a part of what the system offers: to find out what holds without the rest.
    ///
    /// # Errors
    /// As for [`new`](Self::new).
    pub fn with_support(policy: Policy, support: Support) -> Result<Self, SandboxError> {
        if policy.mode() == Mode::Off {
            let temporary = None;
            return Ok(Self(Arc::new(Inner {
                policy,
                support,
                temporary,
            })));
        }
        if let Some(reason) = &support.missing {
            return Err(SandboxError::unavailable(reason));
        }
        check_paths(&policy)?;
        let temporary = Temporary::new()
            .map_err(|error| SandboxError::failed("the temporary folder of the sandbox cannot be created", error))?;
        Ok(Self(Arc::new(Inner {
            policy,
            support,
            temporary: Some(temporary),
        })))
    }

    /// Returns a command that is confined when it is started. On Unix, `TMPDIR` names its temporary folder: keep the
    /// variable if you clear the environment.
    ///
    /// The rules are made for the files that exist now, so a command should be started soon, and each start needs a command of its
    /// own. Descriptors other than stdin, stdout and stderr are closed.
    ///
    /// # Errors
    /// When the rules cannot be made.
    pub fn command(&self, program: impl AsRef<OsStr>) -> Result<Command, SandboxError> {
        let Inner {
            policy,
            support,
            temporary,
        } = &*self.0;
        match temporary {
            Some(temporary) => system::command(program.as_ref(), (policy, temporary, support)),
            None => Ok(Command::new(program)),
        }
    }

    /// Returns whether commands are confined.
    pub fn is_on(&self) -> bool {
        self.0.temporary.is_some()
    }

    /// Returns what commands may do.
    pub fn policy(&self) -> &Policy {
        &self.0.policy
    }

    /// Returns what the system offers.
    pub fn support(&self) -> &Support {
        &self.0.support
    }

    /// Returns what commands may do in a few words, for a question about one: `sandbox: writes only /srv/project and a private
    /// /tmp, no network`.
    pub fn summary(&self) -> String {
        let policy = self.policy();
        if !self.is_on() {
            return "no sandbox".to_owned();
        }
        let paths = |paths: &mut dyn Iterator<Item = &Path>| {
            let paths: Vec<String> = paths.map(|path| path.display().to_string()).collect();
            paths.join(", ")
        };
        let read = match policy.mode() {
            Mode::Strict => {
                let read = paths(&mut policy.read());
                let more = if read.is_empty() { read } else { format!(", {read}") };
                format!("reads only the system and the workspace{more}; ")
            }
            _ => String::new(),
        };
        let write = paths(&mut policy.write());
        let separator = if write.is_empty() { "" } else { " and " };
        let network = match policy.network() {
            Network::On => "with network",
            Network::Off => "no network",
        };
        format!("sandbox: {read}writes only {write}{separator}a private temporary folder, {network}")
    }
}

impl Support {
    /// Returns what this system offers. The first call starts a process to find out.
    ///
    /// ```
    /// use agcore_sandbox::Support;
    ///
    /// let support = Support::of_system();
    /// match &support.missing {
    ///     None => println!("commands are confined with {}", support.parts()),
    ///     Some(reason) => println!("commands are not confined: {reason}"),
    /// }
    /// ```
    pub fn of_system() -> &'static Self {
        static FOUND: OnceLock<Support> = OnceLock::new();
        FOUND.get_or_init(system::support)
    }
}

fn check_paths(policy: &Policy) -> Result<(), SandboxError> {
    let mut paths = policy
        .write()
        .chain(policy.read())
        .chain(policy.hidden())
        .chain(policy.protected());
    match paths.find(|path| !path.is_absolute()) {
        None => Ok(()),
        Some(path) => {
            let error = io::Error::new(io::ErrorKind::InvalidInput, "it is not absolute");
            Err(SandboxError::path(path, error))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_names_what_can_be_written() {
        if !Support::of_system().is_available() {
            return;
        }
        let summary = |policy| Sandbox::new(policy).unwrap().summary();
        assert_eq!(summary(Policy::new(Mode::Off)), "no sandbox");
        assert_eq!(
            summary(Policy::new(Mode::Workspace).with_write("/a").with_write("/b")),
            "sandbox: writes only /a, /b and a private temporary folder, no network"
        );
        let strict = Policy::new(Mode::Strict).with_read("/r").with_network(Network::On);
        assert_eq!(
            summary(strict),
            "sandbox: reads only the system and the workspace, /r; writes only a private temporary folder, with network"
        );
    }

    #[test]
    fn a_system_without_a_sandbox_is_an_error_unless_none_is_wanted() {
        let mut support = Support::of_system().clone();
        support.missing = Some("the kernel has no Landlock".to_owned());
        let error = Sandbox::with_support(Policy::new(Mode::Workspace), support.clone()).unwrap_err();
        assert!(error.is_unavailable());
        assert_eq!(
            error.to_string(),
            "commands cannot be confined on this system: the kernel has no Landlock"
        );
        assert!(!Sandbox::with_support(Policy::new(Mode::Off), support).unwrap().is_on());
    }

    #[test]
    fn relative_paths_are_refused() {
        let error = Sandbox::new(Policy::new(Mode::Workspace).with_write("src"));
        if Support::of_system().is_available() {
            assert_eq!(
                error.unwrap_err().to_string(),
                "the sandbox cannot use the path src: it is not absolute"
            );
        }
    }
}
