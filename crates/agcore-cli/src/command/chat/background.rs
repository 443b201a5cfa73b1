//! `/todos` and `/jobs`: the steps of the model, and its commands in the background.

use agcore_terminal::render::{sanitized_line, todo_count, todo_list, window_width};
use agcore_workbench::chat_tools::{ChatTools, JobInfo, JobState, Jobs};

use super::conversation::Conversation;
use crate::exit::Failure;

/// Shows the todos of the session. Without any, `is_quiet` shows nothing.
///
/// # Errors
/// When the terminal was closed.
pub(super) fn show_todos(conversation: &Conversation, is_quiet: bool) -> Result<(), Failure> {
    let screen = conversation.screen;
    let todos = ChatTools::todos(&conversation.session).unwrap_or_default();
    match todo_count(&todos) {
        None if is_quiet => Ok(()),
        None => screen.note("There are no todos. The model notes them for work with several steps."),
        Some(count) => {
            screen.note(&format!("Todos, {count}:"))?;
            screen.print(&todo_list(&todos, screen.palette))
        }
    }
}

/// Lists the background commands, or stops one of them.
///
/// # Errors
/// When the terminal was closed.
pub(super) async fn jobs(conversation: &Conversation, argument: &str) -> Result<(), Failure> {
    let screen = conversation.screen;
    let Some(jobs) = conversation.tools.chat.as_ref().map(ChatTools::jobs) else {
        return screen.note("The model has no tools, so there are no background commands.");
    };
    match argument.split_once(char::is_whitespace).unwrap_or((argument, "")) {
        ("", _) => list(conversation, jobs),
        ("stop", id) if !id.trim().is_empty() => stop(conversation, jobs, id.trim()).await,
        _ => screen.error("type /jobs, or /jobs stop NUMBER"),
    }
}

/// Ends all background commands, because the chat ends.
///
/// # Errors
/// When the terminal was closed.
pub(super) async fn end_jobs(conversation: &Conversation) -> Result<(), Failure> {
    let Some(chat) = &conversation.tools.chat else {
        return Ok(());
    };
    match chat.jobs().end().await {
        0 => Ok(()),
        1 => conversation.screen.note("1 background command was ended."),
        count => conversation
            .screen
            .note(&format!("{count} background commands were ended.")),
    }
}

fn list(conversation: &Conversation, jobs: &Jobs) -> Result<(), Failure> {
    let (screen, list) = (conversation.screen, jobs.list());
    if list.is_empty() {
        return screen.note("There are no background commands.");
    }
    // The last column stays empty, so that no terminal wraps a line.
    let width = window_width().saturating_sub(1);
    let lines = list.iter().flat_map(|job| job.lines(width));
    screen.print(&lines.map(|line| line + "\n").collect::<String>())?;
    screen.note("/jobs stop NUMBER ends one of them; all end with this chat.")
}

async fn stop(conversation: &Conversation, jobs: &Jobs, id: &str) -> Result<(), Failure> {
    let screen = conversation.screen;
    let found = match id.parse() {
        Ok(id) => jobs.stop(id).await,
        Err(_) => None,
    };
    match found {
        Some(JobInfo {
            id,
            state: JobState::Ended(end),
            ..
        }) => screen.note(&format!("Command {id}: {end}.")),
        Some(_) => Ok(()),
        None => screen.error(&format!(
            "there is no background command {}; /jobs lists them",
            sanitized_line(id)
        )),
    }
}
