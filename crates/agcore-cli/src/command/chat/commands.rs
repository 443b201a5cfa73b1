//! The commands inside a chat.

use agcore::AgentSession;

use super::screen::Screen;
use crate::{exit::Failure, render::usage_line};

/// What happens after a line.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Next {
    Go,
    Leave,
}

const HELP: &str = "\
/tools   the tools that the model may use
/cost    tokens and calls of this chat
/clear   forget the conversation
/help    this list
/exit    leave; Ctrl-D does, too
";

/// Runs a line that begins with a slash.
///
/// # Errors
/// When the terminal has gone.
pub(super) async fn run(line: &str, session: &AgentSession, screen: Screen) -> Result<Next, Failure> {
    match line.split_whitespace().next().unwrap_or(line) {
        "/exit" | "/quit" => return Ok(Next::Leave),
        "/help" => screen.print(HELP)?,
        "/tools" => screen.print(&tools(session))?,
        "/cost" => screen.print(&format!("{}\n", usage_line(&session.usage().await)))?,
        "/clear" => match session.set_messages(Vec::new()).await {
            Ok(()) => screen.note("The conversation is forgotten.")?,
            Err(error) => screen.fault(&error.to_string())?,
        },
        unknown => screen.fault(&format!("There is no command {unknown}; /help lists them."))?,
    }
    Ok(Next::Go)
}

fn tools(session: &AgentSession) -> String {
    let tools = session.bundle().tools().list();
    if tools.is_empty() {
        return "No tools are offered.\n".to_owned();
    }
    tools
        .iter()
        .map(|tool| format!("{}: {}\n", tool.name(), tool.tool().description()))
        .collect()
}
