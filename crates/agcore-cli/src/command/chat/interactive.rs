//! The conversation at the terminal: prompt, turn, prompt.

use std::{
    io::{self, Write},
    sync::{Arc, Mutex, PoisonError},
};

use agcore::{AgentSession, tools::Approver};
use rustyline::{DefaultEditor, error::ReadlineError};
use tokio_util::sync::CancellationToken;

use super::{commands, session};
use crate::{
    approve::{AllowAll, AskAtTerminal, SharedEditor, read_line},
    args::ChatArgs,
    exit::Failure,
    render::{Palette, Terminal},
    settings::Settings,
    turn,
};

/// What the reading of a line came to.
enum Line {
    Said(String),
    /// Ctrl-C: the line is thrown away.
    Thrown,
    /// Ctrl-D: the chat is over.
    Over,
}

/// A chat at the terminal. A turn that fails is told of, and the chat goes on.
///
/// # Errors
/// A terminal that cannot be used, settings that do not fit.
pub(super) async fn run(args: &ChatArgs, settings: Settings) -> Result<(), Failure> {
    let editor = DefaultEditor::new().map_err(|error| Failure::turn(format!("the terminal cannot be used: {error}")))?;
    let editor: SharedEditor = Arc::new(Mutex::new(editor));
    let palette = Palette::of(&io::stdout());
    let current = Arc::new(Mutex::new(CancellationToken::new()));
    let approver: Arc<dyn Approver> = if args.yes {
        Arc::new(AllowAll)
    } else {
        Arc::new(AskAtTerminal::new(Arc::clone(&editor), palette, Arc::clone(&current)))
    };
    let session = session(args, &settings, Some(approver))?;
    greet(&settings, palette)?;
    loop {
        match line(&editor, palette).await? {
            Line::Over => return Ok(()),
            Line::Thrown => say(palette, "Ctrl-D or /exit leaves the chat.")?,
            Line::Said(line) if line.is_empty() => {}
            Line::Said(line) if line.starts_with('/') => {
                if commands::run(&line, &session).await? == commands::Next::Leave {
                    return Ok(());
                }
            }
            Line::Said(line) => one_turn(&session, line, palette, &current).await?,
        }
    }
}

async fn line(editor: &SharedEditor, palette: Palette) -> Result<Line, Failure> {
    let style = palette.prompt;
    // The empty line is not part of the prompt: editors measure prompts.
    print(&format!("\n{style}you{style:#}\n"))?;
    match read_line(editor, "> ".to_owned()).await {
        Ok(line) => {
            let line = line.trim().to_owned();
            if !line.is_empty() {
                // A history that cannot grow is no reason to stop.
                let _ = editor.lock().unwrap_or_else(PoisonError::into_inner).add_history_entry(&line);
            }
            Ok(Line::Said(line))
        }
        Err(ReadlineError::Interrupted) => Ok(Line::Thrown),
        Err(ReadlineError::Eof) => Ok(Line::Over),
        Err(error) => Err(Failure::turn(format!("the terminal cannot be read: {error}"))),
    }
}

async fn one_turn(
    session: &AgentSession,
    message: String,
    palette: Palette,
    current: &Mutex<CancellationToken>,
) -> Result<(), Failure> {
    let token = CancellationToken::new();
    *current.lock().unwrap_or_else(PoisonError::into_inner) = token.clone();
    print("\n")?;
    let mut render = Terminal::new(io::stdout(), io::stdout(), palette);
    if let Err(failure) = turn::run(session, message, token, &mut render).await {
        let bad = palette.bad;
        let told = if failure.is_cancelled() { "cancelled; the conversation goes on".to_owned() } else { failure.to_string() };
        print(&format!("\n{bad}✗ {told}{bad:#}\n"))?;
    }
    Ok(())
}

fn greet(settings: &Settings, palette: Palette) -> Result<(), Failure> {
    let provider = &settings.provider;
    say(palette, &format!("{} of {}. /help for commands, Ctrl-C cancels a turn, Ctrl-D leaves.", provider.model, provider.name()))
}

fn say(palette: Palette, line: &str) -> Result<(), Failure> {
    let dim = palette.dim;
    print(&format!("{dim}{line}{dim:#}\n"))
}

/// Writes to the terminal.
pub(super) fn print(text: &str) -> Result<(), Failure> {
    let mut output = io::stdout();
    let written = output.write_all(text.as_bytes()).and_then(|()| output.flush());
    written.map_err(|error| Failure::turn(format!("the terminal is closed: {error}")))
}
