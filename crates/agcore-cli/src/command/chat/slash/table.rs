//! The table of the slash commands, and its rows in `/help`.

use agcore_terminal::render::columns;

/// The column of the descriptions in `/help` and in the list of keys.
pub(super) const COLUMN: usize = 15;

/// A command of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::command::chat) enum Kind {
    Help,
    Model,
    Tools,
    Mcp,
    Skills,
    Agents,
    Prompt,
    Permissions,
    AddDir,
    Hooks,
    Init,
    Review,
    Commit,
    Theme,
    Plan,
    Status,
    Usage,
    Context,
    Last,
    Todos,
    Jobs,
    Undo,
    Rewind,
    Retry,
    Edit,
    Copy,
    Save,
    Load,
    Resume,
    Sessions,
    Rename,
    Compact,
    Clear,
    Exit,
}

/// Whether a command takes an argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Argument {
    None,
    Optional,
    Required,
}

#[derive(Debug)]
pub(super) struct Entry {
    pub(super) kind: Kind,
    pub(super) name: &'static str,
    pub(super) aliases: &'static [&'static str],
    pub(super) argument: Argument,
    /// The argument as shown to users.
    pub(super) usage: &'static str,
    pub(super) help: &'static str,
}

/// All commands.
pub(super) const TABLE: [Entry; 34] = [
    entry(Kind::Help, "/help", &[], Argument::None, "", "list the commands"),
    entry(
        Kind::Model,
        "/model",
        &[],
        Argument::Optional,
        "[NAME]",
        "show the models, or switch to another one",
    ),
    entry(
        Kind::Tools,
        "/tools",
        &[],
        Argument::None,
        "",
        "list the tools and whether they may run",
    ),
    entry(Kind::Mcp, "/mcp", &[], Argument::None, "", "list the MCP servers"),
    entry(
        Kind::Skills,
        "/skills",
        &[],
        Argument::None,
        "",
        "list the skills that the model can read",
    ),
    entry(
        Kind::Agents,
        "/agents",
        &["/agent"],
        Argument::Optional,
        "[NAME]",
        "list the agents in files, or continue with one of them",
    ),
    entry(
        Kind::Prompt,
        "/prompt",
        &[],
        Argument::Optional,
        "[NAME]",
        "list the prompts of MCP servers, or send one: /prompt SERVER:NAME KEY=VALUE",
    ),
    entry(
        Kind::Permissions,
        "/permissions",
        &[],
        Argument::Optional,
        "[…]",
        "show rules and kept answers; allow, ask or deny RULE adds one, remove NUMBER …",
    ),
    entry(
        Kind::AddDir,
        "/add-dir",
        &[],
        Argument::Optional,
        "[DIR]",
        "let the tools use another folder, or list those they may use",
    ),
    entry(
        Kind::Hooks,
        "/hooks",
        &[],
        Argument::None,
        "",
        "list the commands that run before and after tools, messages and turns",
    ),
    entry(
        Kind::Init,
        "/init",
        &[],
        Argument::None,
        "",
        "have the model describe this folder in AGENTS.md",
    ),
    entry(
        Kind::Review,
        "/review",
        &[],
        Argument::Optional,
        "[WHAT]",
        "have the model review changes: WHAT, or those that are not committed",
    ),
    entry(
        Kind::Commit,
        "/commit",
        &[],
        Argument::Optional,
        "[WISHES]",
        "have the model commit the changes; you are asked before it does",
    ),
    entry(
        Kind::Theme,
        "/theme",
        &[],
        Argument::Optional,
        "[NAME]",
        "list the themes, or change the colors of this chat",
    ),
    entry(
        Kind::Plan,
        "/plan",
        &[],
        Argument::None,
        "",
        "turn plan mode on, in which only read-only tools run, or off",
    ),
    entry(
        Kind::Status,
        "/status",
        &[],
        Argument::None,
        "",
        "show the model, the server and the files in use",
    ),
    entry(
        Kind::Usage,
        "/usage",
        &["/cost"],
        Argument::None,
        "",
        "show tokens and costs of the last call, the last turn and this chat",
    ),
    entry(
        Kind::Context,
        "/context",
        &[],
        Argument::None,
        "",
        "show what fills the context window",
    ),
    entry(
        Kind::Last,
        "/last",
        &[],
        Argument::None,
        "",
        "show the last tool call and the last reasoning in full, as does Ctrl-O",
    ),
    entry(
        Kind::Todos,
        "/todos",
        &[],
        Argument::None,
        "",
        "show the steps that the model has noted for its work",
    ),
    entry(
        Kind::Jobs,
        "/jobs",
        &[],
        Argument::Optional,
        "[stop N]",
        "list the commands in the background, or stop one",
    ),
    entry(
        Kind::Undo,
        "/undo",
        &[],
        Argument::None,
        "",
        "remove the last message and its answer",
    ),
    entry(
        Kind::Rewind,
        "/rewind",
        &[],
        Argument::None,
        "",
        "go back to an earlier message, with the files or without, as does Esc Esc",
    ),
    entry(
        Kind::Retry,
        "/retry",
        &[],
        Argument::None,
        "",
        "send the last message again",
    ),
    entry(
        Kind::Edit,
        "/edit",
        &[],
        Argument::None,
        "",
        "change the last message and send it again",
    ),
    entry(
        Kind::Copy,
        "/copy",
        &[],
        Argument::None,
        "",
        "copy the last answer to the clipboard",
    ),
    entry(
        Kind::Save,
        "/save",
        &["/export"],
        Argument::Required,
        "FILE",
        "save the conversation as JSON, or for people as .md or .html",
    ),
    entry(
        Kind::Load,
        "/load",
        &[],
        Argument::Required,
        "FILE",
        "continue a conversation from a file",
    ),
    entry(
        Kind::Resume,
        "/resume",
        &[],
        Argument::Optional,
        "[ID|NAME|TEXT]",
        "continue another session, or choose one that contains TEXT",
    ),
    entry(
        Kind::Sessions,
        "/sessions",
        &[],
        Argument::Optional,
        "[TEXT]",
        "list the newest sessions, or those that contain TEXT",
    ),
    entry(
        Kind::Rename,
        "/rename",
        &[],
        Argument::Required,
        "NAME",
        "name this session, for lists and for /resume",
    ),
    entry(
        Kind::Compact,
        "/compact",
        &[],
        Argument::Optional,
        "[FOCUS]",
        "summarize the older part, with attention to FOCUS",
    ),
    entry(
        Kind::Clear,
        "/clear",
        &["/new"],
        Argument::None,
        "",
        "start a new conversation",
    ),
    entry(
        Kind::Exit,
        "/exit",
        &["/quit"],
        Argument::None,
        "",
        "leave the chat, as does Ctrl-D",
    ),
];

const fn entry(
    kind: Kind,
    name: &'static str,
    aliases: &'static [&'static str],
    argument: Argument,
    usage: &'static str,
    help: &'static str,
) -> Entry {
    Entry {
        kind,
        name,
        aliases,
        argument,
        usage,
        help,
    }
}

/// Formats a command and its description in two columns.
pub(super) fn row(usage: &str, help: &str) -> String {
    let usage = usage.trim_end();
    let space = " ".repeat(COLUMN.saturating_sub(columns(usage)));
    match space.as_str() {
        // A single space would not separate columns.
        "" | " " => format!("{usage}\n{:COLUMN$}{help}\n", ""),
        space => format!("{usage}{space}{help}\n"),
    }
}

/// Returns the name of a command, and its other names.
pub(super) fn names(entry: &Entry) -> impl Iterator<Item = &'static str> + use<> {
    [entry.name].into_iter().chain(entry.aliases.iter().copied())
}
