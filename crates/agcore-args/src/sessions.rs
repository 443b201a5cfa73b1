//! Arguments of `sessions`.

use agcore_settings::SettingsOptions;
use clap::{Parser, Subcommand, ValueEnum, builder::NonEmptyStringValueParser};

#[derive(Debug, Subcommand)]
pub enum SessionsCommand {
    /// List the sessions, most recently changed first
    #[command(after_help = LIST_HELP)]
    List(ListArgs),
    /// Find sessions by a text in their messages or names
    #[command(after_help = SEARCH_HELP)]
    Search(SearchArgs),
    /// Show the conversation of a session
    #[command(after_help = SHOW_HELP)]
    Show(ShowArgs),
    /// Change the name of a session
    #[command(after_help = RENAME_HELP)]
    Rename(RenameArgs),
    /// Print a session as JSON Lines or in the form of ShareGPT
    #[command(after_help = EXPORT_HELP)]
    Export(ExportArgs),
    /// Run a session again with recorded answers, and stop at the first difference
    #[command(after_help = REPLAY_HELP)]
    Replay(Box<ReplayArgs>),
    /// Delete sessions with everything that belongs to them, except for their costs
    #[command(after_help = DELETE_HELP)]
    Delete(DeleteArgs),
}

/// The number of sessions that are listed by default.
const LIMIT: usize = 50;

const LIST_HELP: &str = "\
The columns are the beginning of the ID, the time of the last change (UTC), what became of the last turn, the title and the \
folder in which the session was started. `unfinished` is a turn that runs, or whose process died; `waiting` is one that waits \
for `agcore approvals`; `cancelled` is one that you stopped, for example with Ctrl-C. Chats in which no turn succeeded are left out: \
their conversation is empty. `agcore cost` contains them.

Examples:
  agcore sessions list
  agcore sessions list --here --limit 5
  agcore sessions list --json | jq -r '.sessions[].id'";

const SEARCH_HELP: &str = "\
Upper and lower case are the same. Sessions are listed as by `agcore sessions list`, each with the first place that was found.

Examples:
  agcore sessions search 'tram 28'
  agcore sessions search 里斯本 --here
  agcore sessions search lisbon --json | jq -r '.sessions[].id'";

const RENAME_HELP: &str = "\
Examples:
  agcore sessions rename 0199 'trip to Lisbon'
  agcore chat --resume 'trip to Lisbon'";

const SHOW_HELP: &str = "\
The beginning of an ID is enough, and so is the name of the session.

Examples:
  agcore sessions show 0199
  agcore sessions show 0199 --json | jq '.messages[].content'";

const EXPORT_HELP: &str = "\
In the format `messages`, the first line describes the session, and each of the others is a message. `trajectory` contains \
everything that happened, for `agcore sessions replay`. `sharegpt` is a single line with the conversation, for training. Lines of \
the first two have the member `type`. `html` is a page for a browser, in one file without scripts.

Examples:
  agcore sessions export 0199 > session.jsonl
  agcore sessions export 0199 --format trajectory > trajectory.jsonl
  agcore sessions export 0199 --format html > session.html
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
The conversation, all records of it and its parts are erased. What the messages cost stays in the database without their content, \
so that `agcore cost` shows the same sums as before; --with-costs removes that as well. Nothing is deleted unless all IDs are known. \
Without a terminal, --yes is needed.

Examples:
  agcore sessions delete 0199
  agcore sessions delete --yes 0199a1b2 0199c3d4";

/// Arguments of a list of sessions.
#[derive(Debug, Parser)]
pub struct ListArgs {
    /// List only sessions of the current directory
    #[arg(long)]
    pub here: bool,
    /// Also list chats in which no turn succeeded, so that there is nothing to continue
    #[arg(long)]
    pub all: bool,
    /// List at most this many
    #[arg(long, value_name = "N", default_value_t = LIMIT)]
    pub limit: usize,
    /// Print the list as JSON
    #[arg(long)]
    pub json: bool,
}

impl ListArgs {
    /// Returns whether any of them was given.
    pub fn are_given(&self) -> bool {
        self.here || self.all || self.json || self.limit != LIMIT
    }
}

/// Arguments of `sessions search`.
#[derive(Debug, Parser)]
pub struct SearchArgs {
    /// The text
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    pub text: String,
    #[command(flatten)]
    pub list: ListArgs,
}

/// Arguments of `sessions rename`.
#[derive(Debug, Parser)]
pub struct RenameArgs {
    #[command(flatten)]
    pub session: IdArgs,
    /// The new name
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    pub name: String,
}

/// A session.
#[derive(Debug, Parser)]
pub struct IdArgs {
    /// ID of the session, the beginning of it, or its name
    #[arg(value_name = "ID|NAME")]
    pub id: String,
}

/// The format of an exported session.
// The variants carry no documentation: clap would repeat it on every help page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ExportFormat {
    Messages,
    Trajectory,
    #[value(name = "sharegpt")]
    ShareGpt,
    Html,
}

/// Arguments of `sessions export`.
#[derive(Debug, Parser)]
pub struct ExportArgs {
    #[command(flatten)]
    pub session: IdArgs,
    /// Format of the output
    #[arg(long, value_enum, default_value_t = ExportFormat::Messages, ignore_case = true)]
    pub format: ExportFormat,
}

/// Arguments of `sessions replay`.
#[derive(Debug, Parser)]
pub struct ReplayArgs {
    /// ID of a session, the beginning of it, or a file that `sessions export --format trajectory` wrote
    #[arg(value_name = "ID|FILE")]
    pub session: String,
    #[command(flatten)]
    pub settings: SettingsOptions,
    /// Offer no tools to the model
    #[arg(long)]
    pub no_tools: bool,
    /// Print the result as JSON
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `sessions show`.
#[derive(Debug, Parser)]
pub struct ShowArgs {
    #[command(flatten)]
    pub session: IdArgs,
    /// Print the session as JSON
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `sessions delete`.
#[derive(Debug, Parser)]
pub struct DeleteArgs {
    /// IDs of the sessions, or the beginnings of them
    #[arg(value_name = "ID", required = true)]
    pub ids: Vec<String>,
    /// Remove the tokens and costs of the sessions, too
    #[arg(long)]
    pub with_costs: bool,
    /// Delete them without asking
    #[arg(long)]
    pub yes: bool,
}
