//! The conversation at the terminal: prompt, turn, prompt.

use std::{io, sync::Arc};

use agcore::{AgentSession, tools::Approver};

use super::{
    commands::{self, Next},
    live_turn::LiveTurn,
    screen::Screen,
    session::session,
};
use crate::{
    approve::{AllowAll, AskPerson},
    args::ChatArgs,
    console::{Console, Line},
    exit::Failure,
    interrupt::Interrupts,
    render::Palette,
    settings::Settings,
};

/// A chat at the terminal. A turn that fails is told of, and the chat goes on.
///
/// # Errors
/// A terminal that cannot be used, settings that do not fit.
pub(super) async fn run(args: &ChatArgs, settings: &Settings, interrupts: &Interrupts) -> Result<(), Failure> {
    let console = Console::open()?;
    let screen = Screen {
        palette: Palette::of(&io::stdout()),
    };
    let (asking, questions) = AskPerson::new();
    let approver: Arc<dyn Approver> = if args.yes { Arc::new(AllowAll) } else { Arc::new(asking) };
    let (session, policy) = session(args, settings, Some(approver))?;
    let mut turns = LiveTurn {
        console: console.clone(),
        screen,
        questions,
        interrupts: interrupts.clone(),
        policy,
    };
    // At the prompt the editor gets Ctrl-C as a key.
    let _meaning = interrupts.ignore();
    greet(settings, screen)?;
    let mut thrown = false;
    loop {
        screen.speaker("you")?;
        let line = console.read_line("> ").await?;
        let again = std::mem::replace(&mut thrown, line == Line::Thrown);
        match line {
            Line::Over => return Ok(()),
            Line::Thrown if again => return Ok(()),
            Line::Thrown => screen.note("Ctrl-C once more, Ctrl-D or /exit leaves the chat.")?,
            Line::Said(line) => {
                if said(line, &console, screen, &session, &mut turns).await? == Next::Leave {
                    return Ok(());
                }
            }
        }
    }
}

/// What the person typed: nothing, a command, or a message.
async fn said(
    line: String,
    console: &Console,
    screen: Screen,
    session: &AgentSession,
    turns: &mut LiveTurn,
) -> Result<Next, Failure> {
    if line.is_empty() {
        return Ok(Next::Go);
    }
    console.remember(&line);
    if line.starts_with('/') {
        return commands::run(&line, session, &turns.policy, screen).await;
    }
    screen.speaker("agent")?;
    turns.run(session, line).await?;
    Ok(Next::Go)
}

fn greet(settings: &Settings, screen: Screen) -> Result<(), Failure> {
    let provider = &settings.provider;
    let place = provider
        .base_url
        .as_ref()
        .map(|url| format!(" at {url}"))
        .unwrap_or_default();
    screen.note(&format!("{} of {}{place}", provider.model, provider.name()))?;
    screen.note("/help lists the commands, Ctrl-C cancels a turn, Ctrl-D leaves.")
}
