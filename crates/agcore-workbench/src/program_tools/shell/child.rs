//! Runs a shell in a process group of its own, with a time limit and a bounded output.

use std::{
    io::{self, PipeReader, Read},
    process::{ExitStatus, Stdio},
    time::Duration,
};

use tokio::{
    process::{Child, Command},
    sync::mpsc::{self, UnboundedReceiver},
    time::{Instant, sleep_until},
};

use crate::{bounded_output::BoundedOutput, shell_command::Group};

/// The time in which the output may arrive after the end of the command.
const GRACE_PERIOD: Duration = Duration::from_secs(1);

/// The end of a command, and what it wrote.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Run {
    /// The exit code or signal, followed by the output.
    pub(super) text: String,
    /// The exit code, or `None` if the command was killed.
    pub(super) exit_code: Option<i32>,
}

/// Runs a shell.
///
/// Cancel safe: dropping the future kills the command.
///
/// # Errors
/// When the shell cannot be started.
pub(super) async fn run(shell: Command, limit: Duration) -> io::Result<Run> {
    let (mut child, chunks) = start(shell)?;
    let group = Group::of(&child);
    let mut output = BoundedOutput::default();
    let status = follow(&mut child, chunks, limit, &mut output).await;
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

/// Starts the shell without input. Both outputs go to one pipe, so that their order is kept.
fn start(mut shell: Command) -> io::Result<(Child, UnboundedReceiver<Vec<u8>>)> {
    let (reader, writer) = io::pipe()?;
    shell.stdin(Stdio::null()).stdout(writer.try_clone()?).stderr(writer);
    let child = shell.spawn()?;
    let (sender, chunks) = mpsc::unbounded_channel();
    tokio::task::spawn_blocking(move || read(reader, &sender));
    Ok((child, chunks))
}

fn read(mut reader: PipeReader, sender: &mpsc::UnboundedSender<Vec<u8>>) {
    let mut buffer = [0; 4096];
    while let Ok(count) = reader.read(&mut buffer) {
        if count == 0 || sender.send(buffer[..count].to_vec()).is_err() {
            break;
        }
    }
}

/// Collects the output until the command has ended. Returns `None` if it took too long.
async fn follow(
    child: &mut Child,
    mut chunks: UnboundedReceiver<Vec<u8>>,
    limit: Duration,
    output: &mut BoundedOutput,
) -> Option<io::Result<ExitStatus>> {
    let (mut status, mut deadline) = (None, Instant::now() + limit);
    loop {
        tokio::select! {
            biased;
            chunk = chunks.recv() => match chunk {
                Some(chunk) => { output.add(&chunk); }
                None => break,
            },
            ended = child.wait(), if status.is_none() => {
                status = Some(ended);
                deadline = Instant::now() + GRACE_PERIOD;
            }
            () = sleep_until(deadline) => return status,
        }
    }
    match status {
        // It has closed its output, but may still run.
        None => tokio::time::timeout_at(deadline, child.wait()).await.ok(),
        status => status,
    }
}

fn describe(status: ExitStatus) -> String {
    match status.code() {
        Some(code) => format!("exit code {code}"),
        None => status.to_string(),
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use crate::shell_command::shell;

    async fn output(command: &str) -> io::Result<Run> {
        let folder = tempfile::tempdir()?;
        run(shell(command, folder.path(), &[]), Duration::from_secs(60)).await
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
        let output = run(shell(command, folder.path(), &[]), Duration::from_secs(60))
            .await
            .unwrap();
        assert_eq!(output.text, "exit code 0\nstarted\n");
        let slow = shell("echo first; sleep 1000", folder.path(), &[]);
        let slow = run(slow, Duration::from_secs(1)).await.unwrap();
        assert_eq!(
            (slow.exit_code, slow.text.as_str()),
            (None, "killed after 1 s\nfirst\n")
        );
    }
}
