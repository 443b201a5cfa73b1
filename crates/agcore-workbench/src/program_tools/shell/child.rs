//! Runs a shell in a process group of its own, with a time limit and a bounded output.

use std::{
    io::{self, PipeReader, Read},
    process::{ExitStatus, Stdio},
    time::Duration,
};

use tokio::{
    process::{Child, Command},
    sync::mpsc::{self, Receiver},
    time::{Instant, sleep_until},
};

use super::live_output::LiveOutput;
use crate::{bounded_output::BoundedOutput, shell_command::Group};

/// The time in which the output may arrive after the end of the command.
pub(crate) const GRACE_PERIOD: Duration = Duration::from_secs(1);

/// The number of pieces of output that may wait to be read. A command that writes faster waits.
const WAITING: usize = 16;

/// The end of a command, and what it wrote.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Run {
    /// The exit code or signal, followed by the output.
    pub(super) text: String,
    /// The exit code, or `None` if the command was killed.
    pub(super) exit_code: Option<i32>,
}

/// Runs a shell. The last lines of its output are reported while it runs.
///
/// Cancel safe: dropping the future kills the command.
///
/// # Errors
/// When the shell cannot be started.
pub(super) async fn run(shell: Command, limit: Duration, live: LiveOutput<'_>) -> io::Result<Run> {
    let (mut child, chunks) = start(shell, Stdio::null())?;
    let group = Group::of(&child);
    let mut output = BoundedOutput::default();
    let status = follow(&mut child, chunks, limit, (&mut output, live)).await;
    // What the command has left in the background ends with it.
    drop(group);
    output.finish();
    let end = match &status {
        Some(Ok(status)) => describe(*status),
        Some(Err(error)) => error.to_string(),
        None => format!("killed after {} s", limit.as_secs()),
    };
    Ok(Run {
        text: format!("{end}\n{}", output.text()),
        exit_code: status.and_then(Result::ok).and_then(|status| status.code()),
    })
}

/// Starts a shell with this input. Both outputs go to one pipe, so that their order is kept.
pub(crate) fn start(mut shell: Command, input: Stdio) -> io::Result<(Child, Receiver<Vec<u8>>)> {
    let (reader, writer) = io::pipe()?;
    shell.stdin(input).stdout(writer.try_clone()?).stderr(writer);
    let child = shell.spawn()?;
    let (sender, chunks) = mpsc::channel(WAITING);
    tokio::task::spawn_blocking(move || read(reader, &sender));
    Ok((child, chunks))
}

fn read(mut reader: PipeReader, sender: &mpsc::Sender<Vec<u8>>) {
    let mut buffer = [0; 4096];
    while let Ok(count) = reader.read(&mut buffer) {
        if count == 0 || sender.blocking_send(buffer[..count].to_vec()).is_err() {
            break;
        }
    }
}

/// Collects the output until the command has ended. Returns `None` if it took too long.
async fn follow(
    child: &mut Child,
    mut chunks: Receiver<Vec<u8>>,
    limit: Duration,
    (output, mut live): (&mut BoundedOutput, LiveOutput<'_>),
) -> Option<io::Result<ExitStatus>> {
    let (mut status, mut deadline) = (None, Instant::now() + limit);
    loop {
        tokio::select! {
            biased;
            chunk = chunks.recv() => match chunk {
                Some(chunk) => {
                    let (text, now) = (output.add(&chunk), Instant::now());
                    live.add(&text, now);
                    // There may always be more.
                    if now >= deadline {
                        return status;
                    }
                }
                None => break,
            },
            ended = child.wait(), if status.is_none() => {
                status = Some(ended);
                deadline = Instant::now() + GRACE_PERIOD;
            }
            () = sleep_until(deadline) => return status,
            () = live.due(), if status.is_none() => live.report(Instant::now()),
        }
    }
    match status {
        // It has closed its output, but may still run.
        None => tokio::time::timeout_at(deadline, child.wait()).await.ok(),
        status => status,
    }
}

/// Describes how a command has ended.
pub(crate) fn describe(status: ExitStatus) -> String {
    match status.code() {
        Some(code) => format!("exit code {code}"),
        None => status.to_string(),
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::shell_command::shell;

    async fn run_in(folder: &Path, command: &str, seconds: u64) -> io::Result<Run> {
        let live = LiveOutput::new(&|_| {});
        run(shell(command, folder, &[]), Duration::from_secs(seconds), live).await
    }

    async fn output(command: &str) -> io::Result<Run> {
        run_in(tempfile::tempdir()?.path(), command, 60).await
    }

    #[tokio::test]
    async fn returns_the_exit_code_and_both_outputs() {
        for (command, code, expected) in [
            ("echo out; echo err >&2; exit 3", Some(3), "exit code 3\nout\nerr\n"),
            ("printf x", Some(0), "exit code 0\nx\n"),
            ("true", Some(0), "exit code 0\n"),
            ("cat", Some(0), "exit code 0\n"),
            ("kill -9 $$", None, "signal: 9 (SIGKILL)\n"),
        ] {
            let run = output(command).await.unwrap();
            assert_eq!((run.exit_code, run.text.as_str()), (code, expected), "{command}");
        }
    }

    #[tokio::test]
    async fn kills_what_takes_too_long_or_stays_behind() {
        let folder = tempfile::tempdir().unwrap();
        // The inner shell would write the file if it survived the outer one.
        let command = "(while [ ! -e stop ]; do :; done; echo x > late) & echo started";
        let output = run_in(folder.path(), command, 60).await.unwrap();
        assert_eq!(output.text, "exit code 0\nstarted\n");
        let slow = run_in(folder.path(), "echo first; sleep 1000", 1).await.unwrap();
        assert_eq!(
            (slow.exit_code, slow.text.as_str()),
            (None, "killed after 1 s\nfirst\n")
        );
    }

    #[tokio::test]
    async fn an_output_without_an_end_is_reported_and_ends_at_the_limit() {
        let reports = std::sync::Mutex::new(Vec::new());
        let report = |progress: agcore::chat::Progress| reports.lock().unwrap().push(progress);
        let live = LiveOutput::new(&report);
        let folder = tempfile::tempdir().unwrap();
        let command = "while :; do echo 早 more; done";
        let shell = shell(command, folder.path(), &[]);
        let run = run(shell, Duration::from_secs(1), live).await.unwrap();
        assert!(run.exit_code.is_none() && run.text.starts_with("killed after 1 s\n早 more\n"));
        let reports = reports.into_inner().unwrap();
        assert!((1..=6).contains(&reports.len()), "{}", reports.len());
        let last = reports.last().unwrap();
        assert!(
            last.done > Some(5.0) && last.message.as_ref().unwrap().lines().count() == 5,
            "{last:?}"
        );
    }
}
