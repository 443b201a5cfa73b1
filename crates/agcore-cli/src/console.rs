//! [`Console`]: line input at the terminal, with an editor and a history.

use std::{
    fmt,
    path::PathBuf,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use rustyline::{
    Behavior, Cmd, ConditionalEventHandler, Config, Editor, Event, EventContext, EventHandler, KeyCode, KeyEvent,
    Modifiers, RepeatCount, error::ReadlineError, history::FileHistory,
};

use crate::exit::Failure;

/// The maximum number of lines in the history.
const MAX_HISTORY: usize = 1_000;

/// The maximum length of a history entry, in bytes. Longer lines are rarely entered again.
const MAX_HISTORY_LINE: usize = 64 * 1024;

/// Reads lines with an editor. Clones share the editor and its history.
#[derive(Clone)]
pub(crate) struct Console(Arc<Mutex<Input>>);

struct Input {
    editor: Editor<(), FileHistory>,
    /// The file that keeps the history for later chats.
    history: Option<PathBuf>,
}

/// The result of reading a line.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Line {
    /// Enter was pressed after this text.
    Entered(String),
    /// Ctrl-C was pressed; the text is discarded.
    Interrupted,
    /// Ctrl-D was pressed, or the terminal was closed.
    Closed,
}

impl Console {
    /// Opens the program's terminal, with an empty history.
    ///
    /// # Errors
    /// When the terminal cannot be used.
    pub(crate) fn open() -> Result<Self, Failure> {
        Self::with_behavior(Behavior::Stdio)
    }

    /// Opens the controlling terminal, even if standard input or output is redirected.
    ///
    /// # Errors
    /// When the terminal cannot be used.
    pub(crate) fn open_controlling() -> Result<Self, Failure> {
        Self::with_behavior(Behavior::PreferTerm)
    }

    fn with_behavior(behavior: Behavior) -> Result<Self, Failure> {
        let input = Input {
            editor: editor(behavior).map_err(|error| Failure::task(format!("cannot use the terminal: {error}")))?,
            history: None,
        };
        Ok(Self(Arc::new(Mutex::new(input))))
    }

    /// Loads the history from a file and appends the lines of this chat to it.
    ///
    /// # Errors
    /// When the file cannot be read; nothing is then written to it.
    pub(crate) fn load_history(&self, file: PathBuf) -> Result<(), String> {
        let mut input = self.input();
        match input.editor.load_history(&file) {
            Ok(()) => {}
            Err(ReadlineError::Io(error)) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(format!("{}: {error}", file.display())),
        }
        input.history = Some(file);
        Ok(())
    }

    /// Reads a line and trims it. Runs on a blocking thread, which keeps reading if this future is dropped.
    ///
    /// # Errors
    /// When the terminal cannot be read.
    pub(crate) async fn read_line(&self, prompt: &str) -> Result<Line, Failure> {
        self.edit_line(prompt, "").await.map(|line| match line {
            Line::Entered(text) => Line::Entered(text.trim().to_owned()),
            line => line,
        })
    }

    /// Like [`read_line`](Self::read_line), but starts with a text to edit and does not trim the result.
    ///
    /// # Errors
    /// When the terminal cannot be read.
    pub(crate) async fn edit_line(&self, prompt: &str, text: &str) -> Result<Line, Failure> {
        let (console, prompt, text) = (self.clone(), prompt.to_owned(), text.to_owned());
        let read = move || {
            let editor = &mut console.input().editor;
            editor.readline_with_initial(&prompt, (&text, ""))
        };
        match tokio::task::spawn_blocking(read).await {
            Ok(Ok(line)) => Ok(Line::Entered(line.replace(CONTINUATION, "\n"))),
            Ok(Err(ReadlineError::Interrupted)) => Ok(Line::Interrupted),
            Ok(Err(ReadlineError::Eof)) | Err(_) => Ok(Line::Closed),
            Ok(Err(error)) => Err(Failure::task(format!("cannot read from the terminal: {error}"))),
        }
    }

    /// Adds a line to the history, for the arrow keys and for later chats.
    ///
    /// # Errors
    /// When the line cannot be saved for later chats. This is reported once; after that nothing more is saved.
    pub(crate) fn add_history(&self, line: &str) -> Result<(), String> {
        if line.len() > MAX_HISTORY_LINE {
            return Ok(());
        }
        let mut input = self.input();
        let Input { editor, history } = &mut *input;
        // The chat works without the entry.
        let _ = editor.add_history_entry(line);
        let Some(file) = history else {
            return Ok(());
        };
        let saved = editor.append_history(file);
        let saved = saved.map_err(|error| format!("{}: {error}", file.display()));
        if saved.is_err() {
            *history = None;
        }
        saved
    }

    fn input(&self) -> MutexGuard<'_, Input> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn editor(behavior: Behavior) -> rustyline::Result<Editor<(), FileHistory>> {
    let config = Config::builder()
        .max_history_size(MAX_HISTORY)?
        .history_ignore_dups(true)?
        .behavior(behavior)
        .build();
    let mut editor = Editor::with_config(config)?;
    editor.bind_sequence(KeyEvent(KeyCode::Enter, Modifiers::ALT), Cmd::Newline);
    let continue_line = EventHandler::Conditional(Box::new(ContinueAfterBackslash));
    editor.bind_sequence(KeyEvent(KeyCode::Enter, Modifiers::NONE), continue_line);
    Ok(editor)
}

/// Marks a line break that was started by a trailing backslash. The editor cannot remove the backslash and insert the
/// line break in one step, so the backslash is removed when the line is read. The zero-width space distinguishes it
/// from a pasted backslash.
const CONTINUATION: &str = "\\\u{200b}\n";

/// Makes Enter after a trailing backslash start a new line.
struct ContinueAfterBackslash;

impl ConditionalEventHandler for ContinueAfterBackslash {
    fn handle(&self, _: &Event, _: RepeatCount, _: bool, context: &EventContext<'_>) -> Option<Cmd> {
        let is_at_end = context.pos() == context.line().len();
        (is_at_end && context.line().ends_with('\\')).then(|| Cmd::Insert(1, CONTINUATION[1..].to_owned()))
    }
}

impl fmt::Debug for Console {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Console")
    }
}

#[cfg(unix)]
pub(crate) use unix::{EchoOff, discard_input};

#[cfg(unix)]
mod unix {
    use std::io;

    use rustix::termios::{LocalModes, OptionalActions, QueueSelector, Termios, tcflush, tcgetattr, tcsetattr};

    /// Turns off the terminal's echo until dropped. Input typed meanwhile does not mix with the output; it is kept for
    /// the next line that is read.
    #[derive(Debug)]
    pub(crate) struct EchoOff(Option<Termios>);

    impl EchoOff {
        /// Turns the echo off. Ctrl-C still raises a signal.
        pub(crate) fn new() -> Self {
            let Ok(before) = tcgetattr(io::stdin()) else {
                return Self(None);
            };
            let mut silent = before.clone();
            silent.local_modes.remove(LocalModes::ECHO | LocalModes::ICANON);
            let is_set = tcsetattr(io::stdin(), OptionalActions::Now, &silent).is_ok();
            Self(is_set.then_some(before))
        }
    }

    impl Drop for EchoOff {
        fn drop(&mut self) {
            if let Some(before) = &self.0 {
                // Fails only if the terminal was closed.
                let _ = tcsetattr(io::stdin(), OptionalActions::Now, before);
            }
        }
    }

    /// Discards input that was typed but not read yet, so that it does not answer the next question.
    pub(crate) fn discard_input() {
        let _ = tcflush(io::stdin(), QueueSelector::IFlush);
    }
}

#[cfg(not(unix))]
pub(crate) use other::{EchoOff, discard_input};

#[cfg(not(unix))]
mod other {
    /// Does nothing on this platform.
    #[derive(Debug)]
    pub(crate) struct EchoOff;

    impl EchoOff {
        /// Does nothing on this platform.
        pub(crate) fn new() -> Self {
            Self
        }
    }

    /// Does nothing on this platform.
    pub(crate) fn discard_input() {}
}
