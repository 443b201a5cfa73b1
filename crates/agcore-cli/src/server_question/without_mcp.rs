//! Questions of MCP servers in a build without MCP, where there are none.

use agcore::AgentSession;
use agcore_terminal::{console::Console, interrupt::Interrupts, render::Palette};

use super::ServerQuestion;
use crate::{dialog::DialogOutcome, exit::Failure};

/// Answers requests of servers with the model of a session: there are none.
#[derive(Clone)]
pub(crate) struct Completer;

impl Completer {
    /// Creates a completer.
    pub(crate) fn of(_: &AgentSession) -> Self {
        Self
    }
}

/// Shows the question of a server: there are none.
#[derive(Clone)]
pub(crate) struct ServerDialog {
    /// Where answers would be typed.
    pub(crate) console: Console,
    /// The styles of the output.
    pub(crate) palette: Palette,
    /// Receives Ctrl-C.
    pub(crate) interrupts: Interrupts,
    /// Writes to the terminal.
    pub(crate) print: fn(&str) -> Result<(), Failure>,
    /// Asks the model of the chat.
    pub(crate) completer: Completer,
}

impl ServerDialog {
    /// Is never called: a question cannot exist.
    pub(crate) async fn answer(self, question: ServerQuestion) -> Result<DialogOutcome, Failure> {
        match question {}
    }
}
