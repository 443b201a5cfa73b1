//! [`CommandSandbox`]: the sandbox of the shell tool.

use std::{
    io,
    path::Path,
    process::Command as StdCommand,
    sync::{Arc, OnceLock, PoisonError, RwLock},
};

use agcore_sandbox::{Mode, Policy, Sandbox, SandboxError};
use tokio::process::Command;

use super::{OPTION, PROGRAM, prepared, supervised};

/// The files and folders that commands may not change: they start programs, or decide about permissions. Those files of git that
/// commands need, such as its index, are not among them.
const PROTECTED: &[&str] = &[
    ".git/config",
    ".git/config.worktree",
    ".git/hooks",
    ".agcore",
    ".mcp.json",
    "agcore.toml",
];

/// Lets commands change a folder, except the protected files in it.
pub(crate) fn with_folder(policy: Policy, folder: &Path) -> Policy {
    let protected = PROTECTED.iter().map(|path| folder.join(path));
    protected.fold(policy.with_write(folder), Policy::with_protected)
}

/// The sandbox of commands that a model runs. It is created with the first of them.
#[derive(Debug)]
pub(crate) struct CommandSandbox {
    /// Whether commands are refused on a system that cannot confine them.
    is_required: bool,
    /// The newest one is used. The others are kept for commands that still run.
    confinements: RwLock<Vec<Arc<Confinement>>>,
}

/// A policy, and its sandbox once it is needed.
#[derive(Debug)]
struct Confinement {
    policy: Policy,
    is_required: bool,
    created: OnceLock<Result<Sandbox, SandboxError>>,
}

impl Confinement {
    fn new(policy: Policy, is_required: bool) -> Arc<Self> {
        Arc::new(Self {
            policy,
            is_required,
            created: OnceLock::new(),
        })
    }

    /// Returns the sandbox, or `None` if commands are not confined.
    ///
    /// # Errors
    /// When they should be, and cannot be.
    fn get(&self) -> Result<Option<&Sandbox>, &SandboxError> {
        let created = self.created.get_or_init(|| Sandbox::new(self.policy.clone()));
        match created {
            Ok(sandbox) => Ok(Some(sandbox).filter(|sandbox| sandbox.is_on())),
            Err(error) if error.is_unavailable() && !self.is_required => Ok(None),
            Err(error) => Err(error),
        }
    }
}

impl Default for CommandSandbox {
    /// Confines nothing.
    fn default() -> Self {
        Self::new(Policy::new(Mode::Off), false)
    }
}

impl CommandSandbox {
    pub(crate) fn new(policy: Policy, is_required: bool) -> Self {
        Self {
            is_required,
            confinements: RwLock::new(vec![Confinement::new(policy, is_required)]),
        }
    }

    /// Lets the commands that are started from now on change another folder.
    pub(crate) fn add(&self, folder: &Path) {
        let mut confinements = self.confinements.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(newest) = confinements.last().filter(|newest| newest.policy.mode() != Mode::Off) {
            let policy = with_folder(newest.policy.clone(), folder);
            confinements.push(Confinement::new(policy, self.is_required));
        }
    }

    fn newest(&self) -> Arc<Confinement> {
        let confinements = self.confinements.read().unwrap_or_else(PoisonError::into_inner);
        let none = || Confinement::new(Policy::new(Mode::Off), false);
        confinements.last().cloned().unwrap_or_else(none)
    }

    /// Returns a sandbox for one program, or `None` if it is not confined.
    ///
    /// # Errors
    /// When it should be confined, and cannot be.
    #[cfg(feature = "mcp")]
    pub(crate) fn own(&self) -> Result<Option<Sandbox>, String> {
        let newest = self.newest();
        newest
            .get()
            .map(Option::<&Sandbox>::cloned)
            .map_err(SandboxError::to_string)
    }

    /// Returns whether commands are confined, or refused because they cannot be: then a person is asked about one outside.
    pub(crate) fn is_wanted(&self) -> bool {
        !matches!(self.newest().get(), Ok(None))
    }

    /// Returns what a question about a command shows, and whether the command is confined, or `None` if no sandbox is wanted.
    pub(crate) fn notice(&self, outside: bool) -> Option<(String, bool)> {
        let newest = self.newest();
        if newest.policy.mode() == Mode::Off {
            return None;
        }
        let text = match newest.get() {
            Ok(Some(sandbox)) if !outside => return Some((sandbox.summary(), true)),
            Ok(Some(_)) => {
                "outside the sandbox: it can read and change all your files, and reach the network".to_owned()
            }
            Ok(None) => "no sandbox: this system cannot confine commands".to_owned(),
            Err(error) if !outside => format!("it will fail: {error}"),
            Err(_) => "outside the sandbox: this system cannot confine commands".to_owned(),
        };
        Some((text, false))
    }

    /// Returns why a command that was confined has probably failed, and what the model can do.
    pub(crate) fn hint(&self, output: &str) -> Option<String> {
        let reason = self.newest().get().ok()??.hint(output)?;
        Some(format!(
            "(Probably refused by the sandbox: {reason}. If the command needs more, call the tool with `outside: true`, which the \
             user is asked about.)\n"
        ))
    }

    /// Returns the shell with a command line, confined unless it is to run outside.
    ///
    /// # Errors
    /// When it should be confined, and cannot be.
    pub(crate) fn shell(&self, command: &str, place: (&Path, &[String]), outside: bool) -> io::Result<Command> {
        self.command(&[OPTION, command], place, outside)
    }

    /// Returns a shell like [`shell`](Self::shell) that ends with its whole group when its standard input is closed.
    ///
    /// # Errors
    /// When it should be confined, and cannot be.
    pub(crate) fn supervised_shell(
        &self,
        command: &str,
        place: (&Path, &[String]),
        outside: bool,
    ) -> io::Result<Command> {
        self.command(&supervised(command), place, outside)
    }

    fn command(&self, arguments: &[&str], (folder, kept): (&Path, &[String]), outside: bool) -> io::Result<Command> {
        let refused = |error: &SandboxError| {
            io::Error::other(format!(
                "{error}; the user can allow commands without a sandbox with `--sandbox off`, or with `required = false` in the \
                 table [sandbox] of agcore.toml"
            ))
        };
        let newest = self.newest();
        let shell = match newest.get() {
            _ if outside => StdCommand::new(PROGRAM),
            Ok(None) => StdCommand::new(PROGRAM),
            Ok(Some(sandbox)) => sandbox.command(PROGRAM).map_err(io::Error::other)?,
            Err(error) => return Err(refused(error)),
        };
        let mut shell = Command::from(shell);
        shell.args(arguments);
        Ok(prepared(shell, folder, kept))
    }
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use agcore_sandbox::Support;

    use super::*;

    fn run(sandbox: &CommandSandbox, line: &str, folder: &Path, outside: bool) -> String {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(async {
            let mut shell = sandbox.shell(line, (folder, &[]), outside).unwrap();
            let output = shell.output().await.unwrap();
            String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned()
        })
    }

    #[test]
    fn commands_are_confined_unless_they_run_outside() {
        let folder = tempfile::tempdir().unwrap();
        let (inside, outside) = (folder.path().join("in"), folder.path().join("out"));
        std::fs::create_dir(&inside).unwrap();
        std::fs::create_dir(&outside).unwrap();
        let sandbox = CommandSandbox::new(Policy::new(Mode::Workspace).with_write(&inside), false);
        if !Support::of_system().is_available() {
            return;
        }
        let line = "echo x > ../out/file && cat ../out/file";
        let output = run(&sandbox, line, &inside, false);
        assert!(!outside.join("file").exists(), "{output}");
        let hint = sandbox.hint(&output).unwrap();
        assert!(
            hint.contains("writes only the workspace") && hint.lines().count() == 1,
            "{hint}"
        );
        assert_eq!(run(&sandbox, line, &inside, true), "x\n");
        // A folder that is added is open to the next command, but not what starts programs in it.
        sandbox.add(&outside);
        std::fs::write(outside.join("agcore.toml"), "").unwrap();
        assert_eq!(run(&sandbox, line, &inside, false), "x\n");
        assert!(sandbox.notice(false).unwrap().0.starts_with("sandbox: writes only"));
        assert!(sandbox.notice(true).unwrap().0.starts_with("outside the sandbox"));
        assert!(sandbox.is_wanted());
    }

    #[test]
    fn without_a_policy_nothing_is_confined_or_shown() {
        let sandbox = CommandSandbox::default();
        assert_eq!(
            (sandbox.notice(false), sandbox.notice(true), sandbox.is_wanted()),
            (None, None, false)
        );
        assert_eq!(sandbox.hint("Permission denied"), None);
        assert_eq!(run(&sandbox, "echo x", Path::new("/"), false), "x\n");
    }

    #[test]
    fn a_system_without_a_sandbox_refuses_commands_only_if_it_is_required() {
        let mut support = Support::of_system().clone();
        support.missing = Some("the kernel has no Landlock".to_owned());
        let missing = |is_required| {
            let sandbox = CommandSandbox::new(Policy::new(Mode::Workspace), is_required);
            let created = Sandbox::with_support(Policy::new(Mode::Workspace), support.clone());
            sandbox.newest().created.set(created).unwrap();
            sandbox
        };
        let optional = missing(false);
        assert_eq!(run(&optional, "echo x", Path::new("/"), false), "x\n");
        assert_eq!(
            optional.notice(false).unwrap(),
            ("no sandbox: this system cannot confine commands".to_owned(), false)
        );
        assert!(!optional.is_wanted());
        let required = missing(true);
        let error = required
            .shell("echo x", (Path::new("/"), &[]), false)
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("the kernel has no Landlock") && error.contains("--sandbox off"),
            "{error}"
        );
        assert!(required.is_wanted() && required.notice(false).unwrap().0.starts_with("it will fail"));
    }
}
