//! `/permissions`: which tools may run, and the answers that were kept.

use agcore::tools::{Grant, GrantStore, RegisteredTool};

use super::conversation::Conversation;
use crate::{exit::Failure, render::sanitized_line, table::table};

/// Shows the rules and the answers, or revokes the answers about a tool.
///
/// # Errors
/// When the terminal was closed.
pub(super) async fn permissions(conversation: &Conversation, argument: &str) -> Result<(), Failure> {
    match argument.split_once(char::is_whitespace).unwrap_or((argument, "")) {
        ("", _) => show(conversation).await,
        ("revoke", tool) if !tool.trim().is_empty() => revoke(conversation, tool.trim()).await,
        _ => conversation
            .screen
            .error("type /permissions, or /permissions revoke TOOL"),
    }
}

async fn show(conversation: &Conversation) -> Result<(), Failure> {
    let (session, policy) = (&conversation.session, conversation.turns.policy());
    let tools = session.bundle().tools().list();
    let row = |tool: &RegisteredTool| {
        let access = policy.access(tool, Some(session.tools()));
        [tool.name().to_string(), access.to_string()]
    };
    let rows: Vec<_> = tools.iter().map(row).collect();
    let file = sanitized_line(&policy.grants().place().to_string());
    let kept = policy.grants().list(&session.actor()).await.unwrap_or_default();
    let answers =
        answers("until this chat ends", &session.tools().grants()) + &answers(&format!("always, in {file}"), &kept);
    let answers = match answers.as_str() {
        "" => "No answers are kept.\n".to_owned(),
        answers => format!("Allowed by your answers:\n{answers}/permissions revoke TOOL revokes an answer.\n"),
    };
    let mode = policy.mode().as_str();
    let rows = table(&rows);
    conversation
        .screen
        .list(&format!("Permission mode: {mode}\n{rows}{answers}"))
}

fn answers(duration: &str, grants: &[Grant]) -> String {
    let line = |grant: &Grant| {
        let limits = if grant.arguments.is_empty() {
            "any arguments"
        } else {
            "some arguments"
        };
        format!(
            "  {} with {limits}, {duration}\n",
            sanitized_line(&grant.tool.to_string())
        )
    };
    grants.iter().map(line).collect()
}

async fn revoke(conversation: &Conversation, tool: &str) -> Result<(), Failure> {
    let (session, screen) = (&conversation.session, conversation.screen);
    let policy = conversation.turns.policy();
    let store = policy.grants();
    let mut count = session.tools().revoke_tool(tool);
    let kept = store.list(&session.actor()).await.unwrap_or_default();
    for grant in kept.iter().filter(|grant| grant.tool.to_string() == tool) {
        match store.revoke(grant).await {
            Ok(was_kept) => count += usize::from(was_kept),
            Err(error) => return screen.error(&error.to_string()),
        }
    }
    let tool = sanitized_line(tool);
    match count {
        0 => screen.error(&format!(
            "no answer about {tool} is kept; /permissions lists the answers"
        )),
        _ => screen.note(&format!("Revoked. Calls of {tool} follow the rules again.")),
    }
}
