//! The commands inside a chat.

use agcore::AgentSession;

use super::screen::Screen;
use crate::{exit::Failure, listing::listing, policy::Policy, render::usage_line};

/// What happens after a line.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Next {
    Go,
    Leave,
}

const HELP: &str = "\
/tools   the tools: allowed, asked about or denied
/cost    tokens and calls of this chat
/clear   forget the conversation
/help    this list
/exit    leave; Ctrl-D does, too
";

/// Runs a line that begins with a slash.
///
/// # Errors
/// When the terminal has gone.
pub(super) async fn run(line: &str, session: &AgentSession, policy: &Policy, screen: Screen) -> Result<Next, Failure> {
    match line.split_whitespace().next().unwrap_or(line) {
        "/exit" | "/quit" => return Ok(Next::Leave),
        "/help" => screen.print(HELP)?,
        "/tools" => screen.print(&tools(session, policy))?,
        "/cost" => screen.print(&format!("{}\n", usage_line(&session.usage().await)))?,
        "/clear" => match session.set_messages(Vec::new()).await {
            Ok(()) => screen.note("The conversation is forgotten.")?,
            Err(error) => screen.fault(&error.to_string())?,
        },
        unknown => screen.fault(&format!("There is no command {unknown}; /help lists them."))?,
    }
    Ok(Next::Go)
}

fn tools(session: &AgentSession, policy: &Policy) -> String {
    match listing(session.bundle().tools(), policy, Some(session.tools())) {
        none if none.is_empty() => "No tools are offered.\n".to_owned(),
        tools => tools,
    }
}
