//! The program in an empty folder and an empty environment, and a model server beside it.

use std::{
    ffi::OsStr,
    fs,
    path::Path,
    process::{ExitStatus, Output, Stdio},
    time::Duration,
};

use agcore_testkit::mock_server::{Behaviour, MockOptions, MockServer, Playground, RecordedRequest};
use tempfile::TempDir;
use tokio::{
    io::AsyncWriteExt,
    process::{Child, Command},
    runtime::Runtime,
    time::timeout,
};

/// What no step takes; only a fault does.
pub(crate) const LIMIT: Duration = Duration::from_secs(120);

/// The key of the tests; nothing that the program says may hold it.
pub(crate) const KEY: &str = "sk-test-0123456789";

/// The program, about to be run in a folder of its own. Of the tests' environment it gets nothing.
pub(crate) struct Agcore {
    pub(crate) folder: TempDir,
    variables: Vec<(String, String)>,
}

/// What a run came to.
pub(crate) struct Ran {
    pub(crate) status: ExitStatus,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Agcore {
    pub(crate) fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
            variables: Vec::new(),
        }
    }

    /// With the key and the address of a server.
    pub(crate) fn talking_to(server: &Server) -> Self {
        Self::new()
            .with("OPENAI_API_KEY", KEY)
            .with("OPENAI_BASE_URL", &server.base_url())
    }

    /// Sets a variable.
    pub(crate) fn with(mut self, name: &str, value: &str) -> Self {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Writes a file into the folder.
    pub(crate) fn with_file(self, name: &str, text: &str) -> Self {
        fs::write(self.folder.path().join(name), text).unwrap();
        self
    }

    /// Runs it to its end, with nothing on standard input.
    pub(crate) fn run<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> Ran {
        self.run_with(arguments, b"")
    }

    /// Runs it to its end.
    pub(crate) fn run_with<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>, input: &[u8]) -> Ran {
        runtime().block_on(async {
            let mut child = self.spawn(arguments);
            let mut stdin = child.stdin.take().unwrap();
            let (_, output) = tokio::join!(
                async move {
                    // The program need not read what it is given.
                    let _ = stdin.write_all(input).await;
                },
                timeout(LIMIT, child.wait_with_output()),
            );
            output.expect("the program ends").unwrap().into()
        })
    }

    /// Starts it, with pipes. Must be called within a runtime.
    pub(crate) fn spawn<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> Child {
        let mut command = Command::from(self.command());
        command.args(arguments).kill_on_drop(true);
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command.spawn().unwrap()
    }

    /// The program with its folder and its variables.
    #[expect(
        clippy::disallowed_methods,
        reason = "the one variable that the program cannot do without"
    )]
    pub(crate) fn command(&self) -> std::process::Command {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_agcore"));
        command.env_clear().current_dir(self.folder.path());
        // Without it, Windows has no sockets.
        if let Some(root) = std::env::var_os("SystemRoot") {
            command.env("SystemRoot", root);
        }
        // A panic must be seen in full.
        command.env("RUST_BACKTRACE", "1");
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        command
    }

    /// The names of the files that lie in the folder now.
    pub(crate) fn files(&self) -> Vec<String> {
        files(self.folder.path())
    }
}

/// The names of the files in a folder, sorted.
pub(crate) fn files(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

impl Ran {
    /// The exit code.
    pub(crate) fn code(&self) -> Option<i32> {
        self.status.code()
    }

    /// Checks that it failed with this code, and told why in these words, once and without a key or a backtrace.
    #[track_caller]
    pub(crate) fn assert_failed(&self, code: i32, words: &[&str]) {
        assert_eq!(
            self.code(),
            Some(code),
            "stdout: {}\nstderr: {}",
            self.stdout,
            self.stderr
        );
        for word in words {
            assert!(self.stderr.contains(word), "no {word:?} in: {}", self.stderr);
        }
        let told = self.stderr.lines().filter(|line| line.starts_with("error: ")).count();
        assert_eq!(told, 1, "{}", self.stderr);
        self.assert_clean();
    }

    /// Checks that it did what it should, and gives what it wrote.
    #[track_caller]
    pub(crate) fn assert_done(&self) -> &str {
        assert_eq!(self.code(), Some(0), "stdout: {}\nstderr: {}", self.stdout, self.stderr);
        self.assert_clean();
        &self.stdout
    }

    /// Neither a panic, nor a key, nor colours where no terminal is.
    #[track_caller]
    pub(crate) fn assert_clean(&self) {
        for output in [&self.stdout, &self.stderr] {
            for foul in ["panicked", "backtrace", KEY, "\u{1b}"] {
                assert!(!output.contains(foul), "{foul:?} in: {output}");
            }
        }
    }
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Self {
            status: output.status,
            stdout: text(output.stdout),
            stderr: text(output.stderr),
        }
    }
}

/// A model server that lives on a thread of its own.
pub(crate) struct Server {
    runtime: Runtime,
    server: Option<MockServer>,
}

impl Server {
    /// One that echoes, calls tools that are mentioned, and breaks on command.
    pub(crate) fn playground() -> Self {
        Self::start(MockOptions::new(), Playground::new())
    }

    pub(crate) fn start(options: MockOptions, behaviour: impl Behaviour) -> Self {
        let runtime = runtime();
        let server = runtime.block_on(MockServer::start_with(options, behaviour)).unwrap();
        Self {
            runtime,
            server: Some(server),
        }
    }

    fn server(&self) -> &MockServer {
        self.server.as_ref().unwrap()
    }

    pub(crate) fn base_url(&self) -> String {
        self.server().base_url()
    }

    pub(crate) fn root_url(&self) -> String {
        self.server().root_url()
    }

    pub(crate) fn requests(&self) -> Vec<RecordedRequest> {
        self.server().requests()
    }

    /// Waits until so many requests have come in.
    pub(crate) fn wait_for_requests(&self, count: usize) -> Vec<RecordedRequest> {
        let waiting = async { timeout(LIMIT, self.server().wait_for_requests(count)).await };
        self.runtime.block_on(waiting).expect("the requests come in")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It has to be dropped within its runtime.
        let _within = self.runtime.enter();
        self.server.take();
    }
}

pub(crate) fn runtime() -> Runtime {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap()
}
