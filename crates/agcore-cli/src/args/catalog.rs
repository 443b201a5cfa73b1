//! Arguments of `catalog`.

use std::path::PathBuf;

use clap::{Parser, Subcommand};

#[derive(Debug, Subcommand)]
pub(crate) enum CatalogCommand {
    /// Compute what messages cost, from their usage and the prices that apply
    #[command(after_help = PRICE_HELP)]
    Price(PriceArgs),
}

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
