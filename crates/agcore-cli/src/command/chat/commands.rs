//! The commands inside a chat.

use super::{
    compact::compact,
    saved::{load, save},
    talk::Talk,
};
use crate::{
    exit::Failure,
    listing::listing,
    near::meant,
    render::{harmless_line, usage_line},
};

/// What happens after a line.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Next {
    Go,
    Leave,
}

const HELP: &str = "\
/model [NAME]  the model that answers; another one from now on
/tools         the tools: allowed, asked about or denied
/cost          tokens and calls of this chat
/save FILE     write the conversation to a file
/load FILE     go on with the conversation of a file
/compact       have the model sum up the older part of the conversation
/clear         forget the conversation
/help          this list
/exit          leave; Ctrl-D does, too

Alt-Enter, or Enter behind a \\ at the end, begins another line; a pasted text of several lines is one message.
";

/// The commands' names.
const NAMES: [&str; 10] = [
    "/model", "/tools", "/cost", "/save", "/load", "/compact", "/clear", "/help", "/exit", "/quit",
];

/// A command as it was typed.
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

/// Runs a line that begins with a slash.
///
/// # Errors
/// When the terminal has gone.
pub(super) async fn run(line: &str, talk: &mut Talk) -> Result<Next, Failure> {
    let screen = talk.screen;
    let command = match parse(line) {
        Ok(command) => command,
        Err(why) => {
            screen.fault(&why)?;
            return Ok(Next::Go);
        }
    };
    match command {
        Command::Exit => return Ok(Next::Leave),
        Command::Help => screen.print(HELP)?,
        Command::Tools => screen.print(&tools(talk))?,
        Command::Cost => screen.print(&format!("{}\n", usage_line(&talk.session.usage().await)))?,
        Command::Model(None) => screen.print(&format!("{}\n", talk.model))?,
        Command::Model(Some(name)) => {
            talk.switch_model(name);
            screen.note(&format!("{name} answers from now on; the conversation stays."))?;
        }
        Command::Save(file) => save(talk, file).await?,
        Command::Load(file) => load(talk, file).await?,
        Command::Compact => compact(talk).await?,
        Command::Clear => match talk.session.set_messages(Vec::new()).await {
            Ok(()) => screen.note("The conversation is forgotten.")?,
            Err(error) => screen.fault(&error.to_string())?,
        },
    }
    Ok(Next::Go)
}

/// Reads a command; a file's name may have spaces.
fn parse(line: &str) -> Result<Command<'_>, String> {
    let (name, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let rest = Some(rest.trim()).filter(|rest| !rest.is_empty());
    let file = rest.ok_or_else(|| format!("{name} needs the name of a file: {name} FILE"));
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
            let near = meant(unknown, NAMES);
            return Err(format!(
                "There is no command {}{near} /help lists them.",
                harmless_line(unknown) + if near.is_empty() { ";" } else { "" }
            ));
        }
    };
    match rest {
        None => Ok(command),
        Some(rest) => Err(format!("{name} takes nothing: what is `{}`?", harmless_line(rest))),
    }
}

fn tools(talk: &Talk) -> String {
    let session = &talk.session;
    match listing(session.bundle().tools(), &talk.turns.policy, Some(session.tools())) {
        none if none.is_empty() => "No tools are offered.\n".to_owned(),
        tools => tools,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_read() {
        let check = |line: &str, expected: Command<'_>| assert_eq!(parse(line).unwrap(), expected, "{line}");
        check("/model", Command::Model(None));
        check("/model  gpt-5 ", Command::Model(Some("gpt-5")));
        check("/save my talk.json", Command::Save("my talk.json"));
        check("/quit", Command::Exit);
        let error = |line: &str, expected: &str| assert_eq!(parse(line).unwrap_err(), expected, "{line}");
        error(
            "/modle x",
            "There is no command /modle; did you mean `/model`? /help lists them.",
        );
        error("/weather", "There is no command /weather; /help lists them.");
        error("/save", "/save needs the name of a file: /save FILE");
        error("/cost now", "/cost takes nothing: what is `now`?");
    }

    #[test]
    fn the_help_names_every_command() {
        assert!(
            NAMES
                .iter()
                .filter(|name| **name != "/quit")
                .all(|name| HELP.contains(name))
        );
    }
}
