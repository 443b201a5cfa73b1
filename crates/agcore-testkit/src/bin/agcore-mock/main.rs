//! `agcore-mock`: the mock model server as a program.

mod arguments;

use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::Arc;

use agcore_testkit::mock_server::{
    Behaviour, Demo, Mismatch, MockServer, Playground, RecordedRequest, Reply, demo_behaviour, read_script,
};
use tokio::sync::oneshot;

use arguments::{Arguments, Command, Model};

/// Exit code: the server could not be started.
const CANNOT_SERVE: u8 = 1;
/// Exit code: the arguments or the script are wrong.
const USAGE: u8 = 2;
/// Exit code: the script was not played exactly.
const NOT_PLAYED: u8 = 3;

fn main() -> ExitCode {
    let arguments = match arguments::parse(lexopt::Parser::from_env()) {
        Ok(Command::Serve(arguments)) => arguments,
        Ok(Command::Print(text)) => {
            return say(&text).map_or(ExitCode::from(CANNOT_SERVE), |()| ExitCode::SUCCESS);
        }
        Err(error) => return fail(USAGE, &format!("{error}\nTry 'agcore-mock --help'.")),
    };
    let behaviour = match behaviour(&arguments) {
        Ok(behaviour) => behaviour,
        Err(why) => return fail(USAGE, &why),
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    match runtime.and_then(|runtime| runtime.block_on(serve(arguments, behaviour))) {
        Ok(Ok(())) => ExitCode::SUCCESS,
        Ok(Err(mismatch)) => fail(NOT_PLAYED, &mismatch.to_string()),
        Err(error) => fail(CANNOT_SERVE, &format!("cannot serve: {error}")),
    }
}

fn behaviour(arguments: &Arguments) -> Result<Arc<dyn Behaviour>, String> {
    let pace = arguments.pace;
    Ok(match &arguments.model {
        Model::Demo => Arc::new(pace.map_or_else(demo_behaviour, |pace| Demo::new().with_pace(pace))),
        Model::Echo => Arc::new(Playground::new().with_pace(pace.unwrap_or(arguments::ECHO_PACE))),
        Model::Slow => Arc::new(Playground::new().with_pace(pace.unwrap_or(arguments::SLOW_PACE))),
        Model::Tools => Arc::new(
            Playground::new()
                .calling_all_tools()
                .with_pace(pace.unwrap_or(arguments::ECHO_PACE)),
        ),
        Model::Script(source) => {
            let text = source
                .read()
                .map_err(|error| format!("cannot read the script {source}: {error}"))?;
            Arc::new(read_script(&text).map_err(|error| chain(&error))?)
        }
    })
}

/// Serves until Ctrl-C or, if so asked, the end of standard input; says whether the script was played exactly.
async fn serve(arguments: Arguments, behaviour: Arc<dyn Behaviour>) -> io::Result<Result<(), Mismatch>> {
    let shown: Arc<dyn Behaviour> = if arguments.log {
        Arc::new(Logged(Arc::clone(&behaviour)))
    } else {
        Arc::clone(&behaviour)
    };
    let server = MockServer::start_with(arguments.options, shown).await?;
    say(&server.base_url())?;
    let stdin_ended = watch_stdin(arguments.until_stdin_closes);
    tokio::select! {
        ended = tokio::signal::ctrl_c() => ended?,
        Ok(()) = stdin_ended => {}
    }
    // Replies may take long to end; a second Ctrl-C does not wait for them.
    tokio::select! {
        _ = server.shutdown() => {}
        ended = tokio::signal::ctrl_c() => ended?,
    }
    Ok(behaviour.verdict())
}

/// Ready when standard input has ended; never, if that is not asked for.
fn watch_stdin(watched: bool) -> oneshot::Receiver<()> {
    let (ended, wait) = oneshot::channel();
    if watched {
        std::thread::spawn(move || {
            let _ = io::copy(&mut io::stdin(), &mut io::sink());
            let _ = ended.send(());
        });
    }
    wait
}

/// A behaviour that writes a line for each request.
struct Logged(Arc<dyn Behaviour>);

impl Behaviour for Logged {
    fn reply(&self, request: &RecordedRequest) -> Reply {
        let prompt = request.prompt();
        let (number, path, model) = (request.number(), request.path(), &prompt.model);
        let (turns, tools, stream) = (prompt.turns.len(), prompt.tools.len(), prompt.stream);
        complain(&format!(
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

fn say(line: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{line}")?;
    out.flush()
}

fn complain(line: &str) {
    // Nobody is left to be told when standard error is gone.
    let _ = writeln!(io::stderr().lock(), "{line}");
}

fn fail(code: u8, why: &str) -> ExitCode {
    complain(&format!("agcore-mock: {why}"));
    ExitCode::from(code)
}
