//! Reads standard input, up to a limit.

use std::{
    fs::File,
    io::{self, BufRead, ErrorKind, Read},
    sync::mpsc,
    thread,
    time::Duration,
};

use tokio::{
    sync::oneshot,
    task::{JoinHandle, spawn_blocking},
    time::timeout,
};

use crate::exit::Failure;

/// The maximum size of standard input, in bytes.
const MAX_INPUT: u64 = 10 * 1024 * 1024;

/// The time after which standard input is ignored if a prompt was given and nothing has arrived.
pub(super) const SILENCE: Duration = Duration::from_secs(3);

/// Reads all of standard input, however long that takes.
///
/// # Errors
/// When standard input cannot be read, is not UTF-8 or is too long.
pub(crate) async fn read_stdin() -> Result<String, Failure> {
    Reading::start().finish().await
}

/// Reads all of standard input, or returns `None` if nothing arrives in time.
///
/// # Errors
/// When standard input cannot be read, is not UTF-8 or is too long.
pub(super) async fn read_unless_silent() -> Result<Option<String>, Failure> {
    let mut reading = Reading::start();
    if file_size().is_none() && timeout(SILENCE, &mut reading.began).await.is_err() {
        return Ok(None);
    }
    reading.finish().await.map(Some)
}

/// Waits for standard input, and returns whether input has arrived. It stays there to be read. Returns `false` if nothing
/// arrives in time.
pub(crate) fn arrives() -> bool {
    let (send, receive) = mpsc::channel();
    // The thread cannot be stopped.
    thread::spawn(move || {
        let mut stdin = io::stdin().lock();
        let arrived = wait_for_byte(&mut stdin).is_ok() && stdin.fill_buf().is_ok_and(|bytes| !bytes.is_empty());
        // No one waits for it if it took too long.
        let _ = send.send(arrived);
    });
    receive.recv_timeout(SILENCE).unwrap_or(false)
}

/// A blocking thread that reads standard input, so that Ctrl-C can end the wait. The thread cannot be stopped.
struct Reading {
    /// Completed by the first byte or the end.
    began: oneshot::Receiver<()>,
    bytes: JoinHandle<io::Result<Vec<u8>>>,
}

impl Reading {
    fn start() -> Self {
        let (begin, began) = oneshot::channel();
        let bytes = spawn_blocking(move || {
            let mut stdin = io::stdin().lock();
            wait_for_byte(&mut stdin)?;
            // The receiver is gone if no one waits for it.
            let _ = begin.send(());
            let mut bytes = Vec::new();
            stdin.take(MAX_INPUT + 1).read_to_end(&mut bytes)?;
            Ok(bytes)
        });
        Self { began, bytes }
    }

    async fn finish(self) -> Result<String, Failure> {
        let read = self.bytes.await.unwrap_or_else(|error| Err(io::Error::other(error)));
        let bytes = read.map_err(|error| Failure::usage(format!("cannot read standard input: {error}")))?;
        check_size(bytes.len() as u64)?;
        decode(bytes)
    }
}

/// Waits until input can be read or has ended.
fn wait_for_byte(input: &mut impl BufRead) -> io::Result<()> {
    loop {
        match input.fill_buf() {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            found => return found.map(drop),
        }
    }
}

fn check_size(read: u64) -> Result<(), Failure> {
    if read <= MAX_INPUT {
        return Ok(());
    }
    let mib = |bytes: u64| bytes.div_ceil(1024 * 1024);
    let size = file_size().map_or_else(
        || format!("is larger than {} MiB", mib(MAX_INPUT)),
        |size| format!("has {} MiB, more than the limit of {} MiB", mib(size), mib(MAX_INPUT)),
    );
    Err(Failure::usage(format!(
        "standard input {size}; nothing was sent. Send only the part that matters, or split it into several runs."
    )))
}

/// Returns the size of standard input if it is a regular file.
fn file_size() -> Option<u64> {
    #[cfg(unix)]
    let stdin = std::os::fd::AsFd::as_fd(&io::stdin()).try_clone_to_owned();
    #[cfg(windows)]
    let stdin = std::os::windows::io::AsHandle::as_handle(&io::stdin()).try_clone_to_owned();
    let metadata = File::from(stdin.ok()?).metadata().ok()?;
    metadata.is_file().then_some(metadata.len())
}

/// The mark with which some programs begin a text in UTF-8. It is not a part of the text.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

fn decode(mut bytes: Vec<u8>) -> Result<String, Failure> {
    if bytes.starts_with(BYTE_ORDER_MARK) {
        bytes.drain(..BYTE_ORDER_MARK.len());
    }
    String::from_utf8(bytes).map_err(|error| {
        let position = error.utf8_error().valid_up_to() + 1;
        Failure::usage(format!(
            "standard input is not valid UTF-8: byte {position} is invalid; convert it first, for example with `iconv`"
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_the_first_byte_that_is_not_utf8() {
        assert_eq!(decode("你好".into()).unwrap(), "你好");
        assert_eq!(decode("\u{feff}hi \u{feff}".into()).unwrap(), "hi \u{feff}");
        let error = decode(b"ab\xff".to_vec()).unwrap_err().to_string();
        assert!(error.contains("byte 3 is invalid"), "{error}");
    }
}
