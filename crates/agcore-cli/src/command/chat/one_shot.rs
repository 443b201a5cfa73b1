//! Answers a single message.

use std::{
    collections::VecDeque,
    io::{self, IsTerminal},
    sync::Arc,
};

use super::{asking::Asking, session::audited_session};
use crate::{
    approve::AskUser,
    args::{ChatArgs, OutputFormat},
    denials::Denials,
    exit::{Failure, FailureKind},
    input,
    interrupt::Interrupts,
    permission_mode::mode_approver,
    question_terminal::{QuestionTerminal, report_grants},
    render::{Color, JsonLines, Render, Terminal},
    settings::Settings,
    turn,
    vendor::versioned_url,
};

/// Runs one turn. The answer goes to standard output, everything else to standard error.
///
/// # Errors
/// When there is no message, the turn fails, or a call was denied because no one could be asked.
pub(super) async fn run(
    args: &ChatArgs,
    settings: &Settings,
    interrupts: &Interrupts,
    color: Color,
) -> Result<(), Failure> {
    let message = input::message(args.message.as_deref()).await?;
    let mode = args.permission_mode();
    let terminal = QuestionTerminal::open(interrupts, color)?;
    let (ask_user, questions) = AskUser::new();
    let person = terminal.is_some().then(|| Arc::new(ask_user) as _);
    let denials = Arc::new(Denials::default());
    let approver = mode_approver(mode, person);
    let (session, policy) = audited_session(args, settings, approver, Some(Arc::clone(&denials) as _))?;
    let mut render = renderer(args.output_format(), color);
    if let Some(terminal) = terminal {
        render = Box::new(Asking {
            render,
            terminal,
            questions,
            tools: session.bundle().tools().snapshot(),
            pending: None,
            queued: VecDeque::new(),
        });
    }
    let result = turn::run(&session, message, interrupts, &mut *render).await;
    // Ends the output, before anything is reported below it.
    drop(render);
    report_grants(&policy.grants().take_updates())?;
    match (result, denials.unasked(mode)) {
        (Ok(_), None) => Ok(()),
        (Ok(_), Some(denied)) => Err(denied),
        (Err(failure), Some(denied)) if denials.has_repeated() && failure.kind() == FailureKind::Task => {
            let message = format!("{denied}\nThe turn ended because the model repeated the call.");
            Err(Failure::new(FailureKind::Denied, message))
        }
        (Err(failure), _) => Err(failure.or_base_url(versioned_url(&settings.provider).as_deref())),
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
