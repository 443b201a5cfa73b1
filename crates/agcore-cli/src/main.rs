//! The agcore command line.

mod approve;
mod args;
mod command;
mod exit;
mod render;
mod sample_tools;
mod settings;
mod turn;

use std::process::ExitCode;

use clap::Parser;

use crate::{
    args::{Args, Command, InspectCommand},
    exit::Failure,
};

fn main() -> ExitCode {
    let args = Args::parse();
    match run(args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}

fn run(args: Args) -> Result<(), Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::turn(format!("the runtime could not be started: {error}")))?;
    let done = match args.command {
        Command::Demo => runtime.block_on(command::demo::run()),
        Command::Chat(chat) => runtime.block_on(command::chat::run(&chat)),
        Command::Inspect { command: InspectCommand::Case(case) } => command::inspect::cases(&case),
    };
    // A thread that waits for a line of the terminal must not keep the program from ending.
    runtime.shutdown_background();
    done
}
