//! `agcore chat`: an interactive chat, or a single message.

mod screen;
mod session;
mod turn_runner;
mod conversation;
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
    process::read_stdin,
    render::{Color, JsonLines, Render, Terminal},
    settings::Settings,
    turn,
};

/// Runs a chat.
///
/// # Errors
/// When the settings are invalid, or a single message fails.
pub(crate) async fn run(args: &ChatArgs, interrupts: &Interrupts, color: Color) -> Result<(), Failure> {
    let settings = Settings::read(&args.settings)?;
    let message = match &args.message {
        Some(message) => message.clone(),
        None if !io::stdin().is_terminal() => read_stdin().await?,
        None if args.json => return Err(message_required("--json")),
        None if !io::stdout().is_terminal() => return Err(message_required("output that is not a terminal")),
        None => return interactive::run(args, &settings, interrupts, color).await,
    };
    run_single(args, &settings, non_empty(&message)?, interrupts, color).await
}

fn message_required(what: &str) -> Failure {
    Failure::usage(format!(
        "{what} needs a message: pass one as an argument or on standard input"
    ))
}

/// Removes trailing white space from a message.
///
/// # Errors
/// When the message is empty.
fn non_empty(message: &str) -> Result<String, Failure> {
    match message.trim_end() {
        "" => Err(Failure::usage("the message is empty; nothing was sent")),
        message => Ok(message.to_owned()),
    }
}

/// Runs one turn. The answer goes to standard output, everything else to standard error.
async fn run_single(
    args: &ChatArgs,
    settings: &Settings,
    message: String,
    interrupts: &Interrupts,
    color: Color,
) -> Result<(), Failure> {
    let approver = args.yes.then(|| Arc::new(AllowAll) as Arc<dyn Approver>);
    let (session, _) = session::session(args, settings, approver)?;
    let mut render: Box<dyn Render> = if args.json {
        Box::new(JsonLines(io::stdout()))
    } else {
        let terminal = Terminal::new(io::stdout(), io::stderr(), color.palette(&io::stderr()));
        match io::stdout().is_terminal() {
            true => Box::new(terminal.with_markdown(color.palette(&io::stdout()))),
            // Programs get what the model wrote.
            false => Box::new(terminal),
        }
    };
    turn::run(&session, message, interrupts, &mut *render).await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rejects_empty_messages_and_trims_the_end() {
        assert_eq!(non_empty(" a\n\n").unwrap(), " a");
        assert!(non_empty(" \n").is_err());
    }
}
