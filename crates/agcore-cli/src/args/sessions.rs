//! Arguments of `sessions`.

use clap::{Parser, Subcommand, ValueEnum};

use super::settings::SettingsArgs;

#[derive(Debug, Subcommand)]
pub(crate) enum SessionsCommand {
    /// List the sessions, those changed last first
    #[command(after_help = LIST_HELP)]
    List(ListArgs),
    /// Show the conversation of a session
    #[command(after_help = SHOW_HELP)]
    Show(ShowArgs),
    /// Print a session as JSON Lines or in the form of ShareGPT
    #[command(after_help = EXPORT_HELP)]
    Export(ExportArgs),
    /// Run a session again with recorded answers, and stop at the first difference
    #[command(after_help = REPLAY_HELP)]
    Replay(Box<ReplayArgs>),
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
In the format `messages`, the first line describes the session, and each of the others is a message. `trajectory` contains \
everything that happened, for `agcore sessions replay`. `sharegpt` is a single line with the conversation, for training. Lines of \
the first two have the member `type`.

Examples:
  agcore sessions export 0199 > session.jsonl
  agcore sessions export 0199 --format trajectory > trajectory.jsonl
  for id in $(agcore sessions list --json | jq -r '.sessions[].id'); do
    agcore sessions export $id --format sharegpt
  done > training.jsonl";

const REPLAY_HELP: &str = "\
The session is run with the current settings and tools. The model is not called, no tool runs, and no questions are asked: the recorded \
answers are used. The exit code is 1 if the session takes another course now, for example because a tool does not exist any more. \
Instructions and parameters are not compared. No API key is needed.

Examples:
  agcore sessions replay 0199
  agcore sessions replay trajectory.jsonl";

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

/// The format of an exported session.
// The variants carry no documentation: clap would repeat it on every help page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportFormat {
    Messages,
    Trajectory,
    #[value(name = "sharegpt")]
    ShareGpt,
}

/// Arguments of `sessions export`.
#[derive(Debug, Parser)]
pub(crate) struct ExportArgs {
    #[command(flatten)]
    pub(crate) session: IdArgs,
    /// Format of the output
    #[arg(long, value_enum, default_value_t = ExportFormat::Messages, ignore_case = true)]
    pub(crate) format: ExportFormat,
}

/// Arguments of `sessions replay`.
#[derive(Debug, Parser)]
pub(crate) struct ReplayArgs {
    /// ID of a session, the beginning of it, or a file that `sessions export --format trajectory` wrote
    #[arg(value_name = "ID|FILE")]
    pub(crate) session: String,
    #[command(flatten)]
    pub(crate) settings: SettingsArgs,
    /// Offer no tools to the model
    #[arg(long)]
    pub(crate) no_tools: bool,
    /// Print the result as JSON
    #[arg(long)]
    pub(crate) json: bool,
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
