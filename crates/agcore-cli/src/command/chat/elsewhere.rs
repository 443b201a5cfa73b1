//! A session that another program is using: who, since when, and what the user can do.

use std::time::Duration;

use agcore::session::{Hold, Holder, MessageFilter, MessageRole, SessionError, SessionStore, StoredMessage, stream_of};
use agcore_terminal::console::Line;
use tokio_util::sync::CancellationToken;

use super::{conversation::Conversation, saved::shortened};
use crate::exit::Failure;

/// The pause between two looks for new messages.
const PAUSE: Duration = Duration::from_millis(300);

/// The answers to the question of what to do.
enum Choice {
    Watch,
    Fork,
    Nothing,
}

/// Returns who else is using the session.
///
/// # Errors
/// When the database cannot be used.
pub(super) async fn holder(conversation: &Conversation) -> Result<Option<Holder>, Failure> {
    let name = stream_of(&conversation.session.actor().tenant, conversation.session.id());
    let taken: Result<Hold, SessionError> = conversation.chats.sessions.store().hold(&name).await;
    match taken {
        Ok(_hold) => Ok(None),
        Err(error) => match error.holder() {
            Some(holder) => Ok(Some(holder.clone())),
            None => Err(error.into()),
        },
    }
}

/// If another program is using the session, says so and offers to watch it until it is free, or to continue in a copy. Returns
/// whether the session can be used now.
///
/// # Errors
/// When the terminal was closed.
pub(super) async fn resolve(conversation: &mut Conversation) -> Result<bool, Failure> {
    let screen = conversation.screen;
    let holder = match holder(conversation).await {
        Ok(None) => return Ok(true),
        Ok(Some(holder)) => holder,
        Err(failure) => {
            screen.error(&failure.to_string())?;
            return Ok(false);
        }
    };
    screen.note(&format!("This session is in use by {holder}. It continues there."))?;
    match choose(conversation).await? {
        Choice::Watch => watch(conversation).await,
        Choice::Fork => fork(conversation).await,
        Choice::Nothing => {
            screen
                .note("Nothing was changed. /resume looks again; a message is refused while the session is in use.")?;
            Ok(false)
        }
    }
}

/// Opens the session again, as it is stored now.
///
/// # Errors
/// When the terminal was closed.
pub(super) async fn reopen(conversation: &mut Conversation) -> Result<bool, Failure> {
    let id = conversation.session.id().to_owned();
    match conversation.chats.reopen(&id, &conversation.agent).await {
        Ok(session) => {
            conversation.session = session;
            conversation.last = None;
            conversation.folder.undo().forget_turns();
            Ok(true)
        }
        Err(failure) => {
            conversation.screen.error(&failure.to_string())?;
            Ok(false)
        }
    }
}

async fn choose(conversation: &Conversation) -> Result<Choice, Failure> {
    conversation.console.discard_typed();
    loop {
        let prompt = "[w]atch until it is free, [f]ork to continue in a copy, [n]othing: ";
        match conversation.console.read_line(prompt).await? {
            Line::Entered(word) => match word.to_lowercase().as_str() {
                "w" | "watch" => return Ok(Choice::Watch),
                "f" | "fork" => return Ok(Choice::Fork),
                "n" | "nothing" => return Ok(Choice::Nothing),
                _ => {}
            },
            Line::Interrupted | Line::Escaped | Line::Closed => return Ok(Choice::Nothing),
        }
    }
}

/// Shows messages as they are stored, until no other program is using the session.
async fn watch(conversation: &mut Conversation) -> Result<bool, Failure> {
    let screen = conversation.screen;
    screen.note("Watching; Ctrl-C stops.")?;
    let token = CancellationToken::new();
    let guard = conversation.turns.interrupts.notify(&token);
    let store = conversation.chats.sessions.store();
    let (tenant, id) = (
        conversation.session.actor().tenant.clone(),
        conversation.session.id().to_owned(),
    );
    let newest = store.messages(&tenant, &id, &MessageFilter::new().with_last(1)).await;
    let mut last = newest?.last().map_or(0, |message| message.seq);
    loop {
        // Before the look for messages: those of the last turn are stored when it ends.
        let is_free = holder(conversation).await?.is_none();
        for message in newer(&*store, (&tenant, &id), last).await? {
            last = message.seq;
            screen.note(&line(&message))?;
        }
        if is_free {
            break;
        }
        tokio::select! {
            () = token.cancelled() => {
                screen.note("No longer watching. The session is still in use.")?;
                return Ok(false);
            }
            () = tokio::time::sleep(PAUSE) => {}
        }
    }
    drop(guard);
    screen.note("The session is free.")?;
    reopen(conversation).await
}

async fn newer(store: &dyn SessionStore, (tenant, id): (&str, &str), last: i64) -> Result<Vec<StoredMessage>, Failure> {
    let after = u64::try_from(last).unwrap_or(0);
    let filter = MessageFilter::new().after(after);
    Ok(store.messages(tenant, id, &filter).await?)
}

fn line(message: &StoredMessage) -> String {
    let speaker = match message.role {
        MessageRole::User => "you",
        MessageRole::Assistant => "agent",
        MessageRole::Tool => "tool",
        MessageRole::System => "system",
    };
    format!("{speaker}: {}", shortened(&message.content))
}

/// Continues in a copy.
async fn fork(conversation: &mut Conversation) -> Result<bool, Failure> {
    let screen = conversation.screen;
    let id = conversation.session.id().to_owned();
    match conversation.chats.fork(&id, &conversation.agent).await {
        Ok(session) => {
            screen.note(&format!("This is a copy now: session {}.", session.id()))?;
            conversation.session = session;
            Ok(true)
        }
        Err(failure) => {
            screen.error(&failure.to_string())?;
            Ok(false)
        }
    }
}
