//! [`Attempt`]: a system call that would lead out of a sandbox, made by a child of the test.

use std::{
    env, fs, io,
    os::unix::{fs::PermissionsExt, process::CommandExt},
    path::{Path, PathBuf},
    process::Command,
};

use agcore_sandbox::{Mode, Network, Policy, Sandbox, Support};
use tempfile::TempDir;

/// An attempt of a child, which succeeds if it escapes.
pub(crate) struct Attempt {
    pub(crate) name: &'static str,
    /// Whether it must succeed without a sandbox, which shows that the attempt is a real one.
    pub(crate) works_outside: bool,
    /// Whether only a sandbox with namespaces prevents it.
    pub(crate) needs_namespaces: bool,
    pub(crate) run: fn(&Place) -> io::Result<()>,
}

/// An attempt that would succeed without a sandbox.
pub(crate) const fn real(name: &'static str, run: fn(&Place) -> io::Result<()>) -> Attempt {
    Attempt {
        name,
        works_outside: true,
        needs_namespaces: false,
        run,
    }
}

/// An attempt that would succeed without a sandbox, and that namespaces prevent.
pub(crate) const fn with_namespaces(name: &'static str, run: fn(&Place) -> io::Result<()>) -> Attempt {
    Attempt {
        needs_namespaces: true,
        ..real(name, run)
    }
}

/// An attempt that may not be made without a sandbox: it would change the system, or only root succeeds.
pub(crate) const fn never(name: &'static str, run: fn(&Place) -> io::Result<()>) -> Attempt {
    Attempt {
        works_outside: false,
        ..real(name, run)
    }
}

/// Where an attempt is made.
pub(crate) struct Place {
    /// The folder that can be written.
    pub(crate) inside: PathBuf,
    /// A folder that can be read: with the files `victim` and `secret/key`, and the empty folder `empty`.
    pub(crate) outside: PathBuf,
    /// The process that has started the attempt, which is not confined.
    pub(crate) parent: i32,
    /// The port of a service of the parent, for TCP and UDP.
    pub(crate) port: u16,
}

const VARIABLE: &str = "AGCORE_ATTEMPT";

/// The folders for an attempt.
pub(crate) struct Scene {
    pub(crate) folder: TempDir,
}

impl Scene {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        for path in [
            "inside",
            "inside/.git/hooks",
            "outside",
            "outside/secret",
            "outside/empty",
        ] {
            fs::create_dir_all(root.join(path)).unwrap();
        }
        for path in [
            "inside/file",
            "inside/.git/config",
            "outside/victim",
            "outside/secret/key",
        ] {
            fs::write(root.join(path), "original").unwrap();
        }
        // Also for attempts of another user.
        let all = fs::read_dir(root.join("inside"))
            .unwrap()
            .chain(fs::read_dir(root.join("outside")).unwrap());
        let all = all.map(|entry| entry.unwrap().path());
        let all =
            all.chain(["", "inside", "outside", "inside/.git/hooks", "inside/.git/config"].map(|path| root.join(path)));
        for path in all {
            fs::set_permissions(path, fs::Permissions::from_mode(0o777)).unwrap();
        }
        Self { folder }
    }

    pub(crate) fn inside(&self) -> PathBuf {
        self.folder.path().join("inside")
    }

    pub(crate) fn outside(&self) -> PathBuf {
        self.folder.path().join("outside")
    }

    /// The policy of the attempts.
    pub(crate) fn policy(&self, mode: Mode, network: Network) -> Policy {
        Policy::new(mode)
            .with_network(network)
            .with_write(self.inside())
            .with_read(env::current_exe().unwrap().parent().unwrap())
            .with_hidden(self.outside().join("secret"))
            .with_protected(self.inside().join(".git/hooks"))
            .with_protected(self.inside().join(".git/config"))
    }

    /// Returns the command that makes an attempt, prepared with the variables.
    pub(crate) fn prepare(&self, command: &mut Command, name: &str, port: u16) {
        command
            .args(["--exact", "escapes::attempt", "--nocapture", "--test-threads=1"])
            .env(VARIABLE, name)
            .env("AGCORE_INSIDE", self.inside())
            .env("AGCORE_OUTSIDE", self.outside())
            .env("AGCORE_PARENT", std::process::id().to_string())
            .env("AGCORE_PORT", port.to_string())
            .current_dir(self.inside());
    }
}

/// The result of an attempt.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Escaped,
    Denied,
    /// The process was ended, or could not start.
    Ended(String),
}

/// Runs a command that makes an attempt.
pub(crate) fn outcome(mut command: Command) -> Outcome {
    let output = match command.output() {
        Ok(output) => output,
        Err(error) => return Outcome::Ended(error.to_string()),
    };
    let text = String::from_utf8_lossy(&output.stdout);
    match (text.contains("ATTEMPT escaped"), text.contains("ATTEMPT denied")) {
        (true, _) => Outcome::Escaped,
        (_, true) => Outcome::Denied,
        _ => Outcome::Ended(format!(
            "{}: {text}{}",
            output.status,
            String::from_utf8_lossy(&output.stderr)
        )),
    }
}

/// Makes the attempt that the parent asks for, if this process is its child.
pub(crate) fn make(attempts: &[&[Attempt]]) {
    let Ok(name) = env::var(VARIABLE) else {
        return;
    };
    let path = |name: &str| PathBuf::from(env::var_os(name).unwrap());
    let number = |name: &str| env::var(name).unwrap().parse::<u32>().unwrap();
    let place = Place {
        inside: path("AGCORE_INSIDE"),
        outside: path("AGCORE_OUTSIDE"),
        parent: number("AGCORE_PARENT") as i32,
        port: number("AGCORE_PORT") as u16,
    };
    let attempt = attempts
        .iter()
        .flat_map(|attempts| attempts.iter())
        .find(|attempt| attempt.name == name);
    match (attempt.unwrap().run)(&place) {
        Ok(()) => println!("ATTEMPT escaped"),
        Err(error) => println!("ATTEMPT denied: {error}"),
    }
}

/// A sandbox in which attempts are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Setup {
    /// With everything that the kernel has.
    Full,
    /// The mode `strict`.
    Strict,
    /// With network.
    Online,
    /// Without namespaces.
    Plain,
    /// As a user who is not root, if the test runs as root.
    OtherUser,
}

/// Returns what a setup uses, or `None`, with a line that says so, if the system has no sandbox.
pub(crate) fn support(setup: Setup) -> Option<Support> {
    let mut support = Support::of_system().clone();
    if let Some(reason) = &support.missing {
        println!("skipped: {reason}");
        return None;
    }
    if setup == Setup::Plain {
        support.namespaces = Err("not wanted".to_owned());
    }
    if setup == Setup::OtherUser && !is_root() {
        println!("skipped: only root can start processes of another user");
        return None;
    }
    Some(support)
}

pub(crate) fn is_root() -> bool {
    fs::read_to_string("/proc/self/status")
        .unwrap()
        .contains("Uid:\t0\t0\t0\t0")
}

/// Returns a confined command.
pub(crate) fn confined(sandbox: &Sandbox, program: &Path, setup: Setup) -> Command {
    let mut command = sandbox.command(program).unwrap();
    if setup == Setup::OtherUser {
        command.uid(65534).gid(65534);
    }
    command
}
