//! `agcore chat`: a conversation at the terminal, or one message from a pipe.

mod screen;
mod input;
mod session;
mod live_turn;
mod talk;
mod compact;
mod saved;
mod commands;
mod interactive;

use std::{
    io::{self, IsTerminal},
    sync::Arc,
};

use agcore::tools::Approver;

use crate::{
    approve::AllowAll,
    args::ChatArgs,
    exit::Failure,
    interrupt::Interrupts,
    render::{Colour, JsonLines, Render, Terminal},
    settings::Settings,
    turn,
};

/// Runs a chat.
///
/// # Errors
/// Settings that do not fit, or, for one message, what the turn failed with.
pub(crate) async fn run(args: &ChatArgs, interrupts: &Interrupts, colour: Colour) -> Result<(), Failure> {
    let settings = Settings::gather(&args.settings)?;
    let message = match &args.message {
        Some(message) => input::message(message.clone())?,
        None if !io::stdin().is_terminal() => input::read().await?,
        None if args.json => return Err(no_terminal("--json")),
        None if !io::stdout().is_terminal() => return Err(no_terminal("an output that is no terminal")),
        None => return interactive::run(args, &settings, interrupts, colour).await,
    };
    one_message(args, &settings, message, interrupts, colour).await
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
    colour: Colour,
) -> Result<(), Failure> {
    let approver = args.yes.then(|| Arc::new(AllowAll) as Arc<dyn Approver>);
    let (session, _) = session::session(args, settings, approver)?;
    let mut render: Box<dyn Render> = if args.json {
        Box::new(JsonLines(io::stdout()))
    } else {
        let terminal = Terminal::new(io::stdout(), io::stderr(), colour.palette(&io::stderr()));
        match io::stdout().is_terminal() {
            true => Box::new(terminal.with_markdown(colour.palette(&io::stdout()))),
            // A program reads what the model wrote.
            false => Box::new(terminal),
        }
    };
    turn::run(&session, message, interrupts, &mut *render).await?;
    Ok(())
}
