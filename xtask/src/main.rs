//! The tasks of this workspace, run as `cargo xtask <command>`.
//!
//! There is one file per command. Decisions are functions on plain data, separate from the code that starts processes.
//! The modules are in reading order: results, the workspace as data, the commands, and the stages that group them.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a task runner prints to its terminal"
)]

mod process;
mod source;
mod report;
mod workspace;
mod tree;
mod foreign;
mod measure;
mod lints;
mod test;
mod graph;
mod generate;
mod tidy;
mod deny;
mod features;
mod platforms;
mod dist;
mod book;
mod fuzz;
mod stage;
mod args;

use std::process::ExitCode;

use anyhow::Context as _;

use args::Command;
use stage::Stage;
use workspace::Workspace;

/// The exit status for a wrong command line; that of a failed check is 1.
const USAGE_ERROR: u8 = 2;

fn main() -> ExitCode {
    let command = match args::parse(std::env::args_os().skip(1)) {
        Ok(command) => command,
        Err(error) => {
            eprintln!("error: {error}\n\n`cargo xtask help` lists the commands.");
            return ExitCode::from(USAGE_ERROR);
        }
    };
    match run(&command) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Runs one command; returns `false` if a check failed.
fn run(command: &Command) -> anyhow::Result<bool> {
    let load = || Workspace::load().context("cannot read the workspace");
    match command {
        Command::Help => {
            println!("{}", args::HELP);
            Ok(true)
        }
        Command::Ci => Ok(stage::run(&Stage::ci(), &load()?.for_ci())),
        Command::Quick { since } => Ok(stage::run(&Stage::quick(since.clone()), &load()?)),
        Command::Nightly => Ok(stage::run(&Stage::nightly(), &load()?.for_ci())),
        Command::Stage(stage) => Ok(stage::run(std::slice::from_ref(stage), &load()?)),
        Command::Bench { name } => measure::bench::run(&load()?, name.as_deref()),
        Command::Dist { profile } => dist::run(&load()?, profile),
        Command::Book => book::run(&load()?),
        Command::Footprint => measure::footprint::run(&load()?),
        Command::Soak { filter } => measure::soak::run(&load()?, filter.as_deref()),
        Command::McpConformance => foreign::mcp_conformance::run(&load()?),
        Command::ApiFuzz => foreign::api_fuzz::run(&load()?),
        Command::AguiClients => foreign::agui::clients(&load()?),
        Command::AcpClients => foreign::acp::clients(&load()?),
        Command::OtelCollector => foreign::otel_collector::run(&load()?),
        Command::OpenAiClients => foreign::openai::clients(&load()?),
        Command::UiClients => foreign::ui_stream::clients(&load()?),
        Command::WebClients => foreign::web::run(&load()?),
        Command::AguiSchemas => foreign::agui::schemas(&load()?),
        Command::McpSdks => foreign::mcp_sdks::run(&load()?),
        Command::Catalog { wheels } => foreign::catalog::run(&load()?, wheels),
        Command::Pgvector => foreign::pgvector::run(&load()?),
        Command::SdkTypes => foreign::sdk_types::run(&load()?),
        Command::Fuzz { target, time } => fuzz::run(&load()?, target.as_deref(), *time),
    }
}
