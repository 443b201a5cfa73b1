//! Runs the program in an empty directory with an empty environment, and a model server next to it.

use std::{
    ffi::{OsStr, OsString},
    fs,
    path::{Path, PathBuf},
    process::{ExitStatus, Output, Stdio},
    sync::OnceLock,
    time::Duration,
};

use agcore_demo::Playground;
use agcore_testkit::mock_server::{Behavior, MockOptions, MockServer, RecordedRequest};
use tempfile::TempDir;
use tokio::{
    io::AsyncWriteExt,
    process::{Child, Command},
    runtime::Runtime,
    time::timeout,
};

/// The time limit of each step. Only a bug exceeds it.
pub(crate) const LIMIT: Duration = Duration::from_secs(120);

/// The API key of the tests, which the program must never print.
pub(crate) const KEY: &str = "sk-test-0123456789";

/// Runs the program in its own directory. It inherits nothing from the environment of the tests.
pub(crate) struct Agcore {
    pub(crate) directory: TempDir,
    /// The home directory, which is set by [`Agcore::at_home`].
    pub(crate) home: TempDir,
    variables: Vec<(String, String)>,
    trusts_folder: bool,
    /// Another program in place of the one that the tests are built with.
    other: OnceLock<PathBuf>,
}

/// The result of a run.
pub(crate) struct RunOutput {
    pub(crate) status: ExitStatus,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Agcore {
    pub(crate) fn new() -> Self {
        Self {
            directory: tempfile::tempdir().unwrap(),
            home: tempfile::tempdir().unwrap(),
            variables: Vec::new(),
            trusts_folder: false,
            other: OnceLock::new(),
        }
    }

    /// Starts another program from here on.
    pub(crate) fn upgrade_to(&self, program: PathBuf) {
        self.other.set(program).unwrap();
    }

    /// Sets the key and the address of a server.
    pub(crate) fn talking_to(server: &Server) -> Self {
        Self::new()
            .with("OPENAI_API_KEY", KEY)
            .with("OPENAI_BASE_URL", &server.base_url())
    }

    /// Passes `--trust-folder` to every command.
    pub(crate) fn trusting(self) -> Self {
        Self {
            trusts_folder: true,
            ..self
        }
    }

    /// Sets the home directory and the directories for settings and state below it.
    pub(crate) fn at_home(self) -> Self {
        let home = self.home.path().to_str().unwrap().to_owned();
        self.with("HOME", &home)
            .with("XDG_CONFIG_HOME", &format!("{home}/config"))
            .with("XDG_STATE_HOME", &format!("{home}/state"))
    }

    /// Writes the user's settings file. Needs [`Agcore::at_home`].
    pub(crate) fn with_user_settings(self, text: &str) -> Self {
        let directory = self.settings_directory();
        fs::create_dir_all(&directory).unwrap();
        fs::write(directory.join("agcore.toml"), text).unwrap();
        self
    }

    /// Returns the directory of the user's settings file. Needs [`Agcore::at_home`].
    pub(crate) fn settings_directory(&self) -> PathBuf {
        self.home.path().join("config").join("agcore")
    }

    /// Returns the path of a file in the state directory. Needs [`Agcore::at_home`].
    pub(crate) fn state(&self, name: &str) -> PathBuf {
        self.home.path().join("state").join("agcore").join(name)
    }

    /// Returns the arguments with those that are always passed.
    pub(crate) fn arguments<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> Vec<OsString> {
        let mut arguments: Vec<OsString> = arguments
            .into_iter()
            .map(|argument| argument.as_ref().to_owned())
            .collect();
        if self.trusts_folder {
            arguments.push("--trust-folder".into());
        }
        arguments
    }

    /// Sets an environment variable.
    pub(crate) fn with(mut self, name: &str, value: &str) -> Self {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Sets an environment variable that is not set yet.
    pub(crate) fn with_default(self, name: &str, value: &str) -> Self {
        match self.variables.iter().any(|(known, _)| known == name) {
            true => self,
            false => self.with(name, value),
        }
    }

    /// Writes a file to the directory.
    pub(crate) fn with_file(self, name: &str, text: &str) -> Self {
        fs::write(self.directory.path().join(name), text).unwrap();
        self
    }

    /// Runs the program to its end with empty standard input.
    pub(crate) fn run<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> RunOutput {
        self.run_with(arguments, b"")
    }

    /// Runs the program to its end with this standard input.
    pub(crate) fn run_with<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>, input: &[u8]) -> RunOutput {
        runtime().block_on(async {
            let mut child = self.spawn(arguments);
            let mut stdin = child.stdin.take().unwrap();
            let (_, output) = tokio::join!(
                async move {
                    // The program may exit without reading its input.
                    let _ = stdin.write_all(input).await;
                },
                timeout(LIMIT, child.wait_with_output()),
            );
            output.expect("the program did not exit in time").unwrap().into()
        })
    }

    /// Starts the program with pipes, as a background job of the terminal at which the tests may run. Must be called
    /// within a runtime.
    pub(crate) fn spawn<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> Child {
        self.spawn_writing_to(Stdio::piped(), Stdio::piped(), arguments)
    }

    /// Starts a command like [`spawn`](Self::spawn), with another standard output and standard error.
    pub(crate) fn spawn_writing_to<S: AsRef<OsStr>>(
        &self,
        output: impl Into<Stdio>,
        errors: impl Into<Stdio>,
        arguments: impl IntoIterator<Item = S>,
    ) -> Child {
        let mut command = Command::from(self.command());
        command.args(self.arguments(arguments)).kill_on_drop(true);
        #[cfg(unix)]
        command.process_group(0);
        command.stdin(Stdio::piped()).stdout(output).stderr(errors);
        command.spawn().unwrap()
    }

    /// Returns the command with its directory and environment variables.
    #[expect(clippy::disallowed_methods, reason = "the program cannot run without this variable")]
    pub(crate) fn command(&self) -> std::process::Command {
        let program = self
            .other
            .get()
            .map_or(env!("CARGO_BIN_EXE_agcore").as_ref(), PathBuf::as_path);
        let mut command = std::process::Command::new(program);
        command.env_clear().current_dir(self.directory.path());
        // Sockets need it on Windows.
        if let Some(root) = std::env::var_os("SystemRoot") {
            command.env("SystemRoot", root);
        }
        // Panics are then visible in the output.
        command.env("RUST_BACKTRACE", "1");
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        command
    }

    /// Returns the names of the files in the directory.
    pub(crate) fn files(&self) -> Vec<String> {
        files(self.directory.path())
    }
}

/// Returns the sorted names of the files in a directory.
pub(crate) fn files(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

impl RunOutput {
    /// Returns the exit code.
    pub(crate) fn code(&self) -> Option<i32> {
        self.status.code()
    }

    /// Asserts that the program failed with this code and one error message that contains these texts.
    #[track_caller]
    pub(crate) fn assert_failed(&self, code: i32, texts: &[&str]) {
        assert_eq!(
            self.code(),
            Some(code),
            "stdout: {}\nstderr: {}",
            self.stdout,
            self.stderr
        );
        for text in texts {
            assert!(self.stderr.contains(text), "{text:?} is missing in: {}", self.stderr);
        }
        let errors = self.stderr.lines().filter(|line| line.starts_with("error: ")).count();
        assert_eq!(errors, 1, "{}", self.stderr);
        self.assert_clean();
    }

    /// Asserts that the program succeeded, and returns its standard output.
    #[track_caller]
    pub(crate) fn assert_success(&self) -> &str {
        assert_eq!(self.code(), Some(0), "stdout: {}\nstderr: {}", self.stdout, self.stderr);
        self.assert_clean();
        &self.stdout
    }

    /// Asserts that the output contains no panic, no key and no escape codes.
    #[track_caller]
    pub(crate) fn assert_clean(&self) {
        for output in [&self.stdout, &self.stderr] {
            for forbidden in ["panicked", "backtrace", KEY, "\u{1b}"] {
                assert!(!output.contains(forbidden), "{forbidden:?} in: {output}");
            }
        }
    }
}

impl From<Output> for RunOutput {
    fn from(output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Self {
            status: output.status,
            stdout: text(output.stdout),
            stderr: text(output.stderr),
        }
    }
}

/// A model server with its own thread.
pub(crate) struct Server {
    runtime: Runtime,
    server: Option<MockServer>,
}

impl Server {
    /// Starts a server that echoes messages, calls tools that are mentioned, and fails on request.
    pub(crate) fn playground() -> Self {
        Self::start(MockOptions::new(), Playground::new())
    }

    pub(crate) fn start(options: MockOptions, behavior: impl Behavior) -> Self {
        let runtime = runtime();
        let server = runtime.block_on(MockServer::start_with(options, behavior)).unwrap();
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

    /// Waits until this many requests have arrived.
    pub(crate) fn wait_for_requests(&self, count: usize) -> Vec<RecordedRequest> {
        let waiting = async { timeout(LIMIT, self.server().wait_for_requests(count)).await };
        self.runtime
            .block_on(waiting)
            .expect("the requests did not arrive in time")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // The server must be dropped within its runtime.
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
