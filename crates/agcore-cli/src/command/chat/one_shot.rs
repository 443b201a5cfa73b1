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
    input,
    interrupt::Interrupts,
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
    let message = input::message(args.message.as_deref()).await?;
    let approver = args.yes.then(|| Arc::new(AllowAll) as Arc<dyn Approver>);
    let (session, _) = session::session(args, settings, approver)?;
    let mut render = renderer(args.output_format(), color);
    let turn = turn::run(&session, message, interrupts, &mut *render).await;
    let better = versioned_url(&settings.provider);
    turn.map(|_| ())
        .map_err(|failure| failure.or_base_url(better.as_deref()))
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
