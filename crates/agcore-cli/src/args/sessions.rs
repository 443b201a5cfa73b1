//! Arguments of `sessions`.

use clap::{Parser, Subcommand};

#[derive(Debug, Subcommand)]
pub(crate) enum SessionsCommand {
    /// List the sessions, those changed last first
    #[command(after_help = LIST_HELP)]
    List(ListArgs),
    /// Show the conversation of a session
    #[command(after_help = SHOW_HELP)]
    Show(ShowArgs),
    /// Print a session as JSON Lines
    #[command(after_help = EXPORT_HELP)]
    Export(IdArgs),
    /// Delete sessions with everything that belongs to them
    #[command(after_help = DELETE_HELP)]
    Delete(DeleteArgs),
}

const LIST_HELP: &str = "\
The columns are the beginning of the ID, the time of the last change (UTC), what became of the last turn, the title and the \
folder in which the session was started. `unfinished` is a turn that runs, or whose process died; `waiting` is one that waits \
for `agcore approvals`.

Examples:
  agcore sessions list
  agcore sessions list --here --limit 5
  agcore sessions list --json | jq -r '.sessions[].id'";

const SHOW_HELP: &str = "\
The beginning of an ID is enough.

Examples:
  agcore sessions show 0199
  agcore sessions show 0199 --json | jq '.messages[].content'";

const EXPORT_HELP: &str = "\
The first line describes the session, and each of the others is a message. Lines have the member `type`.

Example:
  agcore sessions export 0199 > session.jsonl";

const DELETE_HELP: &str = "\
Nothing is deleted unless all IDs are known. Without a terminal, --yes is needed.

Examples:
  agcore sessions delete 0199
  agcore sessions delete --yes 0199a1b2 0199c3d4";

/// Arguments of `sessions list`.
#[derive(Debug, Parser)]
pub(crate) struct ListArgs {
    /// List only sessions of the current directory
    #[arg(long)]
    pub(crate) here: bool,
    /// List at most this many
    #[arg(long, value_name = "N", default_value_t = 50)]
    pub(crate) limit: usize,
    /// Print the list as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// A session.
#[derive(Debug, Parser)]
pub(crate) struct IdArgs {
    /// ID of the session, or the beginning of it
    #[arg(value_name = "ID")]
    pub(crate) id: String,
}

/// Arguments of `sessions show`.
#[derive(Debug, Parser)]
pub(crate) struct ShowArgs {
    #[command(flatten)]
    pub(crate) session: IdArgs,
    /// Print the session as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `sessions delete`.
#[derive(Debug, Parser)]
pub(crate) struct DeleteArgs {
    /// IDs of the sessions, or the beginnings of them
    #[arg(value_name = "ID", required = true)]
    pub(crate) ids: Vec<String>,
    /// Delete them without asking
    #[arg(long)]
    pub(crate) yes: bool,
}
