//! A PostgreSQL server of a test's own, which can be restarted.

use std::{
    fs,
    net::TcpListener,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::{Command, Output},
};

/// A server in a temporary folder, on a port of its own. It ends with the test.
pub(crate) struct OwnServer {
    folder: tempfile::TempDir,
    programs: PathBuf,
    port: u16,
}

impl OwnServer {
    /// Starts a server. Returns `None`, and says so, if its programs are not installed.
    pub(crate) fn start() -> Option<Self> {
        let Some(programs) = find_programs() else {
            println!("skipped: postgres: no folder /usr/lib/postgresql/*/bin with initdb and pg_ctl");
            return None;
        };
        let folder = tempfile::tempdir().unwrap();
        // The server runs as another user.
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o777)).unwrap();
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let server = Self { folder, programs, port };
        let data = server.data();
        server.succeed(
            "initdb",
            &[
                "--auth=trust",
                "--username=postgres",
                "--encoding=UTF8",
                "--no-sync",
                "-D",
                &data,
            ],
        );
        server.control("start");
        Some(server)
    }

    /// Returns the URL of a database that always exists.
    pub(crate) fn url(&self) -> String {
        format!("postgres://postgres@{}/postgres", self.address())
    }

    /// Returns the address of the server.
    pub(crate) fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// Restarts the server as after a crash: it ends without a checkpoint, and recovers from its log.
    pub(crate) fn restart(&self) {
        self.control("restart");
    }

    fn control(&self, action: &str) {
        let socket = self.folder.path().display().to_string();
        // What a process has written outlives it, also if the disk does not have it yet: only the machine must not crash.
        let options = format!(
            "-p {} -k {socket} -c listen_addresses=127.0.0.1 -c max_connections=200 -c fsync=off",
            self.port
        );
        let log = format!("{socket}/log");
        let data = self.data();
        // `immediate` is for restarts and stops, and ignored by `start`.
        let arguments = ["-D", &data, "-m", "immediate", "-l", &log, "-o", &options, "-w", action];
        self.succeed("pg_ctl", &arguments);
    }

    fn data(&self) -> String {
        self.folder.path().join("data").display().to_string()
    }

    fn succeed(&self, program: &str, arguments: &[&str]) {
        let output = self.run(program, arguments);
        let errors = String::from_utf8_lossy(&output.stderr);
        let log = fs::read_to_string(self.folder.path().join("log")).unwrap_or_default();
        assert!(output.status.success(), "{program} {arguments:?}: {errors}\n{log}");
    }

    /// Runs one of the server's programs, which refuse to run as root.
    fn run(&self, program: &str, arguments: &[&str]) -> Output {
        let program = self.programs.join(program);
        let mut command = if rustix::process::getuid().is_root() {
            let mut command = Command::new("runuser");
            command.args(["-u", "postgres", "--"]).arg(program);
            command
        } else {
            Command::new(program)
        };
        command.args(arguments).current_dir("/").output().unwrap()
    }
}

impl Drop for OwnServer {
    fn drop(&mut self) {
        let data = self.data();
        // An error would mean that it does not run any more.
        drop(self.run("pg_ctl", &["-D", &data, "-m", "immediate", "-w", "stop"]));
    }
}

/// Returns the folder with the programs of the newest version.
fn find_programs() -> Option<PathBuf> {
    let versions = fs::read_dir("/usr/lib/postgresql").ok()?;
    let folders = versions.filter_map(|version| Some(version.ok()?.path().join("bin")));
    let has_programs = |folder: &PathBuf| ["initdb", "pg_ctl"].iter().all(|name| Path::exists(&folder.join(name)));
    folders.filter(has_programs).max()
}
