//! `/permissions`: which tools may run, and the answers that were kept.

use agcore::tools::{Grant, GrantStore, RegisteredTool};
use agcore_terminal::{render::sanitized_line, table::table};
use agcore_workbench::grants::full_rule;

use crate::command::chat::conversation::Conversation;
use crate::exit::Failure;

/// Shows the rules and the answers, or revokes one answer by its number, or all about a tool.
///
/// # Errors
/// When the terminal was closed.
pub(in crate::command::chat) async fn permissions(conversation: &Conversation, argument: &str) -> Result<(), Failure> {
    match argument.split_once(char::is_whitespace).unwrap_or((argument, "")) {
        ("", _) => show(conversation).await,
        ("revoke", tool) if !tool.trim().is_empty() => revoke(conversation, tool.trim()).await,
        _ => conversation
            .screen
            .error("type /permissions, or /permissions revoke NUMBER or TOOL"),
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
    let answers: String = (1..)
        .zip(answers(conversation).await)
        .map(|(number, (grant, is_kept))| {
            let duration = match is_kept {
                true => format!("always, in {file}"),
                false => "until this chat ends".to_owned(),
            };
            format!("  {number} {}, {duration}\n", full_rule(&grant))
        })
        .collect();
    let answers = match answers.as_str() {
        "" => "No answers are kept.\n".to_owned(),
        answers => format!(
            "Allowed by your answers:\n{answers}/permissions revoke NUMBER revokes an answer, and /permissions revoke TOOL all about a tool.\n"
        ),
    };
    let mode = policy.mode().as_str();
    let rows = table(&rows);
    conversation
        .screen
        .list(&format!("Permission mode: {mode}\n{rows}{answers}"))
}

/// Returns the answers that are kept, each with whether that is for later chats as well. An answer for good is also one of the
/// session.
async fn answers(conversation: &Conversation) -> Vec<(Grant, bool)> {
    let (session, policy) = (&conversation.session, conversation.turns.policy());
    let kept = policy.grants().list(&session.actor()).await.unwrap_or_default();
    let mut answers: Vec<(Grant, bool)> = session
        .tools()
        .grants()
        .into_iter()
        .map(|grant| (grant, false))
        .collect();
    answers.retain(|(grant, _)| !kept.contains(grant));
    answers.extend(kept.into_iter().map(|grant| (grant, true)));
    answers
}

/// Revokes the answer with this number in the list.
async fn revoke_one(conversation: &Conversation, number: usize) -> Result<(), Failure> {
    let (session, screen) = (&conversation.session, conversation.screen);
    let found = answers(conversation).await.into_iter().nth(number.wrapping_sub(1));
    let Some((grant, is_kept)) = found else {
        return screen.error(&format!("there is no answer {number}; /permissions lists the answers"));
    };
    session.tools().revoke(&grant);
    if is_kept && let Err(error) = conversation.turns.policy().grants().revoke(&grant).await {
        return screen.error(&error.to_string());
    }
    screen.note(&format!("Revoked: {}", full_rule(&grant)))
}

async fn revoke(conversation: &Conversation, tool: &str) -> Result<(), Failure> {
    if let Ok(number) = tool.parse() {
        return revoke_one(conversation, number).await;
    }
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
