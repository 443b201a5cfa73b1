//! The `agcore` command line.
#![cfg_attr(
    not(feature = "full"),
    allow(
        dead_code,
        unused_imports,
        reason = "the arguments of commands that this build does not have are parsed, and nothing reads them"
    )
)]

mod exit;
mod stdout;
mod input;
mod prices;
mod sessions;
mod denials;
mod project_list;
mod output;
mod telemetry;
mod approve;
mod dialog;
mod server_question;
mod open_question;
mod question_terminal;
mod trust_dialog;
mod turn;
mod workbench;
#[cfg(feature = "serve")]
mod hook_config;
mod command;

use std::{
    io::{self, IsTerminal, Write},
    process::ExitCode,
    time::Duration,
};

use agcore_args::{Args, ChatArgs, Command, FlowCommand, InspectCommand, LogFormat};
use agcore_telemetry::LogForm;
use agcore_terminal::{
    interrupt::Interrupts,
    render::{Color, hanging, sanitized},
    terminal_mode::TerminalMode,
};
use tokio::{
    runtime::{self, Handle, Runtime},
    task::{JoinError, JoinHandle, spawn_blocking},
    time::timeout,
};

use crate::{
    exit::{Failure, FailureKind},
    output::Output,
    stdout::print,
    telemetry::{Shown, Telemetry},
};

/// The time that a command has to clean up after it is aborted.
const GRACE_PERIOD: Duration = Duration::from_millis(200);

/// The time that a turn has to end after SIGTERM cancels it.
const TERMINATION_PERIOD: Duration = Duration::from_secs(1);

/// The time that is left to send spans if the program must exit. They have a shorter time limit of their own.
const TELEMETRY_PERIOD: Duration = Duration::from_secs(4);

/// The time that a server has to end its runs after SIGTERM.
const SERVER_TERMINATION_PERIOD: Duration = Duration::from_secs(15);

fn main() -> ExitCode {
    let args = Args::from_process(input::arrives);
    let output = chat_args(&args.command).and_then(machine_output);
    let terminal = TerminalMode::save();
    let result = match Runtimes::start(&args) {
        Ok(runtimes) => runtimes.run(args, output, terminal),
        // The command has not started, so its output does not have the failure yet.
        Err(failure) => with_result(Err(failure), output.as_ref()).map_err(|failure| {
            report(&failure);
            failure.kind()
        }),
    };
    ExitCode::from(result.map_or_else(FailureKind::exit_code, |()| 0))
}

/// Prints an error to standard error, unless the output has no reader any more.
fn report(failure: &Failure) {
    if failure.is_output_closed() {
        return;
    }
    // It may quote a server or a file.
    let message = failure.to_string();
    let message = sanitized(&message);
    let message = match io::stderr().is_terminal() {
        true => hanging("error: ", &message),
        false => format!("error: {message}"),
    };
    // If standard error cannot be written either, the exit code must suffice.
    let _ = writeln!(io::stderr(), "{message}");
}

/// Returns the form of the log: that of a server has other readers than that of a chat.
fn log_form(args: &Args) -> LogForm {
    match args.log_format {
        Some(LogFormat::Json) => LogForm::Json,
        _ if is_server(&args.command) => LogForm::Server,
        _ => LogForm::Short,
    }
}

/// Returns whether the command executes runs for others, and shows its metrics.
fn is_server(command: &Command) -> bool {
    match command {
        Command::Serve(serve) => serve.command.is_none(),
        command => matches!(command, Command::Worker(_)),
    }
}

/// The runtimes of a command, and its log.
struct Runtimes {
    /// Runs the command. It can block these threads, for example while it writes to a full pipe, and they would also have to
    /// receive signals and fire timers.
    commands: Runtime,
    /// Runs what ends the command, on the main thread.
    control: Runtime,
    telemetry: Telemetry,
}

impl Runtimes {
    fn start(args: &Args) -> Result<Self, Failure> {
        let start = |mut builder: runtime::Builder| {
            let started = builder.enable_all().build();
            started.map_err(|error| Failure::task(format!("cannot start the async runtime: {error}")))
        };
        let commands = start(runtime::Builder::new_multi_thread())?;
        let log = (args.log, log_form(args));
        let shown = Shown {
            conversation: shows_conversation(&args.command),
            metrics: is_server(&args.command),
        };
        let telemetry = Telemetry::install(log, shown, commands.handle())?;
        Ok(Self {
            commands,
            control: start(runtime::Builder::new_current_thread())?,
            telemetry,
        })
    }

    /// Runs the command, and reports its failure.
    fn run(self, args: Args, output: Option<Output>, terminal: TerminalMode) -> Result<(), FailureKind> {
        let Self {
            commands,
            control,
            telemetry,
        } = self;
        let result = control.block_on(async {
            let interrupts = Interrupts::listen();
            let result = run_until_interrupted(args, output, commands.handle(), &interrupts).await;
            // Sends the remaining spans however the command ended, which needs a running runtime.
            unless_interrupted(&interrupts, TELEMETRY_PERIOD, move || drop(telemetry)).await;
            let Err(failure) = result else { return Ok(()) };
            let kind = failure.kind();
            if [FailureKind::Cancelled, FailureKind::Terminated].contains(&kind) {
                terminal.restore();
            }
            unless_interrupted(&interrupts, GRACE_PERIOD, move || report(&failure)).await;
            Err(kind)
        });
        // A thread blocked on terminal input or on output must not keep the program alive.
        commands.shutdown_background();
        control.shutdown_background();
        result
    }
}

/// Runs work that writes output on its own thread, because it may be blocked for ever. If the program must exit, the work has
/// only this time.
async fn unless_interrupted(interrupts: &Interrupts, period: Duration, work: impl FnOnce() + Send + 'static) {
    let mut working = spawn_blocking(work);
    tokio::select! {
        biased;
        _ = &mut working => {}
        () = interrupts.exit_requested() => drop(timeout(period, working).await),
    }
}

/// Returns whether the command displays a conversation on this terminal, which log lines would garble.
fn shows_conversation(command: &Command) -> bool {
    let is_conversation = chat_args(command).is_some() || matches!(command, Command::Demo { .. });
    is_conversation && io::stderr().is_terminal()
}

/// Returns the arguments of a chat or a single message.
fn chat_args(command: &Command) -> Option<&ChatArgs> {
    match command {
        Command::Chat(chat) | Command::Prompt(chat) => Some(chat),
        Command::Run(run) => Some(&run.chat),
        Command::Flow {
            command: FlowCommand::Run(run),
        } => Some(&run.chat),
        _ => None,
    }
}

fn machine_output(chat: &ChatArgs) -> Option<Output> {
    Output::new(chat.output_format(), chat.include_partial_messages)
}

/// Runs the command on a runtime other than the caller's, so that Ctrl-C ends the program even while output is blocked on a
/// full pipe.
async fn run_until_interrupted(
    args: Args,
    output: Option<Output>,
    commands: &Handle,
    interrupts: &Interrupts,
) -> Result<(), Failure> {
    let period = match &args.command {
        Command::Serve(_) | Command::Worker(_) | Command::Acp(_) => SERVER_TERMINATION_PERIOD,
        _ => TERMINATION_PERIOD,
    };
    let mut task = commands.spawn(run_command(args, interrupts.clone(), output.clone()));
    let result = tokio::select! {
        result = &mut task => result.unwrap_or_else(failed_task),
        () = interrupts.exit_requested() => end(task, interrupts, period).await,
    };
    let result = match result {
        Err(failure) if failure.is_cancelled() && interrupts.is_terminated() => Err(Failure::terminated()),
        result => result,
    };
    write_result(result, output, interrupts).await
}

/// Ends the command. A turn that SIGTERM has cancelled ends by itself.
async fn end(
    mut task: JoinHandle<Result<(), Failure>>,
    interrupts: &Interrupts,
    period: Duration,
) -> Result<(), Failure> {
    if interrupts.is_terminated()
        && let Ok(result) = timeout(period, &mut task).await
    {
        return result.unwrap_or_else(failed_task);
    }
    task.abort();
    // Dropping the task restores the terminal; a task that is blocked is abandoned.
    let _ = timeout(GRACE_PERIOD, task).await;
    Err(Failure::cancelled())
}

/// Writes the result, on a blocking thread: Ctrl-C must end the program even if the pipe is full.
async fn write_result(
    result: Result<(), Failure>,
    output: Option<Output>,
    interrupts: &Interrupts,
) -> Result<(), Failure> {
    if output.is_none() {
        return result;
    }
    let is_cancelled = result.as_ref().is_err_and(Failure::is_cancelled);
    let mut writing = spawn_blocking(move || with_result(result, output.as_ref()));
    let written = tokio::select! {
        biased;
        written = &mut writing => Some(written),
        () = interrupts.exit_requested() => timeout(GRACE_PERIOD, writing).await.ok(),
    };
    match written {
        Some(Ok(result)) => result,
        _ if is_cancelled || !interrupts.is_terminated() => Err(Failure::cancelled()),
        _ => Err(Failure::terminated()),
    }
}

/// Writes the result to machine-readable output.
fn with_result(result: Result<(), Failure>, output: Option<&Output>) -> Result<(), Failure> {
    let written = output.map_or(Ok(()), |output| output.finish(result.as_ref().copied()));
    match written {
        Ok(()) => result,
        Err(error) => result.and(Err(Failure::output(&error))),
    }
}

async fn run_command(args: Args, interrupts: Interrupts, output: Option<Output>) -> Result<(), Failure> {
    let color = if args.no_color { Color::Never } else { Color::Auto };
    let output = output.as_ref();
    match args.command {
        Command::Demo { serve: Some(port), .. } => command::demo::serve(port, &interrupts).await,
        Command::Demo { chat: false, .. } => command::demo::run(&interrupts, color).await,
        Command::Demo { chat: true, .. } => command::demo::chat(&interrupts, color).await,
        Command::Chat(chat) | Command::Prompt(chat) => command::chat::chat(&chat, &interrupts, color, output).await,
        Command::Run(run) => Box::pin(command::run::run(&run, &interrupts, color, output)).await,
        Command::Init(init) => command::setup::init::run(&init, color).await,
        Command::Keys { command } => command::setup::keys::run(&command).await,
        Command::New(new) => command::new::run(&new),
        Command::Acp(acp) => Box::pin(command::acp::run(acp, &interrupts, color)).await,
        Command::Serve(serve) => command::serve::run(&serve, &interrupts, color).await,
        Command::Worker(worker) => command::serve::run(&worker.into(), &interrupts, color).await,
        Command::Schedules { command } => command::stored::schedules::run(&command).await,
        Command::Webhooks { command } => command::stored::webhooks::run(&command).await,
        Command::Quotas { command } => command::stored::quotas::run(&command).await,
        Command::Admin { command } => command::stored::admin::run(&command).await,
        Command::Flow { command } => command::flow::run(&command, &interrupts, color, output).await,
        Command::Eval(eval) => command::eval::run(&eval, &interrupts, color).await,
        Command::Tools { command } => command::tools::run(&command, &interrupts, color).await,
        Command::Skills { command } => command::skills::skills(&command),
        Command::Agents { command } => command::skills::agents(&command),
        Command::Sessions { command, list } => command::sessions::run(command, list, &interrupts, color).await,
        Command::Approvals { command } => command::approvals::run(&command, color).await,
        Command::Mcp { command } => command::mcp::run(&command, &interrupts, color).await,
        Command::Trust(trust) => command::setup::trust::run(&trust, &interrupts, color).await,
        Command::Models(models) => command::models::run(&models).await,
        Command::Catalog { command } => command::catalog::run(&command, &interrupts).await,
        Command::Cost(cost) => command::cost::run(&cost).await,
        Command::Config(config) => command::setup::config::run(&config),
        Command::Doctor(doctor) => command::setup::doctor::run(&doctor, color).await,
        Command::Inspect { command } => match command {
            InspectCommand::Case(case) => command::inspect::cases(&case),
            InspectCommand::Stream(stream) => command::inspect::stream(&stream),
            InspectCommand::Cassette(cassette) => command::inspect::cassette(&cassette),
        },
        Command::Knowledge { command } => command::stored::knowledge::run(&command).await,
        Command::Memory { command } => command::stored::memory::run(&command).await,
        Command::Store { command } => command::stored::store::run(&command).await,
        Command::Schema => print(&agcore_stream_json::schema()),
        Command::Completion { shell } => print(&Args::completion(shell)),
        Command::Man { dir: Some(dir), .. } => command::man::write(&dir),
        Command::Man { command, dir: None } => command::man::show(&command),
    }
}

/// Returns the failure of a task that panicked, or was aborted.
fn failed_task(error: JoinError) -> Result<(), Failure> {
    Err(match error.is_panic() {
        true => Failure::panicked(),
        false => Failure::cancelled(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_panic_is_a_failure_with_a_code_of_its_own() {
        let task: JoinHandle<()> = tokio::spawn(async { panic!("a bug") });
        let failure = failed_task(task.await.unwrap_err()).unwrap_err();
        assert_eq!(failure.kind(), FailureKind::Panic);
        assert_eq!(failure.kind().exit_code(), 101);
    }

    #[tokio::test]
    async fn an_aborted_task_is_cancelled() {
        let task = tokio::spawn(std::future::pending::<()>());
        task.abort();
        assert!(failed_task(task.await.unwrap_err()).unwrap_err().is_cancelled());
    }
}
