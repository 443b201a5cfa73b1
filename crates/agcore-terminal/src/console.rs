//! [`Console`]: line input at the terminal, with an editor and a history.

mod terminal;
mod pastes;
mod typed_ahead;
mod key_reader;
mod offer;
mod keys;
mod menu;
mod fuzzy;
mod file_index;
mod completion;

use std::{
    fmt,
    path::PathBuf,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use anstyle::Style;
use rustyline::{Behavior, CompletionType, Config, Editor, error::ReadlineError, history::FileHistory};

use self::{
    completion::Completion,
    file_index::FileIndex,
    keys::{CONTINUATION, KeyState, Request},
    offer::Offer,
    pastes::Pastes,
    typed_ahead::TypedAhead,
};
use crate::{
    TerminalError,
    process::{print, variable},
    render::sanitized,
};

pub use self::{
    completion::CommandName,
    file_index::FileSource,
    key_reader::KeyReader,
    terminal::{BracketedPaste, Cooked, EchoOff, discard_input},
    typed_ahead::Shown,
};

/// The maximum number of lines in the history.
const MAX_HISTORY: usize = 1_000;

/// The maximum length of a history entry, in bytes. Longer lines are rarely entered again.
const MAX_HISTORY_LINE: usize = 64 * 1024;

/// The time that the rest of the sequence of a key may take to arrive after Esc, in milliseconds.
const SEQUENCE_DELAY: u16 = 60;

/// Terminals for which the editor reads whole lines.
const LINE_TERMINALS: [&str; 3] = ["dumb", "cons25", "emacs"];

/// Reads lines with an editor. Clones share the editor and its history.
#[derive(Clone)]
pub struct Console {
    input: Arc<Mutex<Input>>,
    keys: KeyState,
    typed: Arc<Mutex<TypedAhead>>,
    /// The long texts that were pasted.
    pastes: Pastes,
}

struct Input {
    editor: Editor<Completion, FileHistory>,
    /// The file that keeps the history for later chats.
    history: Option<PathBuf>,
}

/// The result of reading a line.
#[derive(Debug, PartialEq, Eq)]
pub enum Line {
    /// Enter was pressed after this text.
    Entered(String),
    /// Ctrl-C was pressed; the text is discarded.
    Interrupted,
    /// Esc was pressed; the text is discarded.
    Escaped,
    /// Ctrl-D was pressed, or the terminal was closed.
    Closed,
}

/// The result of reading a line at the prompt.
#[derive(Debug, PartialEq, Eq)]
pub enum PromptLine {
    /// Enter was pressed after this text.
    Entered(String),
    /// Ctrl-C was pressed on an empty line.
    Interrupted {
        /// Whether the line was cleared before, so that this is not the second press.
        first: bool,
    },
    /// Ctrl-D was pressed on an empty line, or the terminal was closed.
    Closed,
    /// Ctrl-G: the text is to be edited in an editor.
    OpenEditor(String),
    /// Ctrl-O: the last tool call is to be shown; the text stays.
    ShowLast(Draft),
    /// Ctrl-V: the image in the clipboard is to be attached; the text stays.
    PasteImage(Draft),
    /// Esc was pressed on an empty line.
    Escaped,
    /// Shift-Tab: the permission mode is to be changed; the text stays.
    CycleMode(Draft),
}

/// A line that is not complete.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Draft {
    /// The text before the cursor.
    pub before: String,
    /// The text after the cursor.
    pub after: String,
}

impl Draft {
    /// Splits a text at the position of the cursor.
    fn split(text: &str, position: usize) -> Self {
        let (before, after) = text.split_at(position);
        Self {
            before: before.to_owned(),
            after: after.to_owned(),
        }
    }
}

impl Console {
    /// Opens the program's terminal, with an empty history.
    ///
    /// # Errors
    /// When the terminal cannot be used.
    pub fn open() -> Result<Self, TerminalError> {
        Self::with_behavior(Behavior::Stdio)
    }

    /// Opens the controlling terminal, even if standard input or output is redirected.
    ///
    /// # Errors
    /// When the terminal cannot be used.
    pub fn open_controlling() -> Result<Self, TerminalError> {
        Self::with_behavior(Behavior::PreferTerm)
    }

    fn with_behavior(behavior: Behavior) -> Result<Self, TerminalError> {
        let pastes = Pastes::default();
        let offer = Offer::default();
        let keys = KeyState::new(pastes.clone(), offer.clone());
        let editor = editor(&keys, offer, behavior);
        let input = Input {
            editor: editor.map_err(|error| TerminalError::Open(error.to_string()))?,
            history: None,
        };
        Ok(Self {
            input: Arc::new(Mutex::new(input)),
            keys,
            typed: Arc::new(Mutex::new(TypedAhead::new(pastes.clone()))),
            pastes,
        })
    }

    /// Returns whether the editor reacts to each key. Simple terminals send whole lines.
    pub fn reads_keys() -> bool {
        let name = variable("TERM").unwrap_or_default();
        !LINE_TERMINALS.iter().any(|simple| name.eq_ignore_ascii_case(simple))
    }

    /// Sets the commands that Tab completes and that are shown in this style while one is typed.
    pub fn set_commands(&self, commands: Vec<CommandName>, style: Style) {
        if let Some(completion) = self.input().editor.helper_mut() {
            (completion.commands, completion.style) = (commands, style);
        }
    }

    /// Sets where the files come from that are offered after `@` while a message is typed.
    pub fn set_files(&self, source: FileSource) {
        if let Some(completion) = self.input().editor.helper_mut() {
            completion.files = FileIndex::new(source);
        }
    }

    /// Loads the history from a file and appends the lines of this chat to it.
    ///
    /// # Errors
    /// When the file cannot be read; nothing is then written to it.
    pub fn load_history(&self, file: PathBuf) -> Result<(), String> {
        let mut input = self.input();
        match input.editor.load_history(&file) {
            Ok(()) => {}
            Err(ReadlineError::Io(error)) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(format!("{}: {error}", file.display())),
        }
        input.history = Some(file);
        Ok(())
    }

    /// Looks for keys while a turn is running. Typed text is kept for the next prompt. Returns `None` if the terminal sends
    /// whole lines.
    pub fn key_reader(&self) -> Option<KeyReader> {
        Self::reads_keys().then(|| KeyReader::new(Arc::clone(&self.typed)))
    }

    /// Discards what was typed and not used yet, so that it does not answer the next question.
    pub fn discard_typed(&self) {
        self.typed().clear();
        discard_input();
    }

    /// Returns whether there is typed text that is not used yet.
    pub fn has_typed(&self) -> bool {
        !self.typed().is_empty()
    }

    /// Makes what was typed for the next prompt its draft, so that nothing of it is sent unless the user presses Enter again.
    pub fn put_back_typed(&self) {
        self.typed().put_back();
    }

    /// Reads a line at the prompt, which has more keys than questions. A line that was typed before is returned at once,
    /// and the start of one is added to the draft.
    ///
    /// # Errors
    /// When the terminal cannot be read.
    pub async fn read_prompt(&self, prompt: &str, mut draft: Draft) -> Result<PromptLine, TerminalError> {
        let typed = self.typed().take();
        match typed {
            Ok(line) => {
                print(&format!("{prompt}{}\n", sanitized(&line)))?;
                return Ok(PromptLine::Entered(self.pastes.expanded(line.trim())));
            }
            Err(text) => draft.before += &text,
        }
        draft.before = self.pastes.folded(&draft.before);
        let line = self.read(prompt, draft, true).await?;
        Ok(match (line, self.keys.take_request()) {
            (Line::Entered(text), _) => PromptLine::Entered(self.pastes.expanded(text.trim())),
            (Line::Interrupted, Some(Request::OpenEditor(text))) => {
                PromptLine::OpenEditor(self.pastes.expanded(&text.replace(CONTINUATION, "\n")))
            }
            (Line::Interrupted, Some(Request::ShowLast(text, position))) => {
                PromptLine::ShowLast(Draft::split(&text, position))
            }
            (Line::Interrupted, Some(Request::PasteImage(text, position))) => {
                PromptLine::PasteImage(Draft::split(&text, position))
            }
            (Line::Interrupted, Some(Request::Escape)) => PromptLine::Escaped,
            (Line::Interrupted, Some(Request::CycleMode(text, position))) => {
                PromptLine::CycleMode(Draft::split(&text, position))
            }
            (Line::Interrupted | Line::Escaped, _) => PromptLine::Interrupted {
                first: self.keys.was_cleared(),
            },
            (Line::Closed, _) => PromptLine::Closed,
        })
    }

    /// Reads a line and trims it. Runs on a blocking thread, which keeps reading if this future is dropped.
    ///
    /// # Errors
    /// When the terminal cannot be read.
    pub async fn read_line(&self, prompt: &str) -> Result<Line, TerminalError> {
        self.edit_line(prompt, "").await.map(|line| match line {
            Line::Entered(text) => Line::Entered(text.trim().to_owned()),
            line => line,
        })
    }

    /// Like [`read_line`](Self::read_line), but starts with a text to edit and does not trim the result.
    ///
    /// # Errors
    /// When the terminal cannot be read.
    pub async fn edit_line(&self, prompt: &str, text: &str) -> Result<Line, TerminalError> {
        let draft = Draft {
            before: text.to_owned(),
            after: String::new(),
        };
        let line = self.read(prompt, draft, false).await?;
        Ok(match (line, self.keys.take_request()) {
            (Line::Interrupted, Some(Request::Escape)) => Line::Escaped,
            (line, _) => line,
        })
    }

    async fn read(&self, prompt: &str, draft: Draft, is_prompt: bool) -> Result<Line, TerminalError> {
        let (console, prompt) = (self.clone(), prompt.to_owned());
        let read = move || {
            let editor = &mut console.input().editor;
            console.keys.start(is_prompt);
            if let Some(completion) = editor.helper_mut() {
                completion.is_prompt = is_prompt;
                completion.listed.take();
                completion.files.start_line();
            }
            editor.readline_with_initial(&prompt, (&draft.before, &draft.after))
        };
        match tokio::task::spawn_blocking(read).await {
            Ok(Ok(line)) => Ok(Line::Entered(line.replace(CONTINUATION, "\n"))),
            Ok(Err(ReadlineError::Interrupted)) => Ok(Line::Interrupted),
            Ok(Err(ReadlineError::Eof)) | Err(_) => Ok(Line::Closed),
            Ok(Err(error)) => Err(TerminalError::Read(error.to_string())),
        }
    }

    /// Adds a line to the history, for the arrow keys and for later chats.
    ///
    /// # Errors
    /// When the line cannot be saved for later chats. This is reported once; after that nothing more is saved.
    pub fn add_history(&self, line: &str) -> Result<(), String> {
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

    fn typed(&self) -> MutexGuard<'_, TypedAhead> {
        self.typed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn input(&self) -> MutexGuard<'_, Input> {
        self.input.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn editor(state: &KeyState, offer: Offer, behavior: Behavior) -> rustyline::Result<Editor<Completion, FileHistory>> {
    let config = Config::builder()
        .max_history_size(MAX_HISTORY)?
        .history_ignore_dups(true)?
        .behavior(behavior)
        .completion_type(CompletionType::List)
        .completion_show_all_if_ambiguous(true)
        .keyseq_timeout(Some(SEQUENCE_DELAY))
        .build();
    let mut editor = Editor::with_config(config)?;
    editor.set_helper(Some(Completion {
        offer,
        ..Completion::default()
    }));
    keys::bind(&mut editor, state);
    Ok(editor)
}

impl fmt::Debug for Console {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Console")
    }
}
