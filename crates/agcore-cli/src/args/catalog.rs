//! Arguments of `catalog`.

use std::path::PathBuf;

use clap::{Parser, Subcommand};

#[derive(Debug, Subcommand)]
pub(crate) enum CatalogCommand {
    /// Check a catalog of vendors, keys, models and prices
    #[command(after_help = CHECK_HELP)]
    Check(CheckArgs),
    /// Compute what messages cost, from their usage and the prices that apply
    #[command(after_help = PRICE_HELP)]
    Price(PriceArgs),
}

const CHECK_HELP: &str = "\
Reads a catalog in TOML or YAML and lists everything that is wrong with it, each with its line and column; the exit code is \
then 1. Nothing is sent, and keys are not needed.

Examples:
  agcore catalog check models.toml
  agcore catalog check models.yaml --role intent --role execution";

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
pub(crate) struct PriceArgs {
    /// File with JSON Lines; standard input if it is missing or `-`
    #[arg(value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
}

/// Arguments of `catalog check`.
#[derive(Debug, Parser)]
pub(crate) struct CheckArgs {
    /// Catalog in TOML, YAML or JSON, by the end of its name
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Role that must have a model; can be repeated
    #[arg(long = "role", value_name = "ROLE")]
    pub(crate) roles: Vec<String>,
    /// Print the result as JSON
    #[arg(long)]
    pub(crate) json: bool,
}
