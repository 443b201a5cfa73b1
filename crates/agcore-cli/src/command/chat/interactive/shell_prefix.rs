//! `!command`: runs a shell command, shows its output and keeps it for the next message.

use std::{
    io::{self, PipeReader, Read},
    process::{ExitStatus, Stdio},
    time::Duration,
};

use agcore_terminal::{
    interrupt::Interrupts,
    process::os_variable,
    render::{sanitized, sanitized_line},
    size::extent,
};
use agcore_workbench::bounded_output::BoundedOutput;
use tokio::{
    process::{Child, Command},
    sync::mpsc::{self, UnboundedReceiver},
    time::{Instant, sleep_until},
};
use tokio_util::sync::CancellationToken;

use crate::command::chat::screen::Screen;
use crate::exit::Failure;

/// The time that a command may take to end after Ctrl-C, and its output to arrive after the end of the command.
const GRACE_PERIOD: Duration = Duration::from_secs(1);

/// Runs a command with the user's shell. Its output appears at once. Ctrl-C ends it. Returns the block for the next message,
/// or `None` if the command could not be started.
///
/// # Errors
/// When the terminal was closed.
pub(in crate::command::chat) async fn run(
    command: &str,
    interrupts: &Interrupts,
    screen: Screen,
) -> Result<Option<String>, Failure> {
    let (mut child, chunks) = match start(command) {
        Ok(started) => started,
        Err(error) => {
            screen.error(&format!("cannot run the shell: {error}"))?;
            return Ok(None);
        }
    };
    let token = CancellationToken::new();
    let _guard = interrupts.notify(&token);
    let mut output = BoundedOutput::default();
    let status = follow(&mut child, chunks, &token, &mut output, screen).await?;
    if output.finish() {
        screen.print("\n")?;
    }
    let end = match status {
        _ if token.is_cancelled() => "interrupted".to_owned(),
        Ok(status) => describe(status),
        Err(error) => error.to_string(),
    };
    let text = output.text();
    screen.note(&format!(
        "{end}; the output ({}) goes with your next message.",
        extent(&text)
    ))?;
    let command = sanitized_line(command);
    Ok(Some(format!(
        "<shell command={command:?} result={end:?}>\n{text}</shell>\n\n"
    )))
}

/// Starts the command without input. Both outputs go to one pipe, so that their order is kept.
fn start(command: &str) -> io::Result<(Child, UnboundedReceiver<Vec<u8>>)> {
    let (reader, writer) = io::pipe()?;
    let mut shell = shell(command);
    shell
        .stdin(Stdio::null())
        .stdout(writer.try_clone()?)
        .stderr(writer)
        .kill_on_drop(true);
    let child = shell.spawn()?;
    let (sender, chunks) = mpsc::unbounded_channel();
    tokio::task::spawn_blocking(move || read(reader, &sender));
    Ok((child, chunks))
}

fn shell(command: &str) -> Command {
    if cfg!(windows) {
        let mut shell = Command::new("cmd");
        shell.args(["/C", command]);
        return shell;
    }
    let mut shell = Command::new(os_variable("SHELL").unwrap_or_else(|| "/bin/sh".into()));
    shell.args(["-c", command]);
    shell
}

fn read(mut reader: PipeReader, sender: &mpsc::UnboundedSender<Vec<u8>>) {
    let mut buffer = [0; 4096];
    while let Ok(count) = reader.read(&mut buffer) {
        if count == 0 || sender.send(buffer[..count].to_vec()).is_err() {
            break;
        }
    }
}

/// Shows the output until the command has ended. A process that it left in the background may keep the output open.
async fn follow(
    child: &mut Child,
    mut chunks: UnboundedReceiver<Vec<u8>>,
    token: &CancellationToken,
    output: &mut BoundedOutput,
    screen: Screen,
) -> Result<io::Result<ExitStatus>, Failure> {
    let (mut status, mut deadline, mut is_ending) = (None, None, false);
    loop {
        tokio::select! {
            biased;
            chunk = chunks.recv() => match chunk {
                Some(chunk) => screen.print(&sanitized(&output.add(&chunk)))?,
                None => break,
            },
            ended = child.wait(), if status.is_none() => {
                status = Some(ended);
                deadline = Some(Instant::now() + GRACE_PERIOD);
            }
            () = token.cancelled(), if !is_ending => {
                is_ending = true;
                deadline = Some(Instant::now() + GRACE_PERIOD);
            }
            () = until(deadline) => break,
        }
    }
    if let Some(status) = status {
        return Ok(status);
    }
    if is_ending {
        // It did not react to the signal that Ctrl-C has sent. It may have ended by itself meanwhile.
        let _ = child.start_kill();
    }
    Ok(child.wait().await)
}

async fn until(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}

fn describe(status: ExitStatus) -> String {
    // Ctrl-C also reaches the command itself, which may end before the program notices.
    if was_interrupted(status) {
        return "interrupted".to_owned();
    }
    match status.code() {
        Some(code) => format!("exit code {code}"),
        None => status.to_string(),
    }
}

#[cfg(unix)]
fn was_interrupted(status: ExitStatus) -> bool {
    use std::os::unix::process::ExitStatusExt;

    status.signal() == Some(rustix::process::Signal::INT.as_raw())
}

#[cfg(not(unix))]
fn was_interrupted(_: ExitStatus) -> bool {
    false
}
