//! The heading of the prompt: the model, the branch, the context and the cost.

use agcore_terminal::render::{sanitized_line, truncated};
use agcore_workbench::git_branch;

use crate::{
    command::chat::{commands::reports::estimated_tokens, conversation::Conversation},
    exit::Failure,
};

/// The longest name of a model or a branch that is shown, in columns.
const MAX_NAME: usize = 30;

/// Shows the heading of the prompt, and the name of the session in the title of the window.
///
/// # Errors
/// When the terminal was closed.
pub(super) async fn show_heading(conversation: &mut Conversation) -> Result<(), Failure> {
    let name = name(conversation).await;
    conversation.turns.window.set_name(&name);
    let status = match conversation.shows_status {
        true => status(conversation).await,
        false => String::new(),
    };
    conversation.screen.heading("you", &status)
}

/// Returns the name of the session, or that of the folder if it has none.
async fn name(conversation: &Conversation) -> String {
    let session = conversation.chats.sessions.exact(conversation.session.id()).await;
    let title = session.ok().flatten().and_then(|session| session.title);
    let folder = || {
        let name = conversation.folder.path().file_name();
        name.unwrap_or_default().to_string_lossy().into_owned()
    };
    title.unwrap_or_else(folder)
}

/// Returns the model, the branch, the context and the cost, without those that are unknown.
async fn status(conversation: &Conversation) -> String {
    let cost = cost(conversation).await;
    let parts = [
        Some(truncated(&conversation.model, MAX_NAME)),
        git_branch(conversation.folder.path()).map(|branch| truncated(&branch, MAX_NAME)),
        context(conversation).await,
        cost.map(|cost| sanitized_line(&cost)),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" · ")
}

/// Returns how much of the context window the next request fills, by estimate.
async fn context(conversation: &Conversation) -> Option<String> {
    let window = conversation
        .session
        .bundle()
        .provider()
        .info()
        .capabilities
        .context_window;
    let window = window.filter(|window| *window > 0)?;
    let tokens = estimated_tokens(conversation).await?;
    Some(format!("{}% of context", tokens.saturating_mul(100).div_ceil(window)))
}

/// Returns the cost of the session.
async fn cost(conversation: &Conversation) -> Option<String> {
    let costs = conversation.turns.log.costs.as_ref()?;
    let calls = conversation.session.usage().await.calls;
    let [_, _, session] = costs.texts(conversation.turns.log.turn.calls, calls);
    (calls > 0 && session.contains(|c: char| c.is_ascii_digit())).then_some(session)
}
