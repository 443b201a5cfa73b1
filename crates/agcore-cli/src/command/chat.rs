//! `agcore chat` and `agcore PROMPT`: an interactive chat, or a single message.

mod screen;
mod session;
mod turn_log;
mod turn_runner;
mod picker;
mod first_key;
mod one_shot;
mod mentions;
mod slash;
mod disabled;
mod conversation;
mod background;
mod saved;
mod last_model;
mod elsewhere;
mod sending;
mod settle;
mod commands;
mod interactive;
#[cfg(feature = "acp")]
pub(crate) mod acp;

use std::io::{self, IsTerminal};

use agcore_args::{ChatArgs, OutputFormat};
use agcore_terminal::{interrupt::Interrupts, render::Color};

use self::first_key::offer_init;

use crate::{exit::Failure, output::Output, trust_dialog, workbench};

pub(super) use self::{
    one_shot::{Front, OneShot},
    picker::selected,
    session::agent,
};

/// Opens a chat that begins with the message, if there is one, or answers the message once if a chat is not wanted or not possible.
///
/// # Errors
/// When the settings are invalid, or a single message fails.
pub(crate) async fn chat(
    args: &ChatArgs,
    interrupts: &Interrupts,
    color: Color,
    output: Option<&Output>,
) -> Result<(), Failure> {
    let is_single = is_single(args);
    trust_dialog::silence_notices(args.quiet && is_single);
    if args.message.is_none() && !args.files.is_empty() {
        return Err(Failure::usage(
            "--file sends a file with a message: add a PROMPT, or - to read it from standard input\nIn a chat, write @PATH.",
        ));
    }
    if args.schema.is_some() && !is_single {
        return Err(Failure::usage("--schema is for single messages: add -p and a message"));
    }
    let may_ask = args.output_format() == OutputFormat::Text;
    let settings = trust_dialog::settings(&args.settings, may_ask, interrupts, color).await?;
    let mut settings = args.applied_to(settings)?;
    if !is_single && offer_init(&settings, interrupts, color).await? {
        settings = args.applied_to(trust_dialog::settings(&args.settings, may_ask, interrupts, color).await?)?;
    }
    if is_single {
        trust_dialog::print_notices(&settings.context_files.warnings())?;
    }
    let (tools, asked) = workbench::open_for_user(&settings, !args.no_tools).await?;
    let tools = workbench::with_chat_tools(tools)?;
    let front = Front {
        interrupts,
        color,
        output,
    };
    let result = match is_single {
        true => Box::pin(one_shot::run(args, &settings, &tools, asked, &front)).await,
        false => Box::pin(interactive::run(args, &mut settings, &tools, asked, &front)).await,
    };
    if let Some(chat) = &tools.chat {
        chat.jobs().end().await;
    }
    tools.servers.close().await;
    result
}

/// Returns whether an interactive chat is not wanted or not possible.
fn is_single(args: &ChatArgs) -> bool {
    let is_for_people = args.output_format() == OutputFormat::Text;
    let is_on_stdin = args.message.as_deref() == Some("-");
    args.print || is_on_stdin || !is_for_people || !io::stdin().is_terminal() || !io::stdout().is_terminal()
}
