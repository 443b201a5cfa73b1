//! Tips in errors about arguments.

use std::ffi::OsString;

use agcore::chat::text::nearest;
use clap::{
    Command, Error,
    error::{ContextKind, ContextValue, ErrorKind},
};

use crate::prompt::COMMAND;

/// The commands that take a message.
const MESSAGE_COMMANDS: [&str; 3] = [COMMAND, "chat", "run"];

/// The options of every command, which clap adds.
const COMMON: [&str; 2] = ["help", "version"];

/// Adds to an error what was probably meant.
pub(crate) fn with_tips(error: Error, arguments: &[OsString], program: &Command) -> Error {
    with_quoting(with_similar_option(error, program), arguments, program)
}

/// Names the option of the chat that resembles an unknown one. Clap compares it with other words, knows no option of the program
/// itself, and otherwise advises to send the option as a message.
fn with_similar_option(mut error: Error, program: &Command) -> Error {
    let unknown = text(&error, ContextKind::InvalidArg).filter(|_| error.kind() == ErrorKind::UnknownArgument);
    let Some(unknown) = unknown.and_then(|option| option.strip_prefix("--")).map(str::to_owned) else {
        return error;
    };
    let suggested = text(&error, ContextKind::SuggestedArg).and_then(|option| option.strip_prefix("--"));
    if suggested.is_some_and(|suggested| nearest(&unknown, [suggested]).is_some()) {
        return error;
    }
    let chat = program.find_subcommand(COMMAND).into_iter();
    let known = chat.flat_map(Command::get_arguments).chain(program.get_arguments());
    let known = known.filter(|arg| !arg.is_hide_set()).filter_map(clap::Arg::get_long);
    error.remove(ContextKind::Suggested);
    error.remove(ContextKind::SuggestedArg);
    match nearest(&unknown, known.chain(COMMON)) {
        Some(near) => error.insert(ContextKind::SuggestedArg, ContextValue::String(format!("--{near}"))),
        None => {
            let tip = "`agcore chat --help` lists the options of a chat or a prompt".to_owned();
            error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]))
        }
    };
    error
}

fn text(error: &Error, kind: ContextKind) -> Option<&str> {
    match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.as_str()),
        _ => None,
    }
}

/// Adds to an error about a second word how to send a message of several words, if the first one may begin a message.
fn with_quoting(mut error: Error, arguments: &[OsString], program: &Command) -> Error {
    let words: Vec<&str> = arguments.iter().map(|word| word.to_str().unwrap_or_default()).collect();
    let Some(quoted) = quoted(&error, &words) else {
        return error;
    };
    if error.kind() == ErrorKind::InvalidSubcommand {
        match mistyped_command(&words, program) {
            Some(Certainty::Sure) => return error,
            Some(Certainty::Unsure) => {}
            None => drop(error.remove(ContextKind::SuggestedSubcommand)),
        }
    }
    let tip = format!("a message of several words needs quotation marks: {quoted}");
    error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
    error
}

/// The certainty that words are a mistyped command.
enum Certainty {
    /// No sentence begins like this.
    Sure,
    /// A sentence may begin like this.
    Unsure,
}

/// Returns whether the first word is a mistyped command, or `None` if it is not: words with another first letter, such as `what`
/// and `chat`, are similar only by accident.
fn mistyped_command(words: &[&str], program: &Command) -> Option<Certainty> {
    let first = words.get(1)?;
    let initial = |word: &str| word.chars().next().map(|c| c.to_ascii_lowercase());
    let commands = program.get_subcommands().filter(|command| !command.is_hide_set());
    let similar = commands.filter(|command| initial(command.get_name()) == initial(first));
    let names: Vec<&str> = similar.map(Command::get_name).collect();
    let command = program.find_subcommand(nearest(first, names)?)?;
    let names = command.get_subcommands().map(Command::get_name);
    let is_subcommand = words.get(2).is_some_and(|second| nearest(second, names).is_some());
    // A sentence has more than two words.
    let is_short = words.len() < 4;
    Some(match is_subcommand || is_short {
        true => Certainty::Sure,
        false => Certainty::Unsure,
    })
}

/// Returns the command line with quotation marks around the message.
fn quoted(error: &Error, words: &[&str]) -> Option<String> {
    let is_word = |at: usize| {
        words
            .get(at)
            .is_some_and(|word| !word.is_empty() && !word.starts_with('-'))
    };
    let start = match error.kind() {
        ErrorKind::InvalidSubcommand => {
            let first = text(error, ContextKind::InvalidSubcommand)?;
            words.iter().position(|word| *word == first).filter(|at| *at == 1)?
        }
        ErrorKind::UnknownArgument => {
            let command = words.iter().skip(1).find(|word| MESSAGE_COMMANDS.contains(word))?;
            let second = text(error, ContextKind::InvalidArg)?;
            let at = (2..words.len()).find(|at| words[*at] == second && is_word(*at) && is_word(*at - 1))?;
            (words[at - 1] != *command).then_some(at - 1)?
        }
        _ => return None,
    };
    let end = (start..words.len()).find(|at| !is_word(*at)).unwrap_or(words.len());
    let message = words[start..end].join(" ");
    if end - start < 2 {
        return None;
    }
    let before = words[1..start].iter().filter(|word| **word != COMMAND).copied();
    let message = in_quotation_marks(&message);
    let line: Vec<&str> = ["agcore"]
        .into_iter()
        .chain(before)
        .chain([message.as_str()])
        .chain(words[end..].iter().copied())
        .collect();
    Some(line.join(" "))
}

/// Quotes a message for a shell, which must not interpret a part of it.
fn in_quotation_marks(message: &str) -> String {
    match message.contains(['"', '$', '`', '\\', '!']) {
        false => format!("\"{message}\""),
        true => format!("'{}'", message.replace('\'', "'\\''")),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::{Args, prompt::with_command};

    #[track_caller]
    fn shown(line: &str) -> String {
        let arguments = line.split(' ').map(OsString::from).collect();
        let arguments = with_command(arguments, &Args::command(), || false);
        let error = Args::command().try_get_matches_from(&arguments).unwrap_err();
        with_tips(error, &arguments, &Args::command()).to_string()
    }

    #[test]
    fn unknown_options_are_compared_with_all_that_are_known() {
        let check = |line: &str, expected: &str| assert!(shown(line).contains(expected), "{line}: {}", shown(line));
        check("agcore --verison", "a similar argument exists: '--version'");
        check("agcore --hlep", "'--help'");
        check("agcore --modle x", "'--model'");
        check("agcore --max-turns 1", "tip: `agcore chat --help` lists the options");
        assert!(!shown("agcore --max-turns 1").contains("as a value"));
    }

    #[test]
    fn distinguishes_mistyped_commands_from_sentences() {
        let tips = |line: &str| {
            let shown = shown(line);
            (shown.contains("similar subcommand"), shown.contains("quotation marks"))
        };
        // (a similar command, quotation marks)
        let check = |line: &str, expected: (bool, bool)| assert_eq!(tips(line), expected, "{line}: {}", shown(line));
        check("agcore session list", (true, false));
        check("agcore sesions lst --json", (true, false));
        check("agcore sesions show last --json", (true, false));
        check("agcore chta hello", (true, false));
        check("agcore doctr", (true, false));
        check("agcore what is this", (false, true));
        check("agcore what next", (false, true));
        check("agcore flows are slow here", (true, true));
        check("agcore is this so", (false, true));
    }

    #[test]
    fn a_message_without_quotation_marks_is_recognized() {
        let tip = |line: &str| {
            let shown = shown(line);
            let tip = shown.split_once("needs quotation marks: ").map(|(_, rest)| rest);
            tip.map(|rest| rest.lines().next().unwrap_or_default().to_owned())
        };
        let check = |line: &str, expected: &str| assert_eq!(tip(line).as_deref(), Some(expected), "{line}");
        check("agcore what is this", "agcore \"what is this\"");
        check("agcore is this so", "agcore \"is this so\"");
        check("agcore -p -m gpt-5 is this so", "agcore -p -m gpt-5 \"is this so\"");
        check("agcore is this so --no-tools", "agcore \"is this so\" --no-tools");
        check("agcore chat is this so", "agcore chat \"is this so\"");
        check("agcore run the tests", "agcore run \"the tests\"");
        check("agcore fix the bug!", "agcore 'fix the bug!'");
        check("agcore what's $HOME for", "agcore 'what'\\''s $HOME for'");
        check("agcore what's this", "agcore \"what's this\"");
        check("agcore 这是 什么", "agcore \"这是 什么\"");
        for line in [
            "agcore doctr",
            "agcore chat --modle x",
            "agcore tools lst x",
            "agcore doctor x y",
        ] {
            assert_eq!(tip(line), None, "{line}");
        }
    }
}
