//! The conversation at the terminal: prompt, turn, prompt.

use std::{io, sync::Arc};

use agcore::tools::Approver;

use super::{
    commands::{self, Next},
    live_turn::LiveTurn,
    screen::Screen,
    session::{agent, session},
    talk::Talk,
};
use crate::{
    approve::{AllowAll, AskPerson},
    args::ChatArgs,
    console::{Console, Line},
    exit::Failure,
    history,
    interrupt::Interrupts,
    render::Colour,
    settings::Settings,
    vendor::shown_url,
};

/// A chat at the terminal. A turn that fails is told of, and the chat goes on.
///
/// # Errors
/// A terminal that cannot be used, settings that do not fit.
pub(super) async fn run(
    args: &ChatArgs,
    settings: &Settings,
    interrupts: &Interrupts,
    colour: Colour,
) -> Result<(), Failure> {
    let mut talk = talk(args, settings, interrupts, colour)?;
    let (console, screen) = (talk.console.clone(), talk.screen);
    // At the prompt the editor gets Ctrl-C as a key.
    let _meaning = interrupts.ignore();
    greet(settings, screen)?;
    if settings.history {
        take_up_history(&console, screen)?;
    }
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
                if said(line, &mut talk).await? == Next::Leave {
                    return Ok(());
                }
            }
        }
    }
}

fn talk(args: &ChatArgs, settings: &Settings, interrupts: &Interrupts, colour: Colour) -> Result<Talk, Failure> {
    let console = Console::open()?;
    let screen = Screen {
        palette: colour.palette(&io::stdout()),
    };
    let (asking, questions) = AskPerson::new();
    let approver: Arc<dyn Approver> = if args.yes { Arc::new(AllowAll) } else { Arc::new(asking) };
    let (session, policy) = session(args, settings, Some(approver))?;
    let turns = LiveTurn {
        console: console.clone(),
        screen,
        questions,
        interrupts: interrupts.clone(),
        policy,
    };
    Ok(Talk {
        session,
        agent: agent(settings),
        model: settings.provider.model.clone(),
        turns,
        console,
        screen,
    })
}

/// What the person typed: nothing, a command, or a message.
async fn said(line: String, talk: &mut Talk) -> Result<Next, Failure> {
    if line.is_empty() {
        return Ok(Next::Go);
    }
    if let Err(why) = talk.console.remember(&line) {
        talk.screen
            .note(&format!("What is typed is no longer kept for the next chat: {why}"))?;
    }
    if line.starts_with('/') {
        return commands::run(&line, talk).await;
    }
    talk.say(line).await?;
    Ok(Next::Go)
}

fn take_up_history(console: &Console, screen: Screen) -> Result<(), Failure> {
    let taken = match history::file() {
        Ok(Some(file)) => console.remember_in(file),
        Ok(None) => Ok(()),
        Err(why) => Err(why),
    };
    match taken {
        Ok(()) => Ok(()),
        Err(why) => screen.note(&format!("What is typed is not kept for the next chat: {why}")),
    }
}

fn greet(settings: &Settings, screen: Screen) -> Result<(), Failure> {
    let provider = &settings.provider;
    let place = provider
        .base_url
        .as_ref()
        .map(|url| format!(" at {}", shown_url(url)))
        .unwrap_or_default();
    screen.note(&format!("{} of {}{place}", provider.model, provider.name()))?;
    screen.note("/help lists the commands, Ctrl-C cancels a turn, Ctrl-D leaves.")
}
