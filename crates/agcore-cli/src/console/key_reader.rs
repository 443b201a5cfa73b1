//! [`KeyReader`]: looks for keys while a turn is running.

use std::sync::{Arc, Mutex, PoisonError};

use super::typed_ahead::TypedAhead;

/// Looks for the Escape key. All other keys are kept for the next prompt. The terminal must not wait for whole lines.
#[derive(Debug)]
pub(crate) struct KeyReader {
    typed: Arc<Mutex<TypedAhead>>,
    /// Whether the last key was Escape, or the start of the sequence of another key.
    may_be_escape: bool,
}

impl KeyReader {
    pub(super) fn new(typed: Arc<Mutex<TypedAhead>>) -> Self {
        Self {
            typed,
            may_be_escape: false,
        }
    }

    /// Reads the keys that were pressed, without waiting. Returns whether Escape was pressed: that is certain if nothing has
    /// followed it until the next call, which should come after a tenth of a second or so.
    pub(crate) fn escape_pressed(&mut self) -> bool {
        let mut typed = self.typed.lock().unwrap_or_else(PoisonError::into_inner);
        let keys = read_keys();
        if keys.is_empty() {
            return std::mem::take(&mut self.may_be_escape) && typed.take_escape();
        }
        typed.push(&keys);
        self.may_be_escape = typed.ends_with_escape();
        false
    }
}

/// Reads what is there, without waiting.
#[cfg(unix)]
fn read_keys() -> Vec<u8> {
    use std::io;

    use rustix::io::{ioctl_fionread, read};

    let mut keys = Vec::new();
    while let Some(available) = ioctl_fionread(io::stdin()).ok().filter(|count| *count > 0) {
        let mut chunk = vec![0; usize::try_from(available).unwrap_or(1).min(4096)];
        let Some(count) = read(io::stdin(), &mut chunk[..]).ok().filter(|count| *count > 0) else {
            break;
        };
        keys.extend_from_slice(&chunk[..count]);
    }
    keys
}

/// There are no keys to read on this platform.
#[cfg(not(unix))]
fn read_keys() -> Vec<u8> {
    Vec::new()
}
