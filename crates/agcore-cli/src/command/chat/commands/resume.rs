//! `/resume` and `/sessions`: other sessions of the user.

use agcore::session::Session;
use agcore_terminal::render::sanitized_line;

use crate::command::chat::{
    conversation::Conversation,
    elsewhere::reopen,
    last_model::{note_other_provider, switch_to_last},
    picker::{choose, choose_from},
    settle::settle,
};
use crate::{
    exit::Failure,
    sessions::{Extent, Sessions},
};

/// The number of sessions that `/sessions` lists.
const MAX_LISTED: usize = 20;

/// Continues another session, which is named by its id, its name, or a text in it. Without one, and if several sessions contain the
/// text, the user chooses.
///
/// # Errors
/// When the terminal was closed.
pub(in crate::command::chat) async fn resume(conversation: &mut Conversation, wanted: &str) -> Result<(), Failure> {
    let screen = conversation.screen;
    let (sessions, console) = (conversation.chats.sessions.clone(), conversation.console.clone());
    let found = match wanted {
        "" => choose(&sessions, &console, None).await,
        wanted => match sessions.matching(wanted).await {
            Ok(mut found) if found.len() == 1 => Ok(found.pop()),
            Ok(found) => {
                screen.note(&format!("Several sessions match `{}`.", sanitized_line(wanted)))?;
                choose_from(&sessions, &console, found).await
            }
            Err(_)
                if sessions
                    .search(wanted, None, Extent::Started, 1)
                    .await
                    .is_ok_and(|found| found.is_empty()) =>
            {
                Err(Failure::usage(format!(
                    "no session has this name or ID, or contains `{}`; /sessions lists the sessions",
                    sanitized_line(wanted)
                )))
            }
            Err(_) => choose(&sessions, &console, Some(wanted)).await,
        },
    };
    match found {
        Ok(Some(session)) => open(conversation, &session).await,
        Ok(None) => screen.note("The conversation stays as it is."),
        Err(failure) => screen.error(&failure.to_string()),
    }
}

/// Changes the name of the session.
///
/// # Errors
/// When the terminal was closed.
pub(in crate::command::chat) async fn rename(conversation: &Conversation, name: &str) -> Result<(), Failure> {
    let (screen, id) = (conversation.screen, conversation.session.id());
    match conversation.chats.sessions.rename(id, name).await {
        Ok(()) => screen.note(&format!("This session has the name `{}`.", sanitized_line(name))),
        Err(failure) => screen.error(&failure.to_string()),
    }
}

async fn open(conversation: &mut Conversation, selected: &Session) -> Result<(), Failure> {
    let screen = conversation.screen;
    if selected.id == conversation.session.id() {
        screen.note("This is the current session. It is opened again.")?;
        return match reopen(conversation).await? {
            true => settle(conversation).await,
            false => Ok(()),
        };
    }
    let agent = conversation.agent.clone();
    match conversation.chats.start(Some(selected), false, &agent).await {
        Ok(session) => {
            conversation.replace_session(session).await;
            conversation.last = None;
            conversation.folder.undo().forget_turns();
            conversation.attached.clear();
            switch_to_last(conversation).await?;
            note_other_provider(conversation).await?;
            settle(conversation).await
        }
        Err(failure) => screen.error(&failure.to_string()),
    }
}

/// Lists the newest sessions, or those that contain a text.
///
/// # Errors
/// When the terminal was closed.
pub(in crate::command::chat) async fn show_sessions(conversation: &Conversation, text: &str) -> Result<(), Failure> {
    let screen = conversation.screen;
    match (listed(&conversation.chats.sessions, text).await, text) {
        (Ok(table), "") if table.is_empty() => screen.note("There are no sessions yet."),
        (Ok(table), text) if table.is_empty() => {
            screen.note(&format!("No session contains `{}`.", sanitized_line(text)))
        }
        (Ok(table), _) => {
            screen.print(&table)?;
            screen.note("/resume ID continues one of them; the beginning of the ID is enough, and so is its name.")
        }
        (Err(failure), _) => screen.error(&failure.to_string()),
    }
}

async fn listed(sessions: &Sessions, text: &str) -> Result<String, Failure> {
    match text {
        "" => {
            sessions
                .table(&sessions.list(None, Extent::Started, MAX_LISTED).await?)
                .await
        }
        text => {
            let found = sessions.search(text, None, Extent::Started, MAX_LISTED).await?;
            sessions.found_table(&found).await
        }
    }
}
