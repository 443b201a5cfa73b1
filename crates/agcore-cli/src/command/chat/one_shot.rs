//! Answers a single message.

use std::{
    io::{self, IsTerminal},
    sync::Arc,
};

use agcore::tools::Approver;

use super::session;
use crate::{
    approve::AllowAll,
    args::{ChatArgs, OutputFormat},
    exit::Failure,
    interrupt::Interrupts,
    process::read_stdin,
    render::{Color, JsonLines, Render, Terminal},
    settings::Settings,
    turn,
    vendor::versioned_url,
};

/// Runs one turn. The answer goes to standard output, everything else to standard error.
///
/// # Errors
/// When there is no message, or the turn fails.
pub(super) async fn run(
    args: &ChatArgs,
    settings: &Settings,
    interrupts: &Interrupts,
    color: Color,
) -> Result<(), Failure> {
    let message = message(args).await?;
    let approver = args.yes.then(|| Arc::new(AllowAll) as Arc<dyn Approver>);
    let (session, _) = session::session(args, settings, approver)?;
    let mut render = renderer(args.output_format(), color);
    let turn = turn::run(&session, message, interrupts, &mut *render).await;
    let better = versioned_url(&settings.provider);
    turn.map(|_| ())
        .map_err(|failure| failure.or_base_url(better.as_deref()))
}

/// Returns the message: the argument, or standard input.
async fn message(args: &ChatArgs) -> Result<String, Failure> {
    match args.message.as_deref() {
        Some(message) if message != "-" => non_empty(message),
        None if io::stdin().is_terminal() => Err(Failure::usage(
            "a message is needed: pass one as an argument or on standard input",
        )),
        _ => non_empty(&read_stdin().await?),
    }
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

fn renderer(format: OutputFormat, color: Color) -> Box<dyn Render> {
    let terminal = Terminal::new(io::stdout(), io::stderr(), color.palette(&io::stderr()));
    match format {
        OutputFormat::Json | OutputFormat::StreamJson => Box::new(JsonLines(io::stdout())),
        OutputFormat::Text if io::stdout().is_terminal() => {
            Box::new(terminal.with_markdown(color.palette(&io::stdout())))
        }
        // Programs get what the model wrote.
        OutputFormat::Text => Box::new(terminal),
    }
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
