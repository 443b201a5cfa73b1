//! Arguments of `catalog`.

use std::path::PathBuf;

use clap::{Parser, Subcommand};

#[derive(Debug, Subcommand)]
pub enum CatalogCommand {
    /// Check a catalog of vendors, keys, models and prices
    #[command(after_help = CHECK_HELP)]
    Check(CheckArgs),
    /// Update the list prices of vendors from a public list
    #[command(after_help = UPDATE_HELP)]
    Update(UpdateArgs),
    /// Compute what messages cost, from their usage and the prices that apply
    #[command(after_help = PRICE_HELP)]
    Price(PriceArgs),
}

const CHECK_HELP: &str = "\
Reads a catalog in TOML or YAML and lists everything that is wrong with it, each with its line and column; the exit code is \
then 1. Nothing is sent, and keys are not needed. Without FILE, checks the list prices of vendors that are in force.

Examples:
  agcore catalog check models.toml
  agcore catalog check models.yaml --role intent --role execution";

const UPDATE_HELP: &str = "\
The program contains the list prices of many vendors, of the day on which it was made. This command shows how a newer list differs \
from the prices in force, and asks before it writes snapshot.jsonl next to your own agcore.toml. Your catalog.toml is not changed, \
and has precedence. Without a terminal, --yes is needed. Nothing is ever updated by itself.

The whole list is refused if it is damaged, or if a price is negative or not a number. A model keeps its price if the list has \
none, an implausible one, or 0 although the model costs money. Remove snapshot.jsonl to go back to the prices that are built in.

Examples:
  agcore catalog update --from models.dev
  agcore catalog update --from litellm --yes
  agcore catalog update --from model_prices_and_context_window.json";

const PRICE_HELP: &str = "\
Each line of FILE describes a message: {id, session_currency, prices: [{model, currency, tiers: [{max_prompt_tokens, input, \
output, hit, write, reasoning}]}], calls: [{model, usage, provider_cost, provider_currency}]}. Rates are decimal texts per \
million tokens; the last tier has no limit (null).

Prints a line {id, cost, currency, cost_source, tiers, error} for each, in the same order. A line that cannot be priced has an \
error, and the next one is read.

Examples:
  agcore catalog price messages.jsonl
  agcore catalog price < messages.jsonl | jq -r .cost";

/// Arguments of `catalog price`.
#[derive(Debug, Parser)]
pub struct PriceArgs {
    /// File with JSON Lines; standard input if it is missing or `-`
    #[arg(value_name = "FILE")]
    pub file: Option<PathBuf>,
}

/// Arguments of `catalog update`.
#[derive(Debug, Parser)]
pub struct UpdateArgs {
    /// The list: `models.dev` or `litellm`, which are downloaded, a URL, or a file with one of these lists
    #[arg(long, value_name = "LIST")]
    pub from: String,
    /// Write the prices without asking
    #[arg(long)]
    pub yes: bool,
    /// Show all differences, instead of the first ones
    #[arg(long)]
    pub all: bool,
}

/// Arguments of `catalog check`.
#[derive(Debug, Parser)]
pub struct CheckArgs {
    /// Catalog in TOML, YAML or JSON, by the end of its name; the list prices of vendors if it is missing
    #[arg(value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// Role that must have a model; can be repeated
    #[arg(long = "role", value_name = "ROLE")]
    pub roles: Vec<String>,
    /// Print the result as JSON
    #[arg(long)]
    pub json: bool,
}
