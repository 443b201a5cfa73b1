//! [`Console`]: the terminal's keyboard: lines that are typed, and what is typed while nobody asked.

use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

use rustyline::{DefaultEditor, error::ReadlineError};

use crate::exit::Failure;

/// Reads lines with an editor. Clones share it, and its memory of earlier lines.
#[derive(Clone)]
pub(crate) struct Console(Arc<Mutex<DefaultEditor>>);

/// What the reading of a line came to.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Line {
    /// Enter, after this.
    Said(String),
    /// Ctrl-C: what stood there is thrown away.
    Thrown,
    /// Ctrl-D, or the terminal has gone.
    Over,
}

impl Console {
    /// The program's terminal.
    ///
    /// # Errors
    /// When it cannot be used.
    pub(crate) fn open() -> Result<Self, Failure> {
        match DefaultEditor::new() {
            Ok(editor) => Ok(Self(Arc::new(Mutex::new(editor)))),
            Err(error) => Err(Failure::task(format!("the terminal cannot be used: {error}"))),
        }
    }

    /// Reads a line on a thread of its own. When this future is dropped, the thread goes on until the line is typed.
    ///
    /// # Errors
    /// When the terminal cannot be read.
    pub(crate) async fn read_line(&self, prompt: &str) -> Result<Line, Failure> {
        let (editor, prompt) = (Arc::clone(&self.0), prompt.to_owned());
        let read = move || editor.lock().unwrap_or_else(PoisonError::into_inner).readline(&prompt);
        match tokio::task::spawn_blocking(read).await {
            Ok(Ok(line)) => Ok(Line::Said(line.trim().to_owned())),
            Ok(Err(ReadlineError::Interrupted)) => Ok(Line::Thrown),
            Ok(Err(ReadlineError::Eof)) | Err(_) => Ok(Line::Over),
            Ok(Err(error)) => Err(Failure::task(format!("the terminal cannot be read: {error}"))),
        }
    }

    /// Keeps a line for the arrow keys.
    pub(crate) fn remember(&self, line: &str) {
        // A memory that cannot grow is no reason to stop.
        let _ = self
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .add_history_entry(line);
    }
}

impl fmt::Debug for Console {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Console")
    }
}

#[cfg(unix)]
pub(crate) use unix::{Silence, discard_typed};

#[cfg(unix)]
mod unix {
    use std::io;

    use rustix::termios::{LocalModes, OptionalActions, QueueSelector, Termios, tcflush, tcgetattr, tcsetattr};

    /// While it lives, what is typed is not shown amid the output, and waits for the next line that is read.
    #[derive(Debug)]
    pub(crate) struct Silence(Option<Termios>);

    impl Silence {
        /// Begins the silence. Ctrl-C keeps its meaning.
        pub(crate) fn begin() -> Self {
            let Ok(before) = tcgetattr(io::stdin()) else {
                return Self(None);
            };
            let mut silent = before.clone();
            silent.local_modes.remove(LocalModes::ECHO | LocalModes::ICANON);
            let is_set = tcsetattr(io::stdin(), OptionalActions::Now, &silent).is_ok();
            Self(is_set.then_some(before))
        }
    }

    impl Drop for Silence {
        fn drop(&mut self) {
            if let Some(before) = &self.0 {
                // A terminal that has gone needs no order.
                let _ = tcsetattr(io::stdin(), OptionalActions::Now, before);
            }
        }
    }

    /// Throws away what was typed and not yet read: it was no answer to the question that comes now.
    pub(crate) fn discard_typed() {
        let _ = tcflush(io::stdin(), QueueSelector::IFlush);
    }
}

#[cfg(not(unix))]
pub(crate) use elsewhere::{Silence, discard_typed};

#[cfg(not(unix))]
mod elsewhere {
    /// Silence is kept on Unix only.
    #[derive(Debug)]
    pub(crate) struct Silence;

    impl Silence {
        /// Does nothing here.
        pub(crate) fn begin() -> Self {
            Self
        }
    }

    /// Does nothing here.
    pub(crate) fn discard_typed() {}
}
