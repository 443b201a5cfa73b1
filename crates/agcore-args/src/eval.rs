//! Arguments of `eval`.

use std::path::PathBuf;

use agcore_settings::SettingsOptions;
use clap::{Parser, Subcommand};

pub(super) const EVAL_HELP: &str = "\
The file has cases in TOML or YAML: the input of the agent, and what is expected of its answer, its calls of tools and its cost. \
Instructions, model and tools are those of `agcore chat`, unless the file has an agent. Calls that need approval are denied. Cases \
with replies or a cassette need no API key. The exit code is 1 if a check fails.

Examples:
  agcore eval suite.toml
  agcore eval suite.toml --filter polite --judge gpt-5 --parallel 8
  agcore eval suite.yaml --junit report.xml --output report.json
  agcore eval diff before.json after.json";

const DIFF_HELP: &str = "\
The exit code is 1 if a case has become worse, or a new one fails.

Example:
  agcore eval diff before.json after.json";

/// Arguments of `eval`.
#[derive(Debug, Parser)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub struct EvalArgs {
    #[command(subcommand)]
    pub command: Option<EvalCommand>,
    #[command(flatten)]
    pub suite: SuiteArgs,
}

#[derive(Debug, Subcommand)]
pub enum EvalCommand {
    /// Compare two reports that --output wrote
    #[command(after_help = DIFF_HELP)]
    Diff(DiffArgs),
}

/// Arguments of `eval FILE`.
#[derive(Debug, Parser)]
pub struct SuiteArgs {
    /// File with cases; its name ends in .toml, .yaml, .yml or .json
    #[arg(value_name = "FILE", required = true)]
    pub file: Option<PathBuf>,
    #[command(flatten)]
    pub settings: SettingsOptions,
    /// Run only the cases whose name contains this text, or that have it as a tag
    #[arg(long, value_name = "TEXT")]
    pub filter: Option<String>,
    /// How many cases run side by side
    #[arg(long, value_name = "CASES", default_value_t = 4, value_parser = clap::value_parser!(u8).range(1..=64))]
    pub parallel: u8,
    /// Model that judges answers; by default, that of the settings
    #[arg(long, value_name = "MODEL")]
    pub judge: Option<String>,
    /// Catalog with the prices of models
    #[arg(long, value_name = "FILE")]
    pub catalog: Option<PathBuf>,
    /// Offer no tools to the model
    #[arg(long)]
    pub no_tools: bool,
    /// Write the report as JSON to a file
    #[arg(long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Write the report as JUnit XML to a file
    #[arg(long, value_name = "FILE")]
    pub junit: Option<PathBuf>,
    /// Print the report as JSON
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `eval diff`.
#[derive(Debug, Parser)]
pub struct DiffArgs {
    /// Earlier report
    #[arg(value_name = "BEFORE")]
    pub before: PathBuf,
    /// Later report
    #[arg(value_name = "AFTER")]
    pub after: PathBuf,
    /// Print the differences as JSON
    #[arg(long)]
    pub json: bool,
}
