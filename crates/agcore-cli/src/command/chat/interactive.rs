//! The interactive chat: reads lines and runs commands and turns.

use std::{io, sync::Arc};

use super::{
    commands::{self, Next},
    conversation::Conversation,
    screen::Screen,
    session::{agent, session},
    turn_runner::TurnRunner,
};
use crate::{
    approve::AskUser,
    args::ChatArgs,
    console::{Console, Line},
    exit::Failure,
    history::history_file,
    interrupt::Interrupts,
    permission_mode::mode_approver,
    render::Color,
    settings::Settings,
    vendor::{redacted_url, versioned_url},
};

/// Runs a chat at the terminal until the user leaves. A turn that fails is reported and does not end the chat.
///
/// # Errors
/// When the terminal cannot be used or the settings are invalid.
pub(super) async fn run(
    args: &ChatArgs,
    settings: &Settings,
    interrupts: &Interrupts,
    color: Color,
) -> Result<(), Failure> {
    let mut conversation = conversation(args, settings, interrupts, color)?;
    let (console, screen) = (conversation.console.clone(), conversation.screen);
    // At the prompt, the editor receives Ctrl-C as a key.
    let _guard = interrupts.ignore();
    greet(settings, screen)?;
    if settings.history {
        load_history(&console, screen)?;
    }
    if let Some(message) = &args.message {
        screen.speaker("you")?;
        screen.print(&format!("> {message}\n"))?;
        conversation.send(message.clone()).await?;
    }
    let mut was_interrupted = false;
    loop {
        screen.speaker("you")?;
        let line = console.read_line("> ").await?;
        let is_second = std::mem::replace(&mut was_interrupted, line == Line::Interrupted);
        match line {
            Line::Closed => return Ok(()),
            Line::Interrupted if is_second => return Ok(()),
            Line::Interrupted => screen.note("To leave, press Ctrl-C again or Ctrl-D, or type /exit.")?,
            Line::Entered(line) => {
                if handle_line(line, &mut conversation).await? == Next::Exit {
                    return Ok(());
                }
            }
        }
    }
}

fn conversation(
    args: &ChatArgs,
    settings: &Settings,
    interrupts: &Interrupts,
    color: Color,
) -> Result<Conversation, Failure> {
    let console = Console::open()?;
    let screen = Screen {
        palette: color.palette(&io::stdout()),
    };
    let (ask_user, questions) = AskUser::new();
    let approver = mode_approver(args.permission_mode(), Some(Arc::new(ask_user)));
    let (session, policy) = session(args, settings, approver)?;
    let turns = TurnRunner {
        console: console.clone(),
        screen,
        questions,
        interrupts: interrupts.clone(),
        policy,
        better_url: versioned_url(&settings.provider),
    };
    Ok(Conversation {
        session,
        agent: agent(settings),
        model: settings.provider.model.clone(),
        turns,
        console,
        screen,
    })
}

/// Handles an entered line: nothing, a command, or a message.
async fn handle_line(line: String, conversation: &mut Conversation) -> Result<Next, Failure> {
    if line.is_empty() {
        return Ok(Next::Continue);
    }
    if let Err(error) = conversation.console.add_history(&line) {
        conversation
            .screen
            .note(&format!("The history is no longer saved: {error}"))?;
    }
    if line.starts_with('/') {
        return commands::run(&line, conversation).await;
    }
    conversation.send(line).await?;
    Ok(Next::Continue)
}

fn load_history(console: &Console, screen: Screen) -> Result<(), Failure> {
    let loaded = match history_file() {
        Ok(Some(file)) => console.load_history(file),
        Ok(None) => Ok(()),
        Err(error) => Err(error),
    };
    match loaded {
        Ok(()) => Ok(()),
        Err(error) => screen.note(&format!("The history is not saved: {error}")),
    }
}

fn greet(settings: &Settings, screen: Screen) -> Result<(), Failure> {
    let provider = &settings.provider;
    let place = provider
        .base_url
        .as_ref()
        .map(|url| format!(" at {}", redacted_url(url)))
        .unwrap_or_default();
    screen.note(&format!("Model: {} ({}{place})", provider.model, provider.name()))?;
    for line in settings.context_files.notes() {
        screen.note(&line)?;
    }
    screen.note("/help lists the commands, Ctrl-C cancels a turn, Ctrl-D exits.")
}
