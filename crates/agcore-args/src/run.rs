//! Arguments of `run`.

use std::path::PathBuf;

use clap::Args;

use super::{chat::ChatArgs, flow::FlowValues};

pub(super) const RUN_HELP: &str = "\
The model breaks the task down into steps, which are carried out one after the other, or side by side with --parallel. If a \
step fails, the steps that depend on it are skipped, and a new plan is made. Each step is shown on standard error; \
the answer goes to standard output. Plan, steps and results are kept while they happen: after a crash or Ctrl-C, --continue or \
--resume ID continues where the task was, without repeating finished steps and tool calls. The exit code is 0 only if all steps of the last plan were carried out.

Examples:
  agcore run 'Compare the licenses of the dependencies in Cargo.toml.'
  agcore run --parallel 4 'Summarize each file in docs, then write an overview.'
  git log -20 | agcore run 'Write release notes.'
  agcore run --continue
  agcore run 'Count the words in README.md.' --output-format json | jq -r .text

Settings, environment variables, tools, permission modes and output formats are those of `agcore chat --help`.";

/// Arguments of `run`.
#[derive(Debug, Args)]
pub struct RunArgs {
    /// How many steps that do not depend on each other run side by side
    #[arg(long, value_name = "STEPS", default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..=32))]
    pub parallel: u8,
    /// How many new plans are made after plans that failed
    #[arg(long, value_name = "PLANS", default_value_t = 1)]
    pub replans: u32,
    #[command(flatten)]
    pub chat: ChatArgs,
    /// Run a flow file with the task as its request, like `agcore flow run`
    #[arg(long, value_name = "FILE")]
    pub flow: Option<PathBuf>,
    #[command(flatten)]
    pub values: FlowValues,
}
