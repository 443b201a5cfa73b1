//! [`Console`]: the terminal's keyboard: lines that are typed, and what is typed while nobody asked.

use std::{
    fmt,
    path::PathBuf,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use rustyline::{
    Cmd, ConditionalEventHandler, Config, Editor, Event, EventContext, EventHandler, KeyCode, KeyEvent, Modifiers,
    RepeatCount, error::ReadlineError, history::FileHistory,
};

use crate::exit::Failure;

/// How many earlier lines are kept.
const MEMORY: usize = 1_000;

/// A line of more bytes is not kept: the memory is for what is said again.
const LONGEST: usize = 64 * 1024;

/// Reads lines with an editor. Clones share it, and its memory of earlier lines.
#[derive(Clone)]
pub(crate) struct Console(Arc<Mutex<Keyboard>>);

struct Keyboard {
    editor: Editor<(), FileHistory>,
    /// Where earlier lines are kept for the next start.
    history: Option<PathBuf>,
}

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
    /// The program's terminal, without a memory of earlier starts.
    ///
    /// # Errors
    /// When it cannot be used.
    pub(crate) fn open() -> Result<Self, Failure> {
        let keyboard = Keyboard {
            editor: editor().map_err(|error| Failure::task(format!("the terminal cannot be used: {error}")))?,
            history: None,
        };
        Ok(Self(Arc::new(Mutex::new(keyboard))))
    }

    /// Takes up the lines of earlier starts, and keeps those of this one beside them.
    ///
    /// # Errors
    /// Why they cannot be read; then nothing is kept.
    pub(crate) fn remember_in(&self, file: PathBuf) -> Result<(), String> {
        let mut keyboard = self.keyboard();
        match keyboard.editor.load_history(&file) {
            Ok(()) => {}
            Err(ReadlineError::Io(error)) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(format!("{}: {error}", file.display())),
        }
        keyboard.history = Some(file);
        Ok(())
    }

    /// Reads a line on a thread of its own. When this future is dropped, the thread goes on until the line is typed.
    ///
    /// # Errors
    /// When the terminal cannot be read.
    pub(crate) async fn read_line(&self, prompt: &str) -> Result<Line, Failure> {
        self.edit_line(prompt, "").await.map(|line| match line {
            Line::Said(text) => Line::Said(text.trim().to_owned()),
            line => line,
        })
    }

    /// The same, beginning with a text that is there to be changed.
    ///
    /// # Errors
    /// When the terminal cannot be read.
    pub(crate) async fn edit_line(&self, prompt: &str, text: &str) -> Result<Line, Failure> {
        let (console, prompt, text) = (self.clone(), prompt.to_owned(), text.to_owned());
        let read = move || {
            let editor = &mut console.keyboard().editor;
            editor.readline_with_initial(&prompt, (&text, ""))
        };
        match tokio::task::spawn_blocking(read).await {
            Ok(Ok(line)) => Ok(Line::Said(line.replace(TURNED, "\n"))),
            Ok(Err(ReadlineError::Interrupted)) => Ok(Line::Thrown),
            Ok(Err(ReadlineError::Eof)) | Err(_) => Ok(Line::Over),
            Ok(Err(error)) => Err(Failure::task(format!("the terminal cannot be read: {error}"))),
        }
    }

    /// Keeps a line for the arrow keys, and for the next start.
    ///
    /// # Errors
    /// Why it cannot be kept for the next start; told once, then nothing is kept any more.
    pub(crate) fn remember(&self, line: &str) -> Result<(), String> {
        if line.len() > LONGEST {
            return Ok(());
        }
        let mut keyboard = self.keyboard();
        let Keyboard { editor, history } = &mut *keyboard;
        // A memory that cannot grow is no reason to stop.
        let _ = editor.add_history_entry(line);
        let Some(file) = history else {
            return Ok(());
        };
        let kept = editor.append_history(file);
        let kept = kept.map_err(|error| format!("{}: {error}", file.display()));
        if kept.is_err() {
            *history = None;
        }
        kept
    }

    fn keyboard(&self) -> MutexGuard<'_, Keyboard> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn editor() -> rustyline::Result<Editor<(), FileHistory>> {
    let config = Config::builder()
        .max_history_size(MEMORY)?
        .history_ignore_dups(true)?
        .build();
    let mut editor = Editor::with_config(config)?;
    editor.bind_sequence(KeyEvent(KeyCode::Enter, Modifiers::ALT), Cmd::Newline);
    let go_on = EventHandler::Conditional(Box::new(GoOn));
    editor.bind_sequence(KeyEvent(KeyCode::Enter, Modifiers::NONE), go_on);
    Ok(editor)
}

/// What stands in the editor where a backslash was turned into another line: the editor cannot take it out and go on in one
/// step. The sign between takes no place, and tells it from a backslash that was pasted.
const TURNED: &str = "\\\u{200b}\n";

/// Enter behind a backslash at the end: another line.
struct GoOn;

impl ConditionalEventHandler for GoOn {
    fn handle(&self, _: &Event, _: RepeatCount, _: bool, context: &EventContext<'_>) -> Option<Cmd> {
        let is_at_end = context.pos() == context.line().len();
        (is_at_end && context.line().ends_with('\\')).then(|| Cmd::Insert(1, TURNED[1..].to_owned()))
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
