//! `/usage`, `/context` and `/status`.

use std::collections::BTreeMap;

use agcore::{
    chat::{HeuristicEstimator, TokenEstimator, Usage, UsageTracker},
    llm::Capabilities,
    tools::{Permission, RegisteredTool},
};
use agcore_terminal::{
    render::{sanitized_line, shown_lines, todo_count},
    table::table,
};
use agcore_workbench::chat_tools::ChatTools;

use super::folders::folders;
use crate::command::chat::conversation::Conversation;
use crate::exit::Failure;

/// Lists the commands of `[hooks]`.
pub(in crate::command::chat) fn hooks(conversation: &Conversation) -> String {
    let lines = conversation.chats.hooks.list();
    match lines.is_empty() {
        true => {
            "There are no hooks. The table [hooks] in agcore.toml sets them; that of a folder needs trust.\n".to_owned()
        }
        false => {
            let shown = |line: &String| shown_lines(line).collect::<Vec<_>>().join("\n    │ ") + "\n";
            lines.iter().map(shown).collect()
        }
    }
}

/// Shows the tokens of the last call, the last turn and the chat. Cached tokens are shown apart: their price differs.
///
/// # Errors
/// When the terminal was closed.
pub(in crate::command::chat) async fn usage(conversation: &Conversation) -> Result<(), Failure> {
    let (log, screen) = (&conversation.turns.log, conversation.screen);
    let mut call = UsageTracker::default();
    if let Some(usage) = &log.call {
        call.record(Some(usage));
    }
    let all = conversation.session.usage().await;
    screen.print(&table(&rows([&call, &log.turn, &all])))?;
    screen.note("Tokens of the last model call, the last turn and this chat. Input is without cached tokens.")?;
    match &log.costs {
        Some(costs) => {
            let texts = costs.texts(log.turn.calls, all.calls);
            let row = |(name, text): (&str, String)| [format!("cost of the {name}"), text];
            let names = ["call", "turn", "session"];
            screen.print(&table(&names.into_iter().zip(texts).map(row).collect::<Vec<_>>()))?;
            screen.note(&format!("By the prices in {}.", sanitized_line(costs.source())))?;
        }
        None => screen.note(
            "Costs are unknown: this server is not that of a known vendor. Set prices in agcore.toml, under [prices].",
        )?,
    }
    match all.calls - all.calls_with_usage {
        0 => Ok(()),
        missing => screen.note(&format!(
            "The server did not report the tokens of {missing} of {} calls.",
            all.calls
        )),
    }
}

fn rows(trackers: [&UsageTracker; 3]) -> [[String; 4]; 6] {
    let row = |name: &str, cell: fn(&UsageTracker) -> Option<u64>| {
        let [call, turn, chat] = trackers.map(|tracker| match cell(tracker) {
            Some(count) => count.to_string(),
            None => "–".to_owned(),
        });
        [name.to_owned(), call, turn, chat]
    };
    [
        ["", "call", "turn", "chat"].map(str::to_owned),
        row("input", |tracker| uncached(&tracker.usage)),
        row("cache read", |tracker| tracker.usage.cached()),
        row("cache write", |tracker| tracker.usage.cache_write()),
        row("output", |tracker| tracker.usage.completion_tokens),
        row("model calls", |tracker| Some(tracker.calls)),
    ]
}

/// Returns the prompt tokens that were neither read from nor written to a cache.
fn uncached(usage: &Usage) -> Option<u64> {
    let cached = usage
        .cached()
        .unwrap_or(0)
        .saturating_add(usage.cache_write().unwrap_or(0));
    Some(usage.prompt_tokens?.saturating_sub(cached))
}

/// Shows what fills the context window, by estimate.
///
/// # Errors
/// When the terminal was closed.
pub(in crate::command::chat) async fn context(conversation: &Conversation) -> Result<(), Failure> {
    let estimator = HeuristicEstimator::default();
    let bundle = conversation.session.bundle();
    let system = estimator.text(&conversation.agent.system_prompt);
    let tools = bundle.tools().list();
    let tool_tokens = weights(&tools, &estimator);
    let messages = conversation.session.messages().await;
    let message_tokens: u64 = messages.iter().map(|message| estimator.message(message)).sum();
    let waiting: u64 = conversation.attached.iter().map(|block| estimator.text(block)).sum();
    let total = system + tool_tokens.iter().map(|(_, _, tokens)| tokens).sum::<u64>() + message_tokens + waiting;
    conversation.chats.window.learn(&conversation.model).await;
    let Capabilities { context_window, .. } = bundle.provider().info().capabilities;
    let percent = |tokens: u64| match context_window {
        Some(window) if window > 0 => format!("{}%", tokens.saturating_mul(100).div_ceil(window)),
        _ => String::new(),
    };
    let row = |name: String, tokens: u64| [name, tokens.to_string(), percent(tokens)];
    let mut rows = vec![row("instructions".to_owned(), system)];
    rows.extend(tool_tokens.into_iter().map(|(server, count, tokens)| match server {
        None => row(format!("tools ({count})"), tokens),
        Some(server) => row(format!("tools of {} ({count})", sanitized_line(&server)), tokens),
    }));
    rows.push(row(format!("messages ({})", messages.len()), message_tokens));
    if waiting > 0 {
        rows.push(row("output of ! commands, not sent yet".to_owned(), waiting));
    }
    rows.push(row("total".to_owned(), total));
    let window = match context_window {
        Some(window) => format!("The context window has {window} tokens."),
        None => "The size of the context window is not known.".to_owned(),
    };
    conversation.screen.print(&table(&rows))?;
    conversation
        .screen
        .note(&format!("Estimated tokens of the next request. {window}"))
}

/// Returns the tokens of the next request, by estimate; `None` for a conversation without messages.
pub(in crate::command::chat) async fn estimated_tokens(conversation: &Conversation) -> Option<u64> {
    let estimator = HeuristicEstimator::default();
    let messages = conversation.session.messages().await;
    let tools = conversation.session.bundle().tools().list();
    let tools: u64 = tools.iter().map(|tool| definition(tool, &estimator)).sum();
    let messages_only: u64 = messages.iter().map(|message| estimator.message(message)).sum();
    (!messages.is_empty()).then(|| estimator.text(&conversation.agent.system_prompt) + tools + messages_only)
}

/// Returns the number of tools and the tokens of their definitions: those of the program, then those of each MCP server.
fn weights(tools: &[RegisteredTool], estimator: &HeuristicEstimator) -> Vec<(Option<String>, usize, u64)> {
    let mut servers: BTreeMap<Option<String>, (usize, u64)> = BTreeMap::from([(None, (0, 0))]);
    for tool in tools {
        let mut names = tool.permissions().iter().map(Permission::as_str);
        let server = names.find_map(|name| name.strip_prefix("mcp:").map(str::to_owned));
        let (count, tokens) = servers.entry(server).or_default();
        *count += 1;
        *tokens += definition(tool, estimator);
    }
    servers
        .into_iter()
        .map(|(server, (count, tokens))| (server, count, tokens))
        .collect()
}

fn definition(tool: &RegisteredTool, estimator: &HeuristicEstimator) -> u64 {
    let text = serde_json::to_string(&tool.definition()).unwrap_or_default();
    estimator.text(&text)
}

/// Returns the model, the server and the files in use.
pub(in crate::command::chat) async fn status(conversation: &Conversation) -> String {
    let session = &conversation.session;
    let messages = session.messages().await.len();
    let calls = session.usage().await.calls;
    let grants = conversation.turns.policy().grants().place().to_string();
    let todos = ChatTools::todos(session).and_then(|todos| todo_count(&todos));
    let jobs = conversation.tools.chat.as_ref().map_or(0, |chat| chat.jobs().running());
    let mut rows = vec![
        ["agcore".to_owned(), env!("CARGO_PKG_VERSION").to_owned()],
        ["model".to_owned(), sanitized_line(&conversation.model)],
        ["provider".to_owned(), conversation.provider.clone()],
        ["session".to_owned(), session.id().to_owned()],
        ["messages".to_owned(), messages.to_string()],
        ["model calls".to_owned(), calls.to_string()],
        ["tools".to_owned(), session.bundle().tools().list().len().to_string()],
        ["grants file".to_owned(), sanitized_line(&grants)],
    ];
    rows.extend(todos.map(|count| ["todos".to_owned(), count]));
    if jobs > 0 {
        rows.push(["background commands".to_owned(), format!("{jobs} running")]);
    }
    rows.extend(folders(&conversation.folder));
    table(&rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cached_tokens_are_not_counted_twice() {
        let mut usage = Usage::new(100, 5);
        usage.prompt_tokens_details.cached_tokens = Some(60);
        usage.prompt_tokens_details.cache_write_tokens = Some(30);
        let mut tracker = UsageTracker::default();
        tracker.record(Some(&usage));
        let rows = rows([&tracker, &tracker, &UsageTracker::default()]);
        let expected = ["10", "60", "30", "5", "1"];
        let column = |at: usize| rows[1..].iter().map(|row| row[at].clone()).collect::<Vec<_>>();
        assert_eq!(column(1), expected);
        assert_eq!(column(3), ["–", "–", "–", "–", "0"]);
    }
}
