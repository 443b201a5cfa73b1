//! Runs the slash commands of a chat.

pub(super) mod agents;
pub(super) mod clipboard;
pub(super) mod compact;
pub(super) mod folders;
pub(super) mod mcp;
pub(super) mod model;
pub(super) mod reports;
pub(super) mod theme;
pub(super) mod resume;
pub(super) mod rewind;

use agcore::chat::Content;
use agcore_workbench::tool_list;

use self::{
    agents::agents,
    compact::compact,
    model::model,
    resume::{rename, resume, show_sessions},
    rewind::{edit, retry, rewind, undo},
    theme::theme,
};
use super::{
    background::{jobs, show_todos},
    conversation::Conversation,
    disabled::Part,
    saved::{load, save},
    slash::{Kind, help},
};
use crate::{exit::Failure, project_list::skill_list};

/// The next step of the chat after a line was handled.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// Reads the next line.
    Continue,
    /// Lets the user change this line, which was not sent.
    Edit(String),
    /// Turns plan mode on or off.
    Plan,
    /// Shows or changes the rules for the tools, by this argument.
    Permissions(String),
    /// Ends the chat.
    Exit,
}

impl Next {
    /// Lets the user change a line, if there is one.
    fn edit(line: Option<String>) -> Self {
        line.map_or(Self::Continue, Self::Edit)
    }
}

/// The message of `/init`.
const INIT: &str = "Read the files of this folder and write AGENTS.md for coding agents that work here: the purpose of the \
    project, its structure, the commands to build, test and check it, and rules that are not obvious from the code. Keep it \
    under 60 lines and state only what you have seen. If AGENTS.md exists, improve it instead.";

/// The message of `/review`, without the changes to review.
const REVIEW: &str = "Review the changes below as a careful colleague. Read the difference, and the code around it where that matters, \
    with your tools. Report problems of correctness, security and missing tests first, each with its file and line, why it is one, and \
    a fix; then what would make the change easier to understand. Say so if you find nothing. Do not change any file.";

/// The changes that `/review` reviews by default.
const REVIEW_DEFAULT: &str =
    "the changes of the working tree that are not committed (`git status`, `git diff HEAD`, and new files)";

/// The message of `/commit`, without the wishes of the user.
const COMMIT: &str = "Commit the changes of this repository. First read them with `git status`, `git diff --cached` and `git diff`, and \
    at the style of earlier messages with `git log -8 --oneline`. If something is staged, commit exactly that; otherwise stage the \
    files that belong together, by name, and leave out what looks generated, secret or unrelated. Show me the message and the list of \
    files, then run a single `git commit` with this message through the shell. Do not push, do not amend, and do not skip hooks. \
    If there is nothing to commit, or a hook fails, say so and stop.";

/// Returns a message with what was typed after the name of its command.
fn with_typed(message: &str, name: &str, typed: &str) -> Content {
    match typed {
        "" => Content::from(message),
        typed => Content::from(format!("{message}\n\n{name}: {typed}")),
    }
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
        Kind::Help => screen.list(&help(&conversation.tools.project))?,
        Kind::Tools => screen.list(&tools(conversation))?,
        Kind::Mcp => conversation.show_part(&mcp::listing(conversation), Part::Servers)?,
        Kind::Skills => conversation.show_part(&skill_list(&conversation.tools.project), Part::Project)?,
        Kind::Agents => agents(conversation, argument)?,
        Kind::Prompt => mcp::prompt(conversation, argument).await?,
        Kind::Permissions => return Ok(Next::Permissions(argument.to_owned())),
        Kind::AddDir => folders::add_dir(conversation, argument)?,
        Kind::Hooks => conversation.show_part(&reports::hooks(conversation), Part::Hooks)?,
        Kind::Init => Box::pin(conversation.send(Content::from(INIT))).await?,
        Kind::Review => {
            let what = if argument.is_empty() { REVIEW_DEFAULT } else { argument };
            Box::pin(conversation.send(with_typed(REVIEW, "To review", what))).await?;
        }
        Kind::Commit => Box::pin(conversation.send(with_typed(COMMIT, "Also", argument))).await?,
        Kind::Theme => theme(conversation, argument)?,
        Kind::Status => screen.print(&reports::status(conversation).await)?,
        Kind::Usage => reports::usage(conversation).await?,
        Kind::Context => reports::context(conversation).await?,
        Kind::Last => show_last(conversation)?,
        Kind::Todos => show_todos(conversation, false)?,
        Kind::Jobs => jobs(conversation, argument).await?,
        Kind::Model => model(conversation, argument).await?,
        Kind::Undo => undo(conversation).await?,
        Kind::Rewind => return rewind(conversation).await.map(Next::edit),
        Kind::Retry => retry(conversation).await?,
        Kind::Edit => return edit(conversation).await.map(Next::edit),
        Kind::Copy => clipboard::copy(conversation).await?,
        Kind::Save => save(conversation, argument).await?,
        Kind::Load => load(conversation, argument).await?,
        Kind::Resume => resume(conversation, argument).await?,
        Kind::Sessions => show_sessions(conversation, argument).await?,
        Kind::Rename => rename(conversation, argument).await?,
        Kind::Compact => compact(conversation, argument).await?,
        Kind::Clear => clear(conversation).await?,
    }
    Ok(Next::Continue)
}

/// Shows the reasoning of the last turn, and the last tool call with all of its arguments and its result.
///
/// # Errors
/// When the terminal was closed.
pub(super) fn show_last(conversation: &Conversation) -> Result<(), Failure> {
    match conversation.turns.log.details() {
        Some(details) => conversation.screen.print(&details),
        None => conversation
            .screen
            .note("No tool was called yet, and the last turn had no reasoning."),
    }
}

fn tools(conversation: &Conversation) -> String {
    let session = &conversation.session;
    let tools = tool_list(
        session.bundle().tools(),
        &conversation.turns.policy(),
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
    conversation.folder.undo().forget_turns();
    let old = conversation.replace_session(new).await;
    match old {
        Some(id) => screen.note(&format!("New conversation. The previous one: /resume {id}")),
        None => screen.note("Conversation cleared."),
    }
}
