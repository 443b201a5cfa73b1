//! `/resume` and `/sessions`: other sessions of the user.

use agcore::memory::session::Session;

use super::{conversation::Conversation, picker::choose, settle::settle};
use crate::{exit::Failure, sessions::session_table};

/// The number of sessions that `/sessions` lists.
const MAX_LISTED: usize = 20;

/// Continues another session, or lets the user choose one.
///
/// # Errors
/// When the terminal was closed.
pub(super) async fn resume(conversation: &mut Conversation, id: &str) -> Result<(), Failure> {
    let screen = conversation.screen;
    let found = match id {
        "" => choose(&conversation.chats.sessions, &conversation.console).await,
        id => conversation.chats.sessions.find(id).await.map(Some),
    };
    match found {
        Ok(Some(session)) => open(conversation, &session).await,
        Ok(None) => screen.note("The conversation stays as it is."),
        Err(failure) => screen.error(&failure.to_string()),
    }
}

async fn open(conversation: &mut Conversation, selected: &Session) -> Result<(), Failure> {
    let screen = conversation.screen;
    if selected.id == conversation.session.id() {
        return screen.note("This is the current session.");
    }
    let agent = conversation.agent.clone();
    match conversation.chats.start(Some(selected), false, &agent).await {
        Ok(session) => {
            conversation.replace_session(session).await;
            conversation.last = None;
            conversation.attached.clear();
            settle(conversation).await
        }
        Err(failure) => screen.error(&failure.to_string()),
    }
}

/// Lists the newest sessions.
///
/// # Errors
/// When the terminal was closed.
pub(super) async fn show_sessions(conversation: &Conversation) -> Result<(), Failure> {
    let screen = conversation.screen;
    match conversation.chats.sessions.list(None, MAX_LISTED).await {
        Ok(sessions) if sessions.is_empty() => screen.note("There are no sessions yet."),
        Ok(sessions) => {
            screen.print(&session_table(&sessions))?;
            screen.note("/resume ID continues one of them; the beginning of the ID is enough.")
        }
        Err(failure) => screen.error(&failure.to_string()),
    }
}
