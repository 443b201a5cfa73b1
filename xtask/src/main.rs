//! The workspace's own tasks, run as `cargo xtask <command>`.
//!
//! One file per command; what decides is a function on plain data, what starts
//! processes is apart from it. Modules in reading order: words, then the
//! workspace as data, then the commands, then `ci`, which runs them all.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a task runner talks to its terminal"
)]

mod finding;
mod check;
mod counts;
mod report;
mod summary;
mod process;
mod workspace;
mod feature_set;
mod tree;
mod rust_source;
mod sources;
mod fmt;
mod clippy;
mod docs;
mod sdk_types;
mod test;
mod graph;
mod tidy;
mod deny;
mod features;
mod bench;
mod soak;
mod fuzz;
mod stage;
mod args;

use std::process::ExitCode;

use anyhow::Context as _;

use args::Command;
use stage::Stage;
use workspace::Workspace;

/// What a wrong command line ends with; a failed check ends with 1.
const USAGE_ERROR: u8 = 2;

fn main() -> ExitCode {
    let command = match args::parse(std::env::args_os().skip(1)) {
        Ok(command) => command,
        Err(error) => {
            eprintln!("error: {error}\n\n{}", args::HELP);
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

/// Runs one command; `false` means that a check failed.
fn run(command: &Command) -> anyhow::Result<bool> {
    let load = || Workspace::load().context("cannot read the workspace");
    match command {
        Command::Help => {
            println!("{}", args::HELP);
            Ok(true)
        }
        Command::Ci => Ok(stage::run(&Stage::ci(), &load()?.for_ci())),
        Command::Stage(stage) => Ok(stage::run(std::slice::from_ref(stage), &load()?)),
        Command::Bench { name } => bench::run(&load()?, name.as_deref()),
        Command::Soak { filter } => soak::run(&load()?, filter.as_deref()),
        Command::SdkTypes => sdk_types::run(&load()?),
        Command::Fuzz { target, time } => fuzz::run(&load()?, target.as_deref(), *time),
    }
}
