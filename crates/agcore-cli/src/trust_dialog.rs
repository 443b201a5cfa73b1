//! Shows what the files of a folder would change, and asks whether to trust them.

use std::{
    fmt::Write as _,
    io::{self, IsTerminal, Write as _},
};

use agcore::{chat::Clock, llm::SystemClock};

use crate::{
    args::SettingsArgs,
    console::{Console, Line, discard_input},
    exit::Failure,
    interrupt::Interrupts,
    process::print,
    render::{Color, sanitized_line},
    settings::{Choices, Effect, Folder, Settings},
    trust::{Trust, TrustStore},
};

/// The prompt of the question.
const PROMPT: &str = "Trust this folder? [y]es, [n]o: ";

/// Reads the settings of a chat. If the current directory is not trusted and the user can be asked, asks first.
///
/// # Errors
/// When a source cannot be read, a setting is invalid, unknown or missing, or the user presses Ctrl-C at the question.
pub(crate) async fn settings(
    args: &SettingsArgs,
    may_ask: bool,
    interrupts: &Interrupts,
    color: Color,
) -> Result<Settings, Failure> {
    let mut folder = Choices::open_folder(args)?;
    if may_ask && is_at_terminal() && folder.needs_decision() {
        print_question(&folder, color, "Without trust, they are ignored in this run.")?;
        if ask(interrupts).await? {
            if let Err(error) = TrustStore::of_user().add(&folder.snapshot, SystemClock::new().now()) {
                print_line(&format!("warning: trusted for this run only: {error}"))?;
            }
            folder.trust();
        } else {
            folder.decline();
        }
    }
    let choices = Choices::in_folder(args, folder)?;
    print_notices(&choices.notices())?;
    Settings::new(choices)
}

/// Prints messages to standard error, each on one line.
///
/// # Errors
/// When standard error is closed.
pub(crate) fn print_notices(notices: &[String]) -> Result<(), Failure> {
    notices
        .iter()
        .try_for_each(|notice| print_line(&sanitized_line(notice)))
}

/// Returns whether there is a user who can answer.
pub(crate) fn is_at_terminal() -> bool {
    io::stdin().is_terminal() && io::stdout().is_terminal()
}

/// Describes what the files of the folder set and add.
pub(crate) fn description(folder: &Folder) -> String {
    let mut text = String::new();
    let mut last: Option<String> = None;
    for Effect { file, name, value, .. } in folder.effects() {
        let value = value.as_deref().map(sanitized_line);
        let file = sanitized_line(&file);
        let is_first = last.replace(file.clone()).is_none_or(|last| last != file);
        // Writing to a string cannot fail.
        let _ = match (name.as_deref().map(sanitized_line), value) {
            (None, Some(value)) => writeln!(text, "  {file}: {value}"),
            (name, value) => {
                let head = if is_first { format!("  {file}\n") } else { String::new() };
                let value = value.map(|value| format!(" = {value}")).unwrap_or_default();
                writeln!(text, "{head}    {}{value}", name.unwrap_or_default())
            }
        };
    }
    text
}

/// Prints the question, without the prompt, where the prompt will be: on standard output.
///
/// # Errors
/// When standard output is closed.
pub(crate) fn print_question(folder: &Folder, color: Color, consequence: &str) -> Result<(), Failure> {
    let style = color.palette(&io::stdout()).question;
    let path = folder.snapshot.folder.as_ref();
    let path = path.map(|path| sanitized_line(&path.display().to_string()));
    let reason = match &folder.trust {
        Trust::Changed(changes) => format!(
            "The files of this folder have changed since you trusted it ({}):",
            sanitized_line(&changes.join(", "))
        ),
        _ => "The files of this folder change what the program does:".to_owned(),
    };
    print(&format!(
        "{style}{reason}{style:#} {}\n{}{consequence}\n",
        path.unwrap_or_default(),
        description(folder)
    ))
}

/// Asks until the answer is yes or no.
///
/// # Errors
/// When the terminal cannot be used, or the user presses Ctrl-C.
pub(crate) async fn ask(interrupts: &Interrupts) -> Result<bool, Failure> {
    let console = Console::open()?;
    // The editor receives Ctrl-C as a key.
    let _guard = interrupts.ignore();
    // Input typed before the question appeared does not answer it.
    discard_input();
    loop {
        match console.read_line(PROMPT).await? {
            Line::Entered(answer) => match answer.to_lowercase().as_str() {
                "y" | "yes" => return Ok(true),
                "n" | "no" => return Ok(false),
                _ => {}
            },
            Line::Escaped | Line::Closed => return Ok(false),
            Line::Interrupted => return Err(Failure::cancelled()),
        }
    }
}

fn print_line(text: &str) -> Result<(), Failure> {
    writeln!(io::stderr(), "{text}").map_err(|error| Failure::output(&error))
}
