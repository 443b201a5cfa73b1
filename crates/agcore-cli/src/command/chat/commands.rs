//! The slash commands of a chat.

use super::{
    compact::compact,
    conversation::Conversation,
    saved::{load, save},
};
use crate::{
    exit::{Failure, suggestion},
    listing::listing,
    render::{sanitized_line, usage_line},
};

/// The next step of the chat after a line was handled.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Next {
    Continue,
    Exit,
}

const HELP: &str = "\
/model [NAME]  show the model, or switch to another one
/tools         list the tools and whether they may run
/cost          show the tokens and model calls of this chat
/save FILE     save the conversation to a file
/load FILE     continue a saved conversation
/compact       summarize the older part of the conversation
/clear         discard the conversation
/help          show this list
/exit          leave the chat, as does Ctrl-D

Alt-Enter, or Enter after a trailing \\, starts a new line.
Pasted text is sent as one message.
";

/// The names of the commands.
const NAMES: [&str; 10] = [
    "/model", "/tools", "/cost", "/save", "/load", "/compact", "/clear", "/help", "/exit", "/quit",
];

/// A parsed command.
#[derive(Debug, PartialEq, Eq)]
enum Command<'l> {
    Model(Option<&'l str>),
    Tools,
    Cost,
    Save(&'l str),
    Load(&'l str),
    Compact,
    Clear,
    Help,
    Exit,
}

/// Runs a line that starts with a slash.
///
/// # Errors
/// When the terminal was closed.
pub(super) async fn run(line: &str, conversation: &mut Conversation) -> Result<Next, Failure> {
    let screen = conversation.screen;
    let command = match parse(line) {
        Ok(command) => command,
        Err(error) => {
            screen.error(&error)?;
            return Ok(Next::Continue);
        }
    };
    match command {
        Command::Exit => return Ok(Next::Exit),
        Command::Help => screen.list(HELP)?,
        Command::Tools => screen.list(&tools(conversation))?,
        Command::Cost => screen.print(&format!("{}\n", usage_line(&conversation.session.usage().await)))?,
        Command::Model(None) => screen.print(&format!("{}\n", conversation.model))?,
        Command::Model(Some(name)) => {
            conversation.switch_model(name);
            screen.note(&format!("Model set to {name}. Conversation kept."))?;
        }
        Command::Save(file) => save(conversation, file).await?,
        Command::Load(file) => load(conversation, file).await?,
        Command::Compact => compact(conversation).await?,
        Command::Clear => match conversation.session.set_messages(Vec::new()).await {
            Ok(()) => screen.note("Conversation cleared.")?,
            Err(error) => screen.error(&error.to_string())?,
        },
    }
    Ok(Next::Continue)
}

/// Parses a command. File names may contain spaces.
fn parse(line: &str) -> Result<Command<'_>, String> {
    let (name, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let rest = Some(rest.trim()).filter(|rest| !rest.is_empty());
    let file = rest.ok_or_else(|| format!("{name} needs a file name: {name} FILE"));
    let command = match name {
        "/model" => return Ok(Command::Model(rest)),
        "/save" => return file.map(Command::Save),
        "/load" => return file.map(Command::Load),
        "/tools" => Command::Tools,
        "/cost" => Command::Cost,
        "/compact" => Command::Compact,
        "/clear" => Command::Clear,
        "/help" => Command::Help,
        "/exit" | "/quit" => Command::Exit,
        unknown => {
            let near = suggestion(unknown, NAMES);
            return Err(format!(
                "unknown command {}{near}{} /help lists the commands",
                sanitized_line(unknown),
                if near.is_empty() { ";" } else { "" }
            ));
        }
    };
    match rest {
        None => Ok(command),
        Some(rest) => Err(format!("{name} takes no argument, but got `{}`", sanitized_line(rest))),
    }
}

fn tools(conversation: &Conversation) -> String {
    let session = &conversation.session;
    let tools = listing(
        session.bundle().tools(),
        &conversation.turns.policy,
        Some(session.tools()),
    );
    match tools {
        tools if tools.is_empty() => "The model has no tools.\n".to_owned(),
        tools => tools,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_commands() {
        let check = |line: &str, expected: Command<'_>| assert_eq!(parse(line).unwrap(), expected, "{line}");
        check("/model", Command::Model(None));
        check("/model  gpt-5 ", Command::Model(Some("gpt-5")));
        check("/save my talk.json", Command::Save("my talk.json"));
        check("/quit", Command::Exit);
        let error = |line: &str, expected: &str| assert_eq!(parse(line).unwrap_err(), expected, "{line}");
        error(
            "/modle x",
            "unknown command /modle; did you mean `/model`? /help lists the commands",
        );
        error("/weather", "unknown command /weather; /help lists the commands");
        error("/save", "/save needs a file name: /save FILE");
        error("/cost now", "/cost takes no argument, but got `now`");
    }

    #[test]
    fn help_names_every_command() {
        assert!(
            NAMES
                .iter()
                .filter(|name| **name != "/quit")
                .all(|name| HELP.contains(name))
        );
    }
}
