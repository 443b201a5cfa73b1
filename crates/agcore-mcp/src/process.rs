//! [`Process`]: the child process of a server, which never outlives its client.

mod output_tail;

use std::{
    process::{ExitStatus, Stdio},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use tokio::{
    process::{Child, ChildStderr, ChildStdin, ChildStdout, Command},
    sync::{Notify, watch},
    task::JoinHandle,
    time::timeout,
};

pub(crate) use self::output_tail::OutputTail;

/// The longest time that the rest of stderr is read after the process has exited. A process that it left behind may hold the pipe.
const STDERR_GRACE: Duration = Duration::from_millis(300);

/// A running server, with the processes that it started. Killed on drop.
#[derive(Debug)]
pub(crate) struct Process {
    /// The id of the process and, on Unix, of its process group.
    id: Option<u32>,
    shared: Arc<Shared>,
    /// `None` while the process runs.
    exit: watch::Receiver<Option<String>>,
    stderr: OutputTail,
}

#[derive(Debug, Default)]
struct Shared {
    /// Whether the process has been waited for. Its id may belong to another process then.
    is_reaped: AtomicBool,
    kill: Notify,
}

/// A process that was just started, with its pipes.
#[derive(Debug)]
pub(crate) struct Started {
    pub(crate) process: Process,
    pub(crate) stdin: ChildStdin,
    pub(crate) stdout: ChildStdout,
}

impl Process {
    /// Starts a command with pipes for stdin, stdout and stderr.
    ///
    /// # Errors
    /// The error of the operating system.
    pub(crate) fn start(mut command: Command, stderr: OutputTail) -> std::io::Result<Started> {
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        // A group of its own can be killed with everything that the server started, such as the program that `npx` runs.
        #[cfg(unix)]
        command.process_group(0);
        let mut child = command.spawn()?;
        let missing = || std::io::Error::other("the process has no pipes");
        let stdin = child.stdin.take().ok_or_else(missing)?;
        let stdout = child.stdout.take().ok_or_else(missing)?;
        let pipe = child.stderr.take().ok_or_else(missing)?;

        let (id, shared) = (child.id(), Arc::new(Shared::default()));
        let (exited, exit) = watch::channel(None);
        let reader = tokio::spawn(read_stderr(pipe, stderr.clone()));
        tokio::spawn(supervise(child, Arc::clone(&shared), reader, exited));
        let process = Self {
            id,
            shared,
            exit,
            stderr,
        };
        Ok(Started { process, stdin, stdout })
    }

    /// Waits until the process has exited, and returns its status in words. Cancel safe.
    pub(crate) async fn exited(&self) -> String {
        let mut exit = self.exit.clone();
        match exit.wait_for(Option::is_some).await {
            Ok(status) => status.clone().unwrap_or_default(),
            // The runtime shuts down.
            Err(_) => "unknown exit status".to_owned(),
        }
    }

    /// Returns the last lines that the process wrote to stderr.
    pub(crate) fn stderr(&self) -> &OutputTail {
        &self.stderr
    }

    /// Ends the process, whose stdin should be closed already: waits, then asks it to end, then kills it.
    pub(crate) async fn shut_down(&self, limit: Duration) {
        if timeout(limit * 2 / 5, self.exited()).await.is_ok() {
            return;
        }
        #[cfg(unix)]
        {
            self.signal(rustix::process::Signal::TERM);
            if timeout(limit * 2 / 5, self.exited()).await.is_ok() {
                return;
            }
        }
        self.kill();
        // The supervisor waits for the process in any case.
        let _ = timeout(limit / 5, self.exited()).await;
    }

    /// Kills the process and everything that it started. Does not wait.
    pub(crate) fn kill(&self) {
        #[cfg(unix)]
        self.signal(rustix::process::Signal::KILL);
        self.shared.kill.notify_one();
    }

    #[cfg(unix)]
    fn signal(&self, signal: rustix::process::Signal) {
        if !self.shared.is_reaped.load(Ordering::Acquire) {
            signal_group(self.id, signal);
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Sends a signal to a process group. It is not an error if the group has ended.
#[cfg(unix)]
fn signal_group(id: Option<u32>, signal: rustix::process::Signal) {
    let id = id
        .and_then(|id| i32::try_from(id).ok())
        .and_then(rustix::process::Pid::from_raw);
    if let Some(id) = id {
        let _ = rustix::process::kill_process_group(id, signal);
    }
}

/// Waits for the process, so that it does not remain as a zombie, and reports its status.
async fn supervise(
    mut child: Child,
    shared: Arc<Shared>,
    mut stderr: JoinHandle<()>,
    exited: watch::Sender<Option<String>>,
) {
    #[cfg(unix)]
    let id = child.id();
    let status = tokio::select! {
        status = child.wait() => status,
        () = shared.kill.notified() => {
            // It fails only if the process has exited.
            let _ = child.start_kill();
            child.wait().await
        }
    };
    shared.is_reaped.store(true, Ordering::Release);
    // What the server started must not stay behind.
    #[cfg(unix)]
    signal_group(id, rustix::process::Signal::KILL);
    if timeout(STDERR_GRACE, &mut stderr).await.is_err() {
        stderr.abort();
    }
    let text = status.map_or_else(|error| format!("unknown exit status ({error})"), describe);
    exited.send_replace(Some(text));
}

fn describe(status: ExitStatus) -> String {
    status.to_string()
}

async fn read_stderr(pipe: ChildStderr, tail: OutputTail) {
    if let Err(error) = tail.read_from(pipe).await {
        tracing::debug!(%error, "stderr of an MCP server cannot be read");
    }
}
