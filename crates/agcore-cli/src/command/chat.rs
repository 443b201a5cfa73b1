//! `agcore chat`: a conversation at the terminal, or one message from a pipe.

mod commands;
mod interactive;

use std::{
    io::{self, IsTerminal, Read},
    sync::Arc,
};

use agcore::{
    AgentBuilder, AgentSession, AgentSpec, ToolRegistry,
    llm::config::build,
    tools::Approver,
};
use tokio_util::sync::CancellationToken;

use crate::{
    approve::AllowAll,
    args::ChatArgs,
    exit::Failure,
    render::{JsonLines, Palette, Render, Terminal},
    sample_tools::{self, NotesFile},
    settings::Settings,
    turn,
};

/// Runs a chat.
///
/// # Errors
/// Settings that do not fit, or, for one message, what the turn failed with.
pub(crate) async fn run(args: &ChatArgs) -> Result<(), Failure> {
    let settings = Settings::gather(args)?;
    let at_terminal = io::stdin().is_terminal();
    match &args.message {
        Some(message) => one_message(args, &settings, message.clone()).await,
        None if at_terminal && !args.json => interactive::run(args, settings).await,
        None if at_terminal => {
            Err(Failure::settings("--json needs a message: give one as an argument, or through standard input"))
        }
        None => one_message(args, &settings, read_input()?).await,
    }
}

fn read_input() -> Result<String, Failure> {
    let mut input = String::new();
    io::stdin().read_to_string(&mut input).map_err(|error| Failure::settings(format!("standard input: {error}")))?;
    if input.trim().is_empty() {
        return Err(Failure::settings("standard input is empty: there is nothing to say to the model"));
    }
    Ok(input.trim_end().to_owned())
}

/// One turn: the answer to standard output, everything else to standard error.
async fn one_message(args: &ChatArgs, settings: &Settings, message: String) -> Result<(), Failure> {
    let approver = args.yes.then(|| Arc::new(AllowAll) as Arc<dyn Approver>);
    let session = session(args, settings, approver)?;
    let mut render: Box<dyn Render> = if args.json {
        Box::new(JsonLines(io::stdout()))
    } else {
        Box::new(Terminal::new(io::stdout(), io::stderr(), Palette::of(&io::stderr())))
    };
    turn::run(&session, message, CancellationToken::new(), &mut *render).await?;
    Ok(())
}

/// A session as the settings tell it.
fn session(
    args: &ChatArgs,
    settings: &Settings,
    approver: Option<Arc<dyn Approver>>,
) -> Result<AgentSession, Failure> {
    let tools = if args.no_tools { Ok(ToolRegistry::new()) } else { sample_tools::registry() };
    let mut builder = AgentBuilder::new()
        .with_provider(build(&settings.provider)?)
        .with_tools(tools.map_err(|error| Failure::turn(error.to_string()))?)
        .with_permissions(sample_tools::rules())
        .with_state(NotesFile::default());
    if let Some(approver) = approver {
        builder = builder.with_approver(approver);
    }
    let spec = AgentSpec::new("assistant", settings.system.as_str());
    Ok(builder.build()?.session("chat", Arc::new(spec)))
}
