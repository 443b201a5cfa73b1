//! [`KeyReader`]: looks for keys while a turn is running.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::typed_ahead::{Shown, TypedAhead};

/// Looks for the keys that change a running turn. All other keys are kept for the next prompt. The terminal must not wait for whole
/// lines.
#[derive(Debug)]
pub struct KeyReader {
    typed: Arc<Mutex<TypedAhead>>,
    /// Whether the last key was Escape, or the start of the sequence of another key.
    may_be_escape: bool,
}

/// The keys that change a running turn.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Pressed {
    /// Whether Escape was pressed. That is certain if nothing has followed it until the next read, which should come after a tenth
    /// of a second or so.
    pub escape: bool,
    /// How often Shift-Tab was pressed.
    pub mode_changes: usize,
}

impl KeyReader {
    pub(super) fn new(typed: Arc<Mutex<TypedAhead>>) -> Self {
        Self {
            typed,
            may_be_escape: false,
        }
    }

    /// Reads the keys that were pressed, without waiting.
    pub fn read(&mut self) -> Pressed {
        let keys = read_keys();
        let mut typed = self.typed.lock().unwrap_or_else(PoisonError::into_inner);
        let mut pressed = Pressed::default();
        if keys.is_empty() {
            pressed.escape = std::mem::take(&mut self.may_be_escape) && typed.take_escape();
        } else {
            typed.push(&keys);
            self.may_be_escape = typed.ends_with_escape();
        }
        pressed.mode_changes = typed.take_mode_changes();
        pressed
    }

    /// Discards an Escape key that may still be the start of another one.
    pub fn forget_escape(&mut self) {
        self.may_be_escape = false;
        self.typed().take_escape();
    }

    /// Returns whether the end of a pasted text has not arrived yet.
    pub fn is_pasting(&self) -> bool {
        self.typed().is_pasting()
    }

    /// Returns the lines that are kept for the next prompt, as they are shown to the user.
    pub fn shown(&self) -> Vec<Shown> {
        self.typed().shown()
    }

    fn typed(&self) -> MutexGuard<'_, TypedAhead> {
        self.typed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Reads the available keys, without waiting.
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
