//! Who is asked about tools: [`AskAtTerminal`], [`AllowAll`]; without a terminal nobody.

use std::{
    io::{self, Write},
    sync::{Arc, Mutex, PoisonError},
};

use agcore::tools::{Approval, ApprovalRequest, Approver};
use async_trait::async_trait;
use rustyline::{DefaultEditor, error::ReadlineError};
use tokio_util::sync::CancellationToken;

use crate::render::Palette;

/// The terminal's line editor, shared by the prompt and by questions.
pub(crate) type SharedEditor = Arc<Mutex<DefaultEditor>>;

/// Reads a line on a thread of its own.
///
/// # Errors
/// Ctrl-C, Ctrl-D, or a terminal that fails.
pub(crate) async fn read_line(editor: &SharedEditor, prompt: String) -> Result<String, ReadlineError> {
    let editor = Arc::clone(editor);
    let read = move || editor.lock().unwrap_or_else(PoisonError::into_inner).readline(&prompt);
    tokio::task::spawn_blocking(read).await.unwrap_or(Err(ReadlineError::Eof))
}

/// Asks the person at the terminal.
pub(crate) struct AskAtTerminal {
    editor: SharedEditor,
    palette: Palette,
    /// The token of the turn that runs: Ctrl-C at a question cancels it.
    turn: Arc<Mutex<CancellationToken>>,
}

impl AskAtTerminal {
    pub(crate) fn new(editor: SharedEditor, palette: Palette, turn: Arc<Mutex<CancellationToken>>) -> Self {
        Self { editor, palette, turn }
    }
}

#[async_trait]
impl Approver for AskAtTerminal {
    async fn approve(&self, request: &ApprovalRequest) -> Approval {
        let style = self.palette.question;
        let text = question(request);
        // The question itself is output, the editor's prompt only its last line: editors measure prompts.
        let mut output = io::stdout();
        if writeln!(output, "{style}{text}{style:#}").and_then(|()| output.flush()).is_err() {
            return Approval::deny("The user cannot be asked: the terminal is closed.");
        }
        loop {
            match read_line(&self.editor, "  [y]es, yes for this [s]ession, [n]o: ".to_owned()).await {
                Ok(line) => match line.trim().to_lowercase().as_str() {
                    "y" | "yes" => return Approval::once(),
                    "s" | "session" => return Approval::session(),
                    "n" | "no" => return Approval::deny("The user said no."),
                    _ => {}
                },
                Err(ReadlineError::Interrupted) => {
                    self.turn.lock().unwrap_or_else(PoisonError::into_inner).cancel();
                    return Approval::deny("The user cancelled the turn.");
                }
                Err(_) => return Approval::deny("The user did not answer."),
            }
        }
    }
}

/// What a person is asked.
pub(crate) fn question(request: &ApprovalRequest) -> String {
    let arguments = crate::render::shortened(&request.arguments.as_value().to_string());
    format!("? {} wants to run with {arguments}", request.tool)
}

/// Says yes to everything, as the person asked for with `--yes`.
pub(crate) struct AllowAll;

#[async_trait]
impl Approver for AllowAll {
    async fn approve(&self, _: &ApprovalRequest) -> Approval {
        Approval::once()
    }
}
