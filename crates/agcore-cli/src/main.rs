//! The agcore command line.

mod args;
mod environment;
mod near;
mod utc;
mod vendor;
mod exit;
mod interrupt;
mod stdin;
mod output;
mod whole_file;
mod history;
mod grants;
mod settings;
mod sample_tools;
mod policy;
mod listing;
mod render;
mod table;
mod telemetry;
mod console;
mod approve;
mod dialog;
mod turn;
mod command;

use std::{
    io::{self, IsTerminal},
    panic,
    process::ExitCode,
    time::Duration,
};

use clap::Parser;
use tokio::{runtime, task::JoinError, time::timeout};

use crate::{
    args::{Args, Command, InspectCommand},
    exit::Failure,
    interrupt::Interrupts,
    render::Colour,
    telemetry::Telemetry,
};

/// How long a command may take to put things in order after it was told to end.
const GRACE: Duration = Duration::from_millis(200);

fn main() -> ExitCode {
    let args = Args::parse();
    match run(args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}

fn run(args: Args) -> Result<(), Failure> {
    let runtime = runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::task(format!("the runtime could not be started: {error}")))?;
    let telemetry = Telemetry::begin(args.log, is_shown(&args.command), runtime.handle())?;
    let done = runtime.block_on(until_interrupted(args));
    // However the command ended, its spans are sent; for that the runtime has to be there.
    drop(telemetry);
    // A thread that waits for a line of the terminal must not keep the program from ending.
    runtime.shutdown_background();
    done
}

/// Whether a conversation is shown at this terminal, which lines of a log would break.
fn is_shown(command: &Command) -> bool {
    matches!(command, Command::Chat(_) | Command::Demo) && io::stderr().is_terminal()
}

/// Runs the command on a task of its own, so that Ctrl-C ends the program even when its output is stuck in a full pipe.
async fn until_interrupted(args: Args) -> Result<(), Failure> {
    let interrupts = Interrupts::listen();
    let mut task = tokio::spawn(command(args, interrupts.clone()));
    tokio::select! {
        done = &mut task => done.unwrap_or_else(torn),
        () = interrupts.to_leave() => {
            task.abort();
            // What is dropped now puts the terminal in order; a task that is stuck is left behind.
            let _ = timeout(GRACE, task).await;
            Err(Failure::cancelled())
        }
    }
}

async fn command(args: Args, interrupts: Interrupts) -> Result<(), Failure> {
    let colour = if args.no_colour { Colour::Never } else { Colour::Auto };
    match args.command {
        Command::Demo => command::demo::run(&interrupts, colour).await,
        Command::Chat(chat) => command::chat::run(&chat, &interrupts, colour).await,
        Command::Tools { command } => command::tools::run(&command, &interrupts, colour).await,
        Command::Models(models) => command::models::run(&models).await,
        Command::Config(config) => command::config::run(&config),
        Command::Doctor(doctor) => command::doctor::run(&doctor, colour).await,
        Command::Inspect { command } => match command {
            InspectCommand::Case(case) => command::inspect::cases(&case),
            InspectCommand::Stream(stream) => command::inspect::stream(&stream),
            InspectCommand::Cassette(cassette) => command::inspect::cassette(&cassette),
        },
    }
}

/// A panic of the task goes on as a panic of the program.
fn torn(error: JoinError) -> Result<(), Failure> {
    match error.try_into_panic() {
        Ok(panic) => panic::resume_unwind(panic),
        Err(_) => Err(Failure::cancelled()),
    }
}
