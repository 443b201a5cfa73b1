//! Arguments of `approvals`.

use clap::{Parser, Subcommand};

#[derive(Debug, Subcommand)]
pub enum ApprovalsCommand {
    /// List the calls that wait for approval
    #[command(after_help = LIST_HELP)]
    List(ListApprovalsArgs),
    /// Allow a call
    #[command(after_help = ALLOW_HELP)]
    Allow(AllowArgs),
    /// Deny a call
    #[command(after_help = DENY_HELP)]
    Deny(DenyArgs),
}

const LIST_HELP: &str = "\
A call waits if its run was started with --suspend, or if it was running when its process died. The arguments are those with \
which the call runs. The run does not continue by itself: `agcore -p --resume SESSION` continues it.

Examples:
  agcore approvals list
  agcore approvals list --json | jq -r '.approvals[] | \"\\(.id) \\(.tool)\"'";

const ALLOW_HELP: &str = "\
Allowing a call again changes nothing; a call that was denied cannot be allowed any more.

Example:
  agcore approvals allow 3f2a";

const DENY_HELP: &str = "\
The model receives the reason.

Example:
  agcore approvals deny 3f2a --reason 'Use the staging server.'";

/// Arguments of `approvals list`.
#[derive(Debug, Parser)]
pub struct ListApprovalsArgs {
    /// List answered and withdrawn questions, too
    #[arg(long)]
    pub all: bool,
    /// Print the list as JSON
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `approvals allow`.
#[derive(Debug, Parser)]
pub struct AllowArgs {
    /// IDs of the calls in `agcore approvals list`, or the beginnings of them
    #[arg(value_name = "ID", required = true)]
    pub ids: Vec<String>,
}

/// Arguments of `approvals deny`.
#[derive(Debug, Parser)]
pub struct DenyArgs {
    /// IDs of the calls in `agcore approvals list`, or the beginnings of them
    #[arg(value_name = "ID", required = true)]
    pub ids: Vec<String>,
    /// The reason, for the model
    #[arg(long, value_name = "TEXT", default_value = "The user answered no.")]
    pub reason: String,
}
