//! `agcore chat`: a conversation at the terminal, or one message from a pipe.

mod screen;
mod commands;
mod input;
mod live_turn;
mod interactive;

use std::{
    io::{self, IsTerminal},
    sync::Arc,
};

use agcore::{AgentBuilder, AgentSession, AgentSpec, ToolRegistry, tools::Approver};

use crate::{
    approve::AllowAll,
    args::ChatArgs,
    exit::Failure,
    interrupt::Interrupts,
    render::{JsonLines, Palette, Render, Terminal},
    sample_tools::{self, NotesFile},
    settings::Settings,
    turn,
};

/// Runs a chat.
///
/// # Errors
/// Settings that do not fit, or, for one message, what the turn failed with.
pub(crate) async fn run(args: &ChatArgs, interrupts: &Interrupts) -> Result<(), Failure> {
    let settings = Settings::gather(args)?;
    let message = match &args.message {
        Some(message) => input::message(message.clone())?,
        None if !io::stdin().is_terminal() => input::read().await?,
        None if args.json => return Err(no_terminal("--json")),
        None if !io::stdout().is_terminal() => return Err(no_terminal("an output that is no terminal")),
        None => return interactive::run(args, &settings, interrupts).await,
    };
    one_message(args, &settings, message, interrupts).await
}

fn no_terminal(what: &str) -> Failure {
    Failure::usage(format!(
        "{what} needs a message: give one as an argument, or through standard input"
    ))
}

/// One turn: the answer to standard output, everything else to standard error.
async fn one_message(
    args: &ChatArgs,
    settings: &Settings,
    message: String,
    interrupts: &Interrupts,
) -> Result<(), Failure> {
    let approver = args.yes.then(|| Arc::new(AllowAll) as Arc<dyn Approver>);
    let session = session(args, settings, approver)?;
    let mut render: Box<dyn Render> = if args.json {
        Box::new(JsonLines(io::stdout()))
    } else {
        Box::new(Terminal::new(io::stdout(), io::stderr(), Palette::of(&io::stderr())))
    };
    turn::run(&session, message, interrupts, &mut *render).await?;
    Ok(())
}

/// A session as the settings tell it.
fn session(args: &ChatArgs, settings: &Settings, approver: Option<Arc<dyn Approver>>) -> Result<AgentSession, Failure> {
    let tools = if args.no_tools {
        Ok(ToolRegistry::new())
    } else {
        sample_tools::registry()
    };
    let mut builder = AgentBuilder::new()
        .with_provider(settings.provider.build().map_err(Failure::setup)?)
        .with_tools(tools.map_err(|error| Failure::task(error.to_string()))?)
        .with_permissions(sample_tools::rules())
        .with_state(NotesFile::default());
    if let Some(approver) = approver {
        builder = builder.with_approver(approver);
    }
    let spec = AgentSpec::new("assistant", settings.system.as_str());
    Ok(builder.build()?.session("chat", Arc::new(spec)))
}
