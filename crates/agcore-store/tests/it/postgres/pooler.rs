//! The same tests through PgBouncer in transaction mode: this one starts the test program again.

use std::{
    env,
    fs::{self, Permissions},
    net::{TcpListener, TcpStream},
    os::unix::fs::{MetadataExt, PermissionsExt},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use agcore_store::postgres::PostgresOptions;
use agcore_testkit::clock::ManualClock;

use super::server::{Names, admin, need_server, url};

/// The port of the pooler, for the tests that this one starts.
const PORT: &str = "AGCORE_TEST_POSTGRES_POOLER";

/// All suites that use a store in the usual way, and those that always run here.
const SUITES: &[&str] = &[
    "journal",
    "memory_store",
    "session_store",
    "run_leases",
    "quota_store",
    "checkpoint",
    "knowledge",
    "webhook_store",
    "user_data",
];
const USUAL: &[&str] = &["run_leases", "journal", "quota_store"];

/// Returns the port of the pooler, if the tests use one.
#[expect(clippy::disallowed_methods, reason = "set by the test that starts this one")]
pub(super) fn port() -> Option<u16> {
    Some(env::var(PORT).ok()?.parse().unwrap())
}

#[expect(clippy::disallowed_methods, reason = "set by `cargo xtask soak`, and by the shell")]
fn variable(name: &str) -> Option<String> {
    env::var(name).ok()
}

/// PgBouncer with few connections to the server, so that those who use it take turns.
struct Pooler {
    process: Child,
    port: u16,
    _folder: tempfile::TempDir,
}

impl Pooler {
    fn start(program: &Path) -> Self {
        Self::start_for(program, "")
    }

    /// Starts a pooler that leads to a database, or to the one that is asked for if the name is empty.
    fn start_for(program: &Path, database: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let server = url::Url::parse(&url()).unwrap();
        let database = match database {
            "" => String::new(),
            name => format!(" dbname={name}"),
        };
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let (users, settings) = (folder.path().join("users.txt"), folder.path().join("pgbouncer.ini"));
        let password = server.password().unwrap_or_default();
        fs::write(&users, format!("\"{}\" \"{password}\"\n", server.username())).unwrap();
        let text = format!(
            "[databases]\n* = host={} port={}{database}\n\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\n\
             unix_socket_dir =\nauth_type = trust\nauth_file = {}\npool_mode = transaction\nmax_client_conn = 500\n\
             default_pool_size = 3\n",
            server.host_str().unwrap(),
            server.port().unwrap_or(5432),
            users.display(),
        );
        fs::write(&settings, text).unwrap();
        let mut command = Command::new(program);
        if fs::metadata(folder.path()).unwrap().uid() == 0 {
            // It refuses to run as root.
            fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).unwrap();
            command.args(["--user", "nobody"]);
        }
        let process = command
            .arg(&settings)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let pooler = Self {
            process,
            port,
            _folder: folder,
        };
        let begin = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(
                begin.elapsed() < Duration::from_secs(20),
                "PgBouncer does not accept connections"
            );
            thread::sleep(Duration::from_millis(20));
        }
        pooler
    }
}

impl Drop for Pooler {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Returns the program, which Debian keeps where only administrators look for it.
fn pgbouncer() -> Option<PathBuf> {
    let path = variable("PATH").unwrap_or_default();
    let folders = env::split_paths(&path).chain(["/usr/sbin".into()]);
    folders
        .map(|folder| folder.join("pgbouncer"))
        .find(|program| program.is_file())
}

#[tokio::test]
async fn a_pooler_that_leads_elsewhere_is_refused() {
    need_server!();
    let Some(program) = pgbouncer() else {
        println!("skipped: pgbouncer is not installed");
        return;
    };
    if port().is_some() {
        return;
    }
    let names = Names::default();
    let other = names.name();
    admin(&format!("CREATE DATABASE {other}")).await;
    let pooler = Pooler::start_for(&program, &other);
    let mut url = url::Url::parse(&url()).unwrap();
    let direct = format!("{}:{}", url.host_str().unwrap(), url.port().unwrap_or(5432));
    url.set_host(Some("127.0.0.1")).unwrap();
    url.set_port(Some(pooler.port)).unwrap();
    url.query_pairs_mut().append_pair("direct", &direct);
    let options = PostgresOptions::new(url.as_str()).unwrap().with_schema(names.name());
    let error = options.open(Arc::new(ManualClock::new())).await.unwrap_err();
    assert!(error.message().contains("another database"), "{error}");
}

#[tokio::test]
async fn the_same_tests_pass_through_a_pooler() {
    need_server!();
    let Some(program) = pgbouncer() else {
        println!("skipped: pgbouncer is not installed");
        return;
    };
    if port().is_some() {
        return;
    }
    let pooler = Pooler::start(&program);
    let suites = if variable("AGCORE_SOAK").is_some() {
        SUITES
    } else {
        USUAL
    };
    let mut tests = Command::new(env::current_exe().unwrap());
    tests.args(suites.iter().map(|suite| format!("postgres::{suite}")));
    let ended = tests
        .args(["--test-threads", "4"])
        .env(PORT, pooler.port.to_string())
        .output()
        .unwrap();
    let output = String::from_utf8_lossy(&ended.stdout);
    let errors = String::from_utf8_lossy(&ended.stderr);
    assert!(ended.status.success(), "{output}\n{errors}");
    assert!(output.contains("test result: ok"), "{output}");
}
