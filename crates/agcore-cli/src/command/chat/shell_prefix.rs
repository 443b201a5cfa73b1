//! `!command`: runs a shell command, shows its output and keeps it for the next message.

use std::{
    collections::VecDeque,
    io::{self, PipeReader, Read},
    process::{ExitStatus, Stdio},
    time::Duration,
};

use agcore::chat::text::prefix;
use tokio::{
    process::{Child, Command},
    sync::mpsc::{self, UnboundedReceiver},
    time::{Instant, sleep_until},
};
use tokio_util::sync::CancellationToken;

use super::{screen::Screen, size::extent};
use crate::{
    exit::Failure,
    interrupt::Interrupts,
    process::os_variable,
    render::{sanitized, sanitized_line},
};

/// The part of a long output that the model gets: this many bytes of the start, and as many of the end.
const KEPT: usize = 16 * 1024;

/// The time that a command may take to end after Ctrl-C, and its output to arrive after the end of the command.
const GRACE_PERIOD: Duration = Duration::from_secs(1);

/// Runs a command with the user's shell. Its output appears at once. Ctrl-C ends it. Returns the block for the next message,
/// or `None` if the command could not be started.
///
/// # Errors
/// When the terminal was closed.
pub(super) async fn run(command: &str, interrupts: &Interrupts, screen: Screen) -> Result<Option<String>, Failure> {
    let (mut child, chunks) = match start(command) {
        Ok(started) => started,
        Err(error) => {
            screen.error(&format!("cannot run the shell: {error}"))?;
            return Ok(None);
        }
    };
    let token = CancellationToken::new();
    let _guard = interrupts.notify(&token);
    let mut output = Output::default();
    let status = follow(&mut child, chunks, &token, &mut output, screen).await?;
    output.finish(screen)?;
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
    output: &mut Output,
    screen: Screen,
) -> Result<io::Result<ExitStatus>, Failure> {
    let (mut status, mut deadline, mut is_ending) = (None, None, false);
    loop {
        tokio::select! {
            biased;
            chunk = chunks.recv() => match chunk {
                Some(chunk) => output.show(&chunk, screen)?,
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

/// The output of a command: all of it for the screen, the start and the end for the model.
#[derive(Debug, Default)]
struct Output {
    /// The start of a character that is not complete.
    incomplete: Vec<u8>,
    head: String,
    tail: VecDeque<u8>,
    /// The number of bytes between head and tail.
    dropped: usize,
}

impl Output {
    fn show(&mut self, chunk: &[u8], screen: Screen) -> Result<(), Failure> {
        let text = self.decode(chunk);
        self.keep(&text);
        screen.print(&sanitized(&text))
    }

    /// Shows an incomplete character, and ends the line.
    fn finish(&mut self, screen: Screen) -> Result<(), Failure> {
        if !self.incomplete.is_empty() {
            self.incomplete.clear();
            self.keep("\u{fffd}");
        }
        let is_line = match self.tail.back() {
            Some(last) => *last == b'\n',
            None => self.head.is_empty() || self.head.ends_with('\n'),
        };
        if is_line {
            return Ok(());
        }
        self.keep("\n");
        screen.print("\n")
    }

    fn decode(&mut self, chunk: &[u8]) -> String {
        self.incomplete.extend_from_slice(chunk);
        let bytes = std::mem::take(&mut self.incomplete);
        let mut text = String::new();
        for piece in bytes.utf8_chunks() {
            text.push_str(piece.valid());
            let invalid = piece.invalid();
            let is_end =
                bytes.ends_with(invalid) && std::str::from_utf8(invalid).is_err_and(|e| e.error_len().is_none());
            match invalid {
                [] => {}
                invalid if is_end => self.incomplete = invalid.to_vec(),
                _ => text.push('\u{fffd}'),
            }
        }
        text.replace("\r\n", "\n").replace('\r', "\n")
    }

    fn keep(&mut self, text: &str) {
        let mut rest = text;
        if self.tail.is_empty() && self.head.len() < KEPT {
            let start = prefix(rest, KEPT - self.head.len());
            self.head.push_str(start);
            rest = &rest[start.len()..];
        }
        self.tail.extend(rest.as_bytes());
        let excess = self.tail.len().saturating_sub(KEPT);
        self.dropped += excess;
        self.tail.drain(..excess);
    }

    /// Returns the text for the model.
    fn text(&self) -> String {
        let (front, back) = self.tail.as_slices();
        let tail = [front, back].concat();
        let tail = String::from_utf8_lossy(&tail);
        match self.dropped {
            0 => format!("{}{tail}", self.head),
            dropped => format!("{}\n[… {dropped} bytes left out …]\n{tail}", self.head),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decodes_pieces_of_characters() {
        let mut output = Output::default();
        let bytes = "字\r\nx".as_bytes();
        assert_eq!(output.decode(&bytes[..1]), "");
        assert_eq!(output.decode(&bytes[1..]), "字\nx");
        assert_eq!(output.decode(b"a\xffb"), "a\u{fffd}b");
    }

    #[test]
    fn a_long_output_is_cut_in_the_middle() {
        let mut output = Output::default();
        for number in 0..10_000 {
            output.keep(&format!("line {number}\n"));
        }
        let text = output.text();
        assert!(text.starts_with("line 0\n") && text.ends_with("line 9999\n"));
        assert!(
            text.contains(" bytes left out …]") && text.len() < 2 * KEPT + 100,
            "{}",
            text.len()
        );
        let mut short = Output::default();
        short.keep("one\n");
        assert_eq!(short.text(), "one\n");
    }
}
