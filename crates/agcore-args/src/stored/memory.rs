//! Arguments of `memory`.

use clap::{Parser, Subcommand};

use super::store::FileArgs;

#[derive(Debug, Subcommand)]
pub enum MemoryCommand {
    /// List what was remembered
    #[command(after_help = LIST_HELP)]
    List(MemoryListArgs),
    /// Delete what was remembered
    #[command(after_help = FORGET_HELP)]
    Forget(ForgetArgs),
}

const LIST_HELP: &str = "\
Examples:
  agcore memory list
  agcore memory list --prefix notes/ --limit 20
  agcore memory list --json | jq -r '.items[].content'";

const FORGET_HELP: &str = "\
If one of the ids does not exist, nothing is deleted. --prefix deletes all items whose ids begin with a text; `agcore memory \
list --prefix` shows them first.

Examples:
  agcore memory forget notes/tea
  agcore memory forget --prefix notes/";

/// Arguments of `memory list`.
#[derive(Debug, Parser)]
pub struct MemoryListArgs {
    /// Only items whose ids begin with TEXT
    #[arg(long, value_name = "TEXT")]
    pub prefix: Option<String>,
    /// Maximum number of items, the newest first; by default all
    #[arg(long, value_name = "N")]
    pub limit: Option<u64>,
    #[command(flatten)]
    pub database: FileArgs,
}

/// Arguments of `memory forget`.
#[derive(Debug, Parser)]
pub struct ForgetArgs {
    /// Ids of the items
    #[arg(value_name = "ID", required_unless_present = "prefix", conflicts_with = "prefix")]
    pub ids: Vec<String>,
    /// Delete all items whose ids begin with TEXT
    #[arg(long, value_name = "TEXT", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    pub prefix: Option<String>,
    #[command(flatten)]
    pub database: FileArgs,
}
