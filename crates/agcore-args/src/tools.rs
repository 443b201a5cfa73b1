//! Arguments of `tools`.

use agcore_settings::PolicyOptions;
use clap::{Parser, Subcommand};

#[derive(Debug, Subcommand)]
pub enum ToolsCommand {
    /// List the tools, the permissions they need, and whether they may run
    #[command(after_help = LIST_HELP)]
    List(ListArgs),
    /// Print everything about a tool as JSON, including the schema of its arguments
    #[command(after_help = SHOW_HELP)]
    Show {
        /// Name of the tool
        name: String,
        #[command(flatten)]
        policy: PolicyOptions,
    },
    /// Call a tool and print its result
    #[command(after_help = CALL_HELP)]
    Call(CallArgs),
}

const LIST_HELP: &str = "\
Examples:
  agcore tools list
  agcore tools list --config strict.toml
  agcore tools list --json | jq -r '.tools[].name'";

const SHOW_HELP: &str = "\
Examples:
  agcore tools show save_note
  agcore tools show arithmetic | jq .parameters";

const CALL_HELP: &str = "\
The call follows the same rules as a call made by a model: [permissions] in agcore.toml, stored \"always allow\" \
answers, and otherwise a question at the terminal, even if standard input or output is redirected. Without a terminal, \
or in a background job, a call that needs approval is denied; pass --yes to allow it.

The exit code is 1 if the tool fails or the call is denied, 2 if there is no such tool or the arguments are invalid, and \
6 if no one could be asked.

Examples:
  agcore tools call current_time
  agcore tools call arithmetic '{\"operation\": \"divide\", \"a\": 1, \"b\": 3}'
  echo '{\"text\": \"buy milk\"}' | agcore tools call save_note --yes";

/// Arguments of `tools list`.
#[derive(Debug, Parser)]
pub struct ListArgs {
    #[command(flatten)]
    pub policy: PolicyOptions,
    /// Print everything about each tool as a JSON object
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `tools call`.
#[derive(Debug, Parser)]
pub struct CallArgs {
    /// Name of the tool
    pub name: String,
    /// Arguments as a JSON object; without it, reads standard input unless that is a terminal
    pub json: Option<String>,
    #[command(flatten)]
    pub policy: PolicyOptions,
    /// Run the tool without asking for approval; calls denied by a rule stay denied
    #[arg(long)]
    pub yes: bool,
}
