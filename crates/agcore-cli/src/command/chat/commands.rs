//! Runs the slash commands of a chat.

use std::sync::Arc;

use agcore::{Message, chat::summary_of};

use super::{
    agents::agents,
    clipboard,
    compact::compact,
    conversation::Conversation,
    mcp,
    permissions::permissions,
    reports,
    resume::{resume, show_sessions},
    saved::{load, save},
    slash::{Kind, help},
};
use crate::{
    exit::Failure,
    listing::listing,
    project_list::skill_list,
    render::{sanitized_line, truncated},
};

/// The next step of the chat after a line was handled.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// Reads the next line.
    Continue,
    /// Lets the user change this line, which was not sent.
    Edit(String),
    /// Turns plan mode on or off.
    Plan,
    /// Ends the chat.
    Exit,
}

/// Runs a command.
///
/// # Errors
/// When the terminal was closed.
pub(super) async fn run(kind: Kind, argument: &str, conversation: &mut Conversation) -> Result<Next, Failure> {
    let screen = conversation.screen;
    match kind {
        Kind::Exit => return Ok(Next::Exit),
        Kind::Plan => return Ok(Next::Plan),
        Kind::Help => screen.list(&help())?,
        Kind::Tools => screen.list(&tools(conversation))?,
        Kind::Mcp => screen.list(&mcp::listing(conversation))?,
        Kind::Skills => screen.list(&skill_list(&conversation.tools.project))?,
        Kind::Agents => agents(conversation, argument)?,
        Kind::Prompt => mcp::prompt(conversation, argument).await?,
        Kind::Permissions => permissions(conversation, argument).await?,
        Kind::Status => screen.print(&reports::status(conversation).await)?,
        Kind::Usage => reports::usage(conversation).await?,
        Kind::Context => reports::context(conversation).await?,
        Kind::Last => show_last_call(conversation)?,
        Kind::Model if argument.is_empty() => screen.print(&format!("{}\n", conversation.model))?,
        Kind::Model => {
            conversation.switch_model(argument);
            screen.note(&format!(
                "Model set to {}. Conversation kept.",
                sanitized_line(argument)
            ))?;
        }
        Kind::Undo => undo(conversation).await?,
        Kind::Retry => retry(conversation).await?,
        Kind::Edit => return edit(conversation).await,
        Kind::Copy => clipboard::copy(conversation).await?,
        Kind::Save => save(conversation, argument).await?,
        Kind::Load => load(conversation, argument).await?,
        Kind::Resume => resume(conversation, argument).await?,
        Kind::Sessions => show_sessions(conversation).await?,
        Kind::Compact => compact(conversation, argument).await?,
        Kind::Clear => clear(conversation).await?,
    }
    Ok(Next::Continue)
}

/// Shows the last tool call with all of its arguments and its result.
///
/// # Errors
/// When the terminal was closed.
pub(super) fn show_last_call(conversation: &Conversation) -> Result<(), Failure> {
    match conversation.turns.log.last_call() {
        Some(call) => conversation.screen.print(&call),
        None => conversation.screen.note("No tool was called yet."),
    }
}

fn tools(conversation: &Conversation) -> String {
    let session = &conversation.session;
    let tools = listing(
        session.bundle().tools(),
        &conversation.turns.policy,
        Some(session.tools()),
    );
    match tools {
        tools if tools.is_empty() => "The model has no tools.\n".to_owned(),
        tools => tools,
    }
}

async fn clear(conversation: &mut Conversation) -> Result<(), Failure> {
    let screen = conversation.screen;
    let agent = conversation.agent.clone();
    let new = match conversation.chats.start(None, false, &agent).await {
        Ok(session) => session,
        Err(failure) => return screen.error(&failure.to_string()),
    };
    conversation.attached.clear();
    conversation.last = None;
    let old = conversation.replace_session(new).await;
    match old {
        Some(id) => screen.note(&format!("New conversation. The previous one: /resume {id}")),
        None => screen.note("Conversation cleared."),
    }
}

async fn undo(conversation: &mut Conversation) -> Result<(), Failure> {
    let screen = conversation.screen;
    let messages = conversation.session.messages().await;
    let (left, message) = match without_last_turn(&messages) {
        Ok(found) => found,
        Err(error) => return screen.error(error),
    };
    let removed = messages.len() - left.len();
    if let Err(error) = conversation.session.set_messages(left).await {
        return screen.error(&error.to_string());
    }
    conversation.save_change().await?;
    conversation.last = Some(message.clone());
    let (text, plural) = (truncated(&message.text(), 60), if removed == 1 { "" } else { "s" });
    screen.note(&format!(
        "Removed {removed} message{plural}, from \"{text}\" on. What tools did is not reverted."
    ))
}

/// Removes the last message and what came of it, and lets the user change and send it. Images and files are not part of the
/// text.
async fn edit(conversation: &mut Conversation) -> Result<Next, Failure> {
    let screen = conversation.screen;
    let messages = conversation.session.messages().await;
    let found = without_last_turn(&messages);
    let message = match (conversation.last.take(), found) {
        (None, Err(_)) => {
            screen.error("there is no message to change")?;
            return Ok(Next::Continue);
        }
        (Some(last), Err(_)) => last,
        // A message that was discarded is newer than the last one of the conversation.
        (Some(last), Ok((_, kept))) if last != kept => last,
        (_, Ok((left, kept))) => {
            if let Err(error) = conversation.session.set_messages(left).await {
                screen.error(&error.to_string())?;
                return Ok(Next::Continue);
            }
            conversation.save_change().await?;
            kept
        }
    };
    screen.note("Change the message and press Enter to send it, or empty the line to leave it out.")?;
    Ok(Next::Edit(message.text().into_owned()))
}

/// Sends the last message again, in place of what came of it.
async fn retry(conversation: &mut Conversation) -> Result<(), Failure> {
    let screen = conversation.screen;
    let messages = conversation.session.messages().await;
    let found = without_last_turn(&messages);
    let message = match (conversation.last.take(), found) {
        (None, Err(_)) => return screen.error("there is no message to send again"),
        (Some(last), Err(_)) => last,
        // A message that was discarded is newer than the last one of the conversation.
        (Some(last), Ok((_, kept))) if last != kept => last,
        (_, Ok((left, kept))) => {
            if let Err(error) = conversation.session.set_messages(left).await {
                return screen.error(&error.to_string());
            }
            kept
        }
    };
    Box::pin(conversation.send_message(message)).await
}

/// Removes the last message of the user and everything after it. Returns what is left, and the message.
///
/// # Errors
/// When there is no such message, or it is part of a summary.
fn without_last_turn(messages: &[Arc<Message>]) -> Result<(Vec<Arc<Message>>, Message), &'static str> {
    let last = messages
        .iter()
        .rposition(|message| matches!(**message, Message::User(_)));
    let Some((at, message)) = last.and_then(|at| Some((at, messages.get(at)?))) else {
        return Err("the conversation is empty");
    };
    if summary_of(message).is_some() {
        return Err("the rest of the conversation is a summary, which cannot be undone; /clear removes it");
    }
    Ok((messages[..at].to_vec(), (**message).clone()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn removes_the_last_turn_only() {
        let messages: Vec<_> = [
            Message::user("one"),
            Message::assistant("1"),
            Message::user("two"),
            Message::assistant("2"),
        ]
        .map(Arc::new)
        .into();
        let (left, message) = without_last_turn(&messages).unwrap();
        assert_eq!((left, message), (messages[..2].to_vec(), Message::user("two")));
        assert!(without_last_turn(&[]).is_err());
    }
}
