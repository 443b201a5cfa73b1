//! `agcore-mock`: the mock model server as a program.

mod arguments;

use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::Arc;

use agcore_demo::{Demo, Playground, demo_behavior};
use agcore_testkit::mock_server::{Behavior, Mismatch, MockServer, RecordedRequest, Reply, Script};
use tokio::sync::oneshot;

use arguments::{Arguments, Command, Model};

/// The exit code if the server cannot start.
const CANNOT_SERVE: u8 = 1;
/// The exit code for invalid arguments or an invalid script.
const USAGE: u8 = 2;
/// The exit code if the script was not played exactly.
const NOT_PLAYED: u8 = 3;

fn main() -> ExitCode {
    let arguments = match arguments::parse(lexopt::Parser::from_env()) {
        Ok(Command::Serve(arguments)) => arguments,
        Ok(Command::Print(text)) => {
            return print_line(&text).map_or(ExitCode::from(CANNOT_SERVE), |()| ExitCode::SUCCESS);
        }
        Err(error) => return fail(USAGE, &format!("{error}\nTry 'agcore-mock --help'.")),
    };
    let behavior = match behavior(&arguments) {
        Ok(behavior) => behavior,
        Err(message) => return fail(USAGE, &message),
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    match runtime.and_then(|runtime| runtime.block_on(serve(arguments, behavior))) {
        Ok(Ok(())) => ExitCode::SUCCESS,
        Ok(Err(mismatch)) => fail(NOT_PLAYED, &mismatch.to_string()),
        Err(error) => fail(CANNOT_SERVE, &format!("cannot serve: {error}")),
    }
}

fn behavior(arguments: &Arguments) -> Result<Arc<dyn Behavior>, String> {
    let pace = arguments.pace;
    Ok(match &arguments.model {
        Model::Demo => Arc::new(pace.map_or_else(demo_behavior, |pace| Demo::new().with_pace(pace))),
        Model::Echo => Arc::new(Playground::new().with_pace(pace.unwrap_or(arguments::ECHO_PACE))),
        Model::Slow => Arc::new(Playground::new().with_pace(pace.unwrap_or(arguments::SLOW_PACE))),
        Model::Tools => Arc::new(
            Playground::new()
                .with_all_tools_called()
                .with_pace(pace.unwrap_or(arguments::ECHO_PACE)),
        ),
        Model::Script(source) => {
            let text = source
                .read()
                .map_err(|error| format!("cannot read the script {source}: {error}"))?;
            Arc::new(Script::from_json(&text).map_err(|error| chain(&error))?)
        }
    })
}

/// Serves until Ctrl-C or, if requested, the end of standard input. Returns whether the script was played exactly.
async fn serve(arguments: Arguments, behavior: Arc<dyn Behavior>) -> io::Result<Result<(), Mismatch>> {
    let served: Arc<dyn Behavior> = if arguments.log {
        Arc::new(Logged(Arc::clone(&behavior)))
    } else {
        Arc::clone(&behavior)
    };
    let server = MockServer::start_with(arguments.options, served).await?;
    print_line(&server.base_url())?;
    let stdin_ended = watch_stdin(arguments.until_stdin_closes);
    tokio::select! {
        ended = tokio::signal::ctrl_c() => ended?,
        Ok(()) = stdin_ended => {}
    }
    // Replies may take a long time to end; a second Ctrl-C stops waiting for them.
    tokio::select! {
        _ = server.shutdown() => {}
        ended = tokio::signal::ctrl_c() => ended?,
    }
    Ok(behavior.verify())
}

/// Returns a receiver that resolves to `Ok` at the end of standard input, or to an error immediately unless `enabled`.
fn watch_stdin(enabled: bool) -> oneshot::Receiver<()> {
    let (sender, receiver) = oneshot::channel();
    if enabled {
        std::thread::spawn(move || {
            let _ = io::copy(&mut io::stdin(), &mut io::sink());
            let _ = sender.send(());
        });
    }
    receiver
}

/// A behavior that logs each request to standard error.
struct Logged(Arc<dyn Behavior>);

impl Behavior for Logged {
    fn reply(&self, request: &RecordedRequest) -> Reply {
        let prompt = request.prompt();
        let (number, path, model) = (request.number(), request.path(), &prompt.model);
        let (turns, tools, stream) = (prompt.turns.len(), prompt.tools.len(), prompt.stream);
        log_line(&format!(
            "#{number} {path} model={model} messages={turns} tools={tools} stream={stream}"
        ));
        self.0.reply(request)
    }
}

fn chain(error: &dyn std::error::Error) -> String {
    match error.source() {
        Some(source) => format!("{error}: {}", chain(source)),
        None => error.to_string(),
    }
}

fn print_line(line: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{line}")?;
    out.flush()
}

fn log_line(line: &str) {
    // If standard error is closed, there is no way to report it.
    let _ = writeln!(io::stderr().lock(), "{line}");
}

fn fail(code: u8, message: &str) -> ExitCode {
    log_line(&format!("agcore-mock: {message}"));
    ExitCode::from(code)
}
