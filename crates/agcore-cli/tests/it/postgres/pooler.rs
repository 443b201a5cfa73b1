//! PgBouncer in transaction mode, between programs and a PostgreSQL server.

use std::{
    fs::{self, Permissions},
    net::{TcpListener, TcpStream},
    os::unix::fs::{MetadataExt, PermissionsExt},
    path::PathBuf,
    process::{Child, Command, Stdio},
    sync::Mutex,
    thread,
    time::{Duration, Instant},
};

/// The number of connections to the server, which those who use the pooler take in turns.
const SIZE: usize = 12;

/// A pooler, which ends with the test.
pub(crate) struct Pooler {
    program: PathBuf,
    folder: tempfile::TempDir,
    port: u16,
    process: Mutex<Child>,
}

impl Pooler {
    /// Starts a pooler before the server at an address. Returns `None`, and says so, if PgBouncer is not installed.
    pub(crate) fn start(server: &str) -> Option<Self> {
        let Some(program) = find_program() else {
            println!("skipped: pgbouncer is not installed");
            return None;
        };
        let (host, server_port) = server.split_once(':').unwrap();
        let folder = tempfile::tempdir().unwrap();
        let users = folder.path().join("users.txt");
        fs::write(&users, "\"postgres\" \"\"\n").unwrap();
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        // A server that was away is asked again after a second instead of 15.
        let settings = format!(
            "[databases]\n* = host={host} port={server_port}\n\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\n\
             unix_socket_dir =\nauth_type = trust\nauth_file = {}\npool_mode = transaction\nmax_client_conn = 500\n\
             default_pool_size = {SIZE}\nserver_login_retry = 1\n",
            users.display(),
        );
        fs::write(folder.path().join("pgbouncer.ini"), settings).unwrap();
        let process = Mutex::new(spawn(&program, &folder));
        let pooler = Self {
            program,
            folder,
            port,
            process,
        };
        pooler.wait();
        Some(pooler)
    }

    /// Returns the URL through the pooler, of a database whose URL leads to the server itself.
    pub(crate) fn url(&self, direct: &str) -> String {
        let (start, rest) = direct.split_once('@').unwrap();
        let (server, rest) = rest.split_once('/').unwrap();
        let (database, parameters) = rest.split_once('?').unwrap_or((rest, ""));
        let port = self.port;
        format!("{start}@127.0.0.1:{port}/{database}?{parameters}&direct={server}")
    }

    /// Ends the pooler, with all its connections, and starts it again.
    pub(crate) fn restart(&self) {
        let mut process = self.process.lock().unwrap();
        process.kill().unwrap();
        process.wait().unwrap();
        *process = spawn(&self.program, &self.folder);
        drop(process);
        self.wait();
    }

    fn wait(&self) {
        let begin = Instant::now();
        while TcpStream::connect(("127.0.0.1", self.port)).is_err() {
            let has_time = begin.elapsed() < Duration::from_secs(20);
            assert!(has_time, "PgBouncer does not accept connections");
            thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Pooler {
    fn drop(&mut self) {
        let process = self.process.get_mut().unwrap();
        // It may have ended already.
        let _ = process.kill();
        let _ = process.wait();
    }
}

fn spawn(program: &PathBuf, folder: &tempfile::TempDir) -> Child {
    let mut command = Command::new(program);
    if fs::metadata(folder.path()).unwrap().uid() == 0 {
        // It refuses to run as root.
        fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).unwrap();
        command.args(["--user", "nobody"]);
    }
    command.arg(folder.path().join("pgbouncer.ini")).stdin(Stdio::null());
    command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

/// Returns the program, which Debian keeps where only administrators look for it.
#[expect(clippy::disallowed_methods, reason = "the program is a matter of the machine")]
fn find_program() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain(["/usr/sbin".into()]);
    folders
        .map(|folder| folder.join("pgbouncer"))
        .find(|program| program.is_file())
}
