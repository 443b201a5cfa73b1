//! [`QuestionTerminal`]: asks whether a call may run, also while standard input or output is redirected.

use std::{
    io::{self, IsTerminal, Write},
    sync::Arc,
};

use agcore::tools::ToolSnapshot;
use agcore_terminal::{
    console::Console,
    interrupt::Interrupts,
    process::variable,
    render::{Color, Palette},
};
use agcore_workbench::grants::GrantUpdate;

use crate::{
    approve::Question,
    dialog::Dialog,
    exit::Failure,
    open_question::OpenDialog,
    server_question::{Completer, ServerDialog},
};

/// Terminals that the line editor only uses through standard input and output.
const SIMPLE_TERMINALS: [&str; 3] = ["dumb", "cons25", "emacs"];

/// The terminal of the person who started the program.
pub(crate) struct QuestionTerminal {
    console: Console,
    palette: Palette,
    interrupts: Interrupts,
    /// Restores the terminal if the program ends during a question, while the editor's thread is still reading.
    _mode: terminal::SavedMode,
}

impl QuestionTerminal {
    /// Opens the terminal, or returns `None` if there is none to ask at.
    ///
    /// # Errors
    /// When the terminal cannot be used.
    pub(crate) fn open(interrupts: &Interrupts, color: Color) -> Result<Option<Self>, Failure> {
        if !can_ask() {
            return Ok(None);
        }
        Ok(Some(Self {
            console: Console::open_controlling()?,
            palette: color.palette(&io::stderr()),
            interrupts: interrupts.clone(),
            _mode: terminal::SavedMode::new(),
        }))
    }

    /// Shows a question and the possible answers. The dialog that is returned reads the answer.
    ///
    /// # Errors
    /// When the terminal was closed.
    pub(crate) fn show(
        &self,
        asked: &Question,
        choices: &str,
        prompt: &'static str,
        tools: Arc<ToolSnapshot>,
    ) -> Result<Dialog, Failure> {
        let style = self.palette.question;
        let preview = asked.shown_preview(self.palette);
        print(&format!("{style}{}{style:#}\n{preview}{choices}", asked.text()))?;
        // Input typed before the question appeared does not answer it.
        terminal::discard_input();
        Ok(Dialog {
            console: self.console.clone(),
            palette: self.palette,
            prompt,
            tools,
            interrupts: self.interrupts.clone(),
            print,
        })
    }

    /// Returns the dialog for a question at which a turn waits.
    pub(crate) fn open_dialog(&self) -> OpenDialog {
        terminal::discard_input();
        OpenDialog {
            console: self.console.clone(),
            palette: self.palette,
            interrupts: self.interrupts.clone(),
            print,
        }
    }

    /// Returns the dialog for the question of an MCP server.
    pub(crate) fn server_dialog(&self, completer: Completer) -> ServerDialog {
        terminal::discard_input();
        ServerDialog {
            console: self.console.clone(),
            palette: self.palette,
            interrupts: self.interrupts.clone(),
            print,
            completer,
        }
    }
}

/// Reports to standard error whether "always" answers were saved.
///
/// # Errors
/// When standard error cannot be written.
pub(crate) fn report_grants(updates: &[GrantUpdate]) -> Result<(), Failure> {
    let report =
        |(GrantUpdate::Saved(text) | GrantUpdate::Failed(text)): &GrantUpdate| writeln!(io::stderr(), "{text}");
    updates
        .iter()
        .try_for_each(report)
        .map_err(|error| Failure::output(&error))
}

fn can_ask() -> bool {
    let is_redirected = !(io::stdin().is_terminal() && io::stdout().is_terminal());
    let is_simple = variable("TERM").is_some_and(|name| SIMPLE_TERMINALS.contains(&name.to_lowercase().as_str()));
    match terminal::is_in_foreground() {
        Some(is_in_foreground) => is_in_foreground && !(is_redirected && is_simple),
        None => !is_redirected,
    }
}

/// Writes to standard error if that is a terminal, else to the controlling terminal.
fn print(text: &str) -> Result<(), Failure> {
    let written = match terminal::output() {
        Some(mut terminal) if !io::stderr().is_terminal() => terminal.write_all(text.as_bytes()),
        _ => io::stderr().write_all(text.as_bytes()),
    };
    written.map_err(|error| Failure::output(&error))
}

#[cfg(unix)]
mod terminal {
    use std::{
        fs::{File, OpenOptions},
        io::{self, Write},
    };

    use rustix::{
        process::getpgrp,
        termios::{OptionalActions, QueueSelector, Termios, tcflush, tcgetattr, tcgetpgrp, tcsetattr},
    };

    /// Turns off bracketed paste, which the line editor turns on.
    const END_BRACKETED_PASTE: &str = "\u{1b}[?2004l";

    /// The mode of the controlling terminal, which is restored on drop.
    pub(super) struct SavedMode(Option<(File, Termios)>);

    impl SavedMode {
        /// Saves the mode.
        pub(super) fn new() -> Self {
            let saved = open().and_then(|terminal| {
                let mode = tcgetattr(&terminal).ok()?;
                Some((terminal, mode))
            });
            Self(saved)
        }
    }

    impl Drop for SavedMode {
        fn drop(&mut self) {
            let Some((terminal, mode)) = &mut self.0 else { return };
            let is_changed = tcgetattr(&*terminal).is_ok_and(|now| now.local_modes != mode.local_modes);
            if is_changed {
                // Fails only if the terminal was closed.
                let _ = tcsetattr(&*terminal, OptionalActions::Now, mode);
                let _ = writeln!(terminal, "{END_BRACKETED_PASTE}");
            }
        }
    }

    fn open() -> Option<File> {
        OpenOptions::new().read(true).write(true).open("/dev/tty").ok()
    }

    /// Returns whether the program may read from the controlling terminal, or `None` if there is no such terminal. A
    /// background job that reads from it is stopped.
    pub(super) fn is_in_foreground() -> Option<bool> {
        let foreground = tcgetpgrp(open()?).ok();
        Some(foreground == Some(getpgrp()))
    }

    /// Returns the controlling terminal.
    pub(super) fn output() -> Option<File> {
        open()
    }

    /// Discards input that was typed but not read yet.
    pub(super) fn discard_input() {
        let _ = match open() {
            Some(terminal) => tcflush(terminal, QueueSelector::IFlush),
            None => tcflush(io::stdin(), QueueSelector::IFlush),
        };
    }
}

#[cfg(not(unix))]
mod terminal {
    use std::{
        fs::File,
        io::{self, IsTerminal},
    };

    /// Does nothing on this platform.
    pub(super) struct SavedMode;

    impl SavedMode {
        /// Does nothing on this platform.
        pub(super) fn new() -> Self {
            Self
        }
    }

    /// Returns whether the program seems to run in a console.
    pub(super) fn is_in_foreground() -> Option<bool> {
        Some(io::stdin().is_terminal() && io::stderr().is_terminal())
    }

    /// Returns `None`: standard error is the console.
    pub(super) fn output() -> Option<File> {
        None
    }

    /// Does nothing on this platform.
    pub(super) fn discard_input() {}
}
