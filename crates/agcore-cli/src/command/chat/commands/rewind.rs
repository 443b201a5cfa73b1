//! `/undo`, `/rewind`, `/edit` and `/retry`: go back to an earlier message.

use std::{path::PathBuf, sync::Arc};

use agcore::{Message, chat::summary_of};
use agcore_terminal::{
    console::Line,
    render::{truncated, window_width, wrapped},
};
use agcore_workbench::program_tools::{Restored, restore};

use crate::command::chat::{conversation::Conversation, picker::numbers};
use crate::exit::Failure;

/// The number of messages to choose from.
const MAX_CHOICES: usize = 20;

/// The parts that go back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scope {
    Conversation,
    Files,
    Both,
}

/// Removes the last message and everything after it.
///
/// # Errors
/// When the terminal was closed.
pub(in crate::command::chat) async fn undo(conversation: &mut Conversation) -> Result<(), Failure> {
    let screen = conversation.screen;
    let messages = conversation.session.messages().await;
    let (left, message) = match without_last_turn(&messages) {
        Ok(found) => found,
        Err(error) => return screen.error(error),
    };
    let removed = messages.len() - left.len();
    let files = conversation.folder.undo().changed_in(1);
    if !set_messages(conversation, left, 1).await? {
        return Ok(());
    }
    conversation.last = Some(message.clone());
    let (text, plural) = (truncated(&message.text(), 60), if removed == 1 { "" } else { "s" });
    screen.note(&format!(
        "Removed {removed} message{plural}, from \"{text}\" on. What tools did is not reverted."
    ))?;
    match files.as_slice() {
        [] => Ok(()),
        files => screen.note(&format!(
            "Changed files stay as they are: {}. Before the next change, /rewind makes them as before.",
            listed(files)
        )),
    }
}

/// Lets the user choose an earlier message, and goes back to before it: the conversation, the files that tools have changed, or
/// both. Returns the text of the message, which can then be changed and sent; `None` if the conversation stays as it is.
///
/// # Errors
/// When the terminal was closed.
pub(in crate::command::chat) async fn rewind(conversation: &mut Conversation) -> Result<Option<String>, Failure> {
    let screen = conversation.screen;
    let messages = conversation.session.messages().await;
    let places = places(&messages);
    if places.is_empty() {
        let reason = without_last_turn(&messages)
            .err()
            .unwrap_or("the conversation is empty");
        screen.error(reason)?;
        return Ok(None);
    }
    let Some(chosen) = choose(conversation, &messages, &places).await? else {
        screen.note("The conversation stays as it is.")?;
        return Ok(None);
    };
    let count = places.len() - chosen;
    let files = conversation.folder.undo().changed_in(count);
    let scope = match files.as_slice() {
        [] => Scope::Conversation,
        files => match ask_scope(conversation, files).await? {
            Some(scope) => scope,
            None => {
                screen.note("Everything stays as it is.")?;
                return Ok(None);
            }
        },
    };
    if scope != Scope::Conversation {
        report(conversation, &restore(&conversation.folder, count))?;
    }
    if scope == Scope::Files {
        return Ok(None);
    }
    let at = places[chosen];
    let message = (*messages[at]).clone();
    if !set_messages(conversation, messages[..at].to_vec(), count).await? {
        return Ok(None);
    }
    conversation.last = Some(message.clone());
    screen.note("Change the message and press Enter to send it, or empty the line to leave it out.")?;
    Ok(Some(message.text().into_owned()))
}

/// Removes the last message and what came of it. Returns its text, to be changed and sent. Images and files are not part of it.
///
/// # Errors
/// When the terminal was closed.
pub(in crate::command::chat) async fn edit(conversation: &mut Conversation) -> Result<Option<String>, Failure> {
    match take_last(conversation, "there is no message to change").await? {
        None => Ok(None),
        Some(message) => {
            conversation.save_change().await?;
            conversation
                .screen
                .note("Change the message and press Enter to send it, or empty the line to leave it out.")?;
            Ok(Some(message.text().into_owned()))
        }
    }
}

/// Sends the last message again, in place of what came of it.
///
/// # Errors
/// When the terminal was closed.
pub(in crate::command::chat) async fn retry(conversation: &mut Conversation) -> Result<(), Failure> {
    match take_last(conversation, "there is no message to send again").await? {
        None => Ok(()),
        Some(message) => Box::pin(conversation.send_message(message)).await,
    }
}

/// Takes the last message, and removes it from the conversation if it is there.
async fn take_last(conversation: &mut Conversation, none: &str) -> Result<Option<Message>, Failure> {
    let screen = conversation.screen;
    let messages = conversation.session.messages().await;
    let (left, kept) = match (conversation.last.take(), without_last_turn(&messages)) {
        (None, Err(_)) => {
            screen.error(none)?;
            return Ok(None);
        }
        (Some(last), Err(_)) => return Ok(Some(last)),
        // A message that was discarded is newer than the last one of the conversation.
        (Some(last), Ok((_, kept))) if last != kept => return Ok(Some(last)),
        (_, Ok(found)) => found,
    };
    if let Err(error) = conversation.session.set_messages(left).await {
        screen.error(&error.to_string())?;
        return Ok(None);
    }
    conversation.folder.undo().remove_turns(1);
    Ok(Some(kept))
}

/// Replaces the messages, without those of the last `count` turns. Returns whether that was possible.
async fn set_messages(conversation: &mut Conversation, left: Vec<Arc<Message>>, count: usize) -> Result<bool, Failure> {
    if let Err(error) = conversation.session.set_messages(left).await {
        conversation.screen.error(&error.to_string())?;
        return Ok(false);
    }
    conversation.folder.undo().remove_turns(count);
    conversation.save_change().await?;
    Ok(true)
}

/// Returns the positions of the messages to which the conversation can go back.
fn places(messages: &[Arc<Message>]) -> Vec<usize> {
    let summary = messages.iter().rposition(|message| summary_of(message).is_some());
    let start = summary.map_or(0, |at| at + 1);
    let messages = messages.iter().enumerate().skip(start);
    let users = messages.filter(|(_, message)| matches!(***message, Message::User(_)));
    users.map(|(at, _)| at).collect()
}

/// Lets the user choose one of the newest messages. Returns its index among the places.
async fn choose(
    conversation: &Conversation,
    messages: &[Arc<Message>],
    places: &[usize],
) -> Result<Option<usize>, Failure> {
    let first = places.len().saturating_sub(MAX_CHOICES);
    let shown = &places[first..];
    let width = window_width().saturating_sub(5);
    for (number, at) in (1_u32..).zip(shown) {
        let text = truncated(messages[*at].text().trim(), width);
        conversation.screen.print(&format!("{number:>2}  {text}\n"))?;
    }
    let prompt = format!(
        "Go back to before which message? [{}, Enter for none]: ",
        numbers(shown.len())
    );
    loop {
        let Line::Entered(word) = conversation.console.read_line(&(wrapped(&prompt, 2) + " ")).await? else {
            return Ok(None);
        };
        if word.is_empty() {
            return Ok(None);
        }
        let number = word.parse::<usize>().unwrap_or(0);
        if (1..=shown.len()).contains(&number) {
            return Ok(Some(first + number - 1));
        }
    }
}

/// Asks what goes back. Returns `None` if nothing does.
async fn ask_scope(conversation: &Conversation, files: &[PathBuf]) -> Result<Option<Scope>, Failure> {
    let screen = conversation.screen;
    screen.note(&format!(
        "Files that tools have changed since: {}. Changes by commands are not known.",
        listed(files)
    ))?;
    let prompt = "Go back with [b]oth, only the [c]onversation, or only the [f]iles? Enter for nothing: ";
    loop {
        let Line::Entered(word) = conversation.console.read_line(&(wrapped(prompt, 2) + " ")).await? else {
            return Ok(None);
        };
        match word.to_lowercase().as_str() {
            "" => return Ok(None),
            "b" | "both" => return Ok(Some(Scope::Both)),
            "c" | "conversation" => return Ok(Some(Scope::Conversation)),
            "f" | "files" => return Ok(Some(Scope::Files)),
            _ => {}
        }
    }
}

fn report(conversation: &Conversation, result: &Restored) -> Result<(), Failure> {
    let screen = conversation.screen;
    if !result.restored.is_empty() {
        screen.note(&format!("As before: {}", listed(&result.restored)))?;
    }
    for (path, reason) in &result.kept {
        screen.error(&format!("{} stays as it is: {reason}", path.display()))?;
    }
    Ok(())
}

fn listed(files: &[PathBuf]) -> String {
    let names: Vec<String> = files
        .iter()
        .map(|file| truncated(&file.display().to_string(), 60))
        .collect();
    names.join(", ")
}

/// Removes the last message of the user and everything after it. Returns the remaining messages, and the removed one of the
/// user.
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

    fn messages() -> Vec<Arc<Message>> {
        [
            Message::user("one"),
            Message::assistant("1"),
            Message::user("two"),
            Message::assistant("2"),
        ]
        .map(Arc::new)
        .into()
    }

    #[test]
    fn removes_the_last_turn_only() {
        let messages = messages();
        let (left, message) = without_last_turn(&messages).unwrap();
        assert_eq!((left, message), (messages[..2].to_vec(), Message::user("two")));
        assert!(without_last_turn(&[]).is_err());
    }

    #[test]
    fn every_message_of_the_user_is_a_place() {
        assert_eq!(places(&messages()), [0, 2]);
        assert!(places(&[]).is_empty());
    }
}
