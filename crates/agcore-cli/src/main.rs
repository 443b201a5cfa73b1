//! The `agcore` command line.

mod args;
mod utc;
mod vendor;
mod exit;
mod interrupt;
mod process;
mod input;
mod atomic_file;
mod places;
mod history;
mod grants;
mod trust;
mod settings;
mod sample_tools;
mod permission_mode;
mod policy;
mod denials;
mod listing;
mod render;
mod table;
mod telemetry;
mod console;
mod approve;
mod dialog;
mod question_terminal;
mod trust_dialog;
mod turn;
mod command;

use std::{
    io::{self, IsTerminal},
    panic,
    process::ExitCode,
    time::Duration,
};

use tokio::{runtime, task::JoinError, time::timeout};

use crate::{
    args::{Args, Command, InspectCommand},
    exit::Failure,
    interrupt::Interrupts,
    render::Color,
    telemetry::Telemetry,
};

/// The time that a command has to clean up after it is aborted.
const GRACE_PERIOD: Duration = Duration::from_millis(200);

fn main() -> ExitCode {
    let args = Args::from_process();
    match run(args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}

fn run(args: Args) -> Result<(), Failure> {
    let runtime = runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::task(format!("cannot start the async runtime: {error}")))?;
    let telemetry = Telemetry::install(args.log, shows_conversation(&args.command), runtime.handle())?;
    let result = runtime.block_on(run_until_interrupted(args));
    // Sends the remaining spans however the command ended, which needs a running runtime.
    drop(telemetry);
    // A thread blocked on terminal input must not keep the program alive.
    runtime.shutdown_background();
    result
}

/// Returns whether the command displays a conversation on this terminal, which log lines would garble.
fn shows_conversation(command: &Command) -> bool {
    let is_conversation = matches!(
        command,
        Command::Chat(_) | Command::Run(_) | Command::Prompt(_) | Command::Demo
    );
    is_conversation && io::stderr().is_terminal()
}

/// Runs the command on its own task, so that Ctrl-C ends the program even while output is blocked on a full pipe.
async fn run_until_interrupted(args: Args) -> Result<(), Failure> {
    let interrupts = Interrupts::listen();
    let mut task = tokio::spawn(run_command(args, interrupts.clone()));
    tokio::select! {
        result = &mut task => result.unwrap_or_else(propagate_panic),
        () = interrupts.exit_requested() => {
            task.abort();
            // Dropping the task restores the terminal; a task that is blocked is abandoned.
            let _ = timeout(GRACE_PERIOD, task).await;
            Err(Failure::cancelled())
        }
    }
}

async fn run_command(args: Args, interrupts: Interrupts) -> Result<(), Failure> {
    let color = if args.no_color { Color::Never } else { Color::Auto };
    match args.command {
        Command::Demo => command::demo::run(&interrupts, color).await,
        Command::Chat(chat) => command::chat::chat(&chat, &interrupts, color).await,
        Command::Run(chat) => command::chat::run(&chat, &interrupts, color).await,
        Command::Prompt(chat) => command::chat::prompt(&chat, &interrupts, color).await,
        Command::Tools { command } => command::tools::run(&command, &interrupts, color).await,
        Command::Trust(trust) => command::trust::run(&trust, &interrupts, color).await,
        Command::Models(models) => command::models::run(&models).await,
        Command::Config(config) => command::config::run(&config),
        Command::Doctor(doctor) => command::doctor::run(&doctor, color).await,
        Command::Inspect { command } => match command {
            InspectCommand::Case(case) => command::inspect::cases(&case),
            InspectCommand::Stream(stream) => command::inspect::stream(&stream),
            InspectCommand::Cassette(cassette) => command::inspect::cassette(&cassette),
        },
    }
}

/// Resumes a panic of the task in the main thread; a task that was aborted counts as cancelled.
fn propagate_panic(error: JoinError) -> Result<(), Failure> {
    match error.try_into_panic() {
        Ok(panic) => panic::resume_unwind(panic),
        Err(_) => Err(Failure::cancelled()),
    }
}
