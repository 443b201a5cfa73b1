//! Shows what the files of a folder would change, and asks whether to trust them.

use std::{
    io::{self, IsTerminal, Write as _},
    sync::atomic::{AtomicBool, Ordering},
};

use agcore::{chat::Clock, llm::SystemClock};
use agcore_settings::{
    Choices, Effect, Folder, Settings, SettingsOptions,
    trust::{FileKind, Trust, TrustStore, listed_changes},
};
use agcore_terminal::{
    console::{Console, Line, discard_input},
    interrupt::Interrupts,
    render::{CONTINUED, Color, sanitized_line, shown_line, wrapped, wrapped_with_paths},
};

use crate::{exit::Failure, stdout::print};

/// The prompt of the question.
const PROMPT: &str = "Trust this folder? [y]es, [n]o: ";

/// Whether notices are left out.
static IS_QUIET: AtomicBool = AtomicBool::new(false);

/// The headings of settings that do not need trust, and of those that do.
const ALWAYS: &str = "Used even without trust:";
const WITH_TRUST: &str = "Used only with trust:";

/// The maximum number of settings and variables that are shown and decide neither about keys nor about tools.
const MAX_MINOR: usize = 20;

/// Reads the settings of a chat. If the current directory is not trusted and the user can be asked, asks first.
///
/// # Errors
/// When a source cannot be read, a setting is invalid, unknown or missing, or the user presses Ctrl-C at the question.
pub(crate) async fn settings(
    args: &SettingsOptions,
    may_ask: bool,
    interrupts: &Interrupts,
    color: Color,
) -> Result<Settings, Failure> {
    let mut folder = Choices::open_folder(args)?;
    if may_ask && is_at_terminal() && folder.needs_decision() {
        print_question(&folder, color, " in this run")?;
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
    Ok(Settings::new(choices)?)
}

/// Sets whether notices are left out from now on, because only the answer and errors are wanted.
pub(crate) fn silence_notices(is_quiet: bool) {
    IS_QUIET.store(is_quiet, Ordering::Relaxed);
}

/// Prints messages to standard error, each on one line, unless they are [silenced](silence_notices).
///
/// # Errors
/// When standard error is closed.
pub(crate) fn print_notices(notices: &[String]) -> Result<(), Failure> {
    match IS_QUIET.load(Ordering::Relaxed) {
        true => Ok(()),
        false => print_problems(notices),
    }
}

/// Prints messages to standard error that are never silenced, each on one line.
///
/// # Errors
/// When standard error is closed.
pub(crate) fn print_problems(problems: &[String]) -> Result<(), Failure> {
    problems
        .iter()
        .try_for_each(|notice| print_line(&sanitized_line(notice)))
}

/// Returns whether there is a user who can answer.
pub(crate) fn is_at_terminal() -> bool {
    io::stdin().is_terminal() && io::stdout().is_terminal()
}

/// Describes what the files of the folder set and add. What decides where keys are sent is last, next to the prompt. If some
/// settings need no trust, they are listed apart from those that do.
pub(crate) fn description(folder: &Folder) -> String {
    let mut effects = folder.effects();
    effects.sort_by_key(importance);
    let (always, effects): (Vec<Effect>, Vec<Effect>) = effects.into_iter().partition(is_always_used);
    if always.is_empty() {
        return listed(&effects);
    }
    let (with_trust, unused): (Vec<Effect>, Vec<Effect>) = effects.into_iter().partition(|effect| effect.needs_trust);
    let mut text = format!("{}{ALWAYS}\n{}", listed(&unused), listed(&always));
    if !with_trust.is_empty() {
        text += &format!("{WITH_TRUST}\n{}", listed(&with_trust));
    }
    text
}

/// Returns whether this is a setting that is used without trust. What has no name, such as an unknown variable, has no effect.
fn is_always_used(effect: &Effect) -> bool {
    !effect.needs_trust && effect.name.is_some()
}

fn listed(effects: &[Effect]) -> String {
    let (mut text, mut last, mut minor) = (String::new(), None, 0);
    for effect in effects {
        minor += usize::from(effect.name.is_some() && importance(effect) == 0);
        if minor > MAX_MINOR && importance(effect) == 0 && effect.name.is_some() {
            continue;
        }
        describe(&mut text, effect, last != Some(&effect.file));
        last = Some(&effect.file);
    }
    if minor > MAX_MINOR {
        let more = minor - MAX_MINOR;
        text.insert_str(0, &format!("  {more} more settings and variables; see the files\n"));
    }
    text
}

/// Returns 2 for what decides where keys are sent, and 1 for keys, permissions, hooks and MCP servers.
fn importance(effect: &Effect) -> u8 {
    let name = effect.name.as_deref().unwrap_or_default().to_ascii_lowercase();
    match name
        .strip_prefix("agcore_")
        .or(name.strip_prefix("openai_"))
        .unwrap_or(&name)
    {
        "provider" | "model" | "base_url" | "proxy" => 2,
        "permissions" | "api_key" | "mcp" | "hooks" => 1,
        // They run commands.
        _ if effect.kind == FileKind::McpServers => 1,
        // The key of a vendor may select the vendor.
        _ if effect.kind == FileKind::Variables && name.ends_with("_api_key") => 1,
        _ => 0,
    }
}

fn describe(text: &mut String, effect: &Effect, is_first: bool) {
    let file = sanitized_line(&effect.file);
    let value = effect.value.as_deref().unwrap_or_default();
    let Some(name) = effect.name.as_deref().map(sanitized_line) else {
        *text += &format!("  {file}: {}\n", sanitized_line(value));
        return;
    };
    if is_first {
        *text += &format!("  {file}\n");
    }
    // Only permissions, hooks and MCP servers have several lines.
    for line in value.split('\n') {
        match line.strip_prefix(CONTINUED) {
            // A line break within a command, which the next line continues.
            Some(rest) => *text += &format!("        │ {}\n", shown_line(rest)),
            None => *text += &format!("    {name} = {}\n", shown_line(line)),
        }
    }
}

/// Prints the question, without the prompt, where the prompt will be: on standard output. `scope` states
/// how long a refusal applies, such as ` in this run`.
///
/// # Errors
/// When standard output is closed.
pub(crate) fn print_question(folder: &Folder, color: Color, scope: &str) -> Result<(), Failure> {
    let style = color.palette(&io::stdout()).question;
    let path = folder.snapshot.folder.as_ref();
    let path = path
        .map(|path| sanitized_line(&path.display().to_string()))
        .unwrap_or_default();
    let reason = match &folder.trust {
        Trust::Changed(changes) => format!(
            "The files of this folder have changed since you trusted it ({}):",
            sanitized_line(&listed_changes(changes))
        ),
        _ => "The files of this folder change what the program does:".to_owned(),
    };
    let effects = folder.effects();
    let ignored = match effects.iter().any(is_always_used) {
        _ if !effects.iter().any(|effect| effect.needs_trust) => String::new(),
        true => format!("Without trust, the settings of the last list are ignored{scope}.\n"),
        false => format!("Without trust, they are ignored{scope}.\n"),
    };
    let head = fitting_path(&format!("{reason} {path}"));
    let rest = description(folder) + &ignored;
    print(&format!("{style}{head}{style:#}\n{}", fitting(&rest)))
}

/// Wraps a description if standard output is a terminal.
pub(crate) fn fitting(text: &str) -> String {
    if !io::stdout().is_terminal() {
        return text.to_owned();
    }
    let indent = |line: &str| line.len() - line.trim_start_matches(' ').len() + 2;
    // A tab would become a space.
    let fit = |line: &str| match line.contains('\t') {
        true => line.to_owned(),
        false => wrapped(line, indent(line)),
    };
    let lines = text.split('\n').map(fit);
    lines.collect::<Vec<_>>().join("\n")
}

/// Wraps a sentence with a path if standard output is a terminal.
pub(crate) fn fitting_path(text: &str) -> String {
    match io::stdout().is_terminal() {
        true => wrapped_with_paths(text, 2),
        false => text.to_owned(),
    }
}

/// Asks until the answer is yes or no.
///
/// # Errors
/// When the terminal cannot be used, or the user presses Ctrl-C.
pub(crate) async fn ask(interrupts: &Interrupts) -> Result<bool, Failure> {
    ask_yes_or_no(PROMPT, interrupts).await
}

/// Asks with this prompt until the answer is yes or no.
///
/// # Errors
/// When the terminal cannot be used, or the user presses Ctrl-C.
pub(crate) async fn ask_yes_or_no(prompt: &str, interrupts: &Interrupts) -> Result<bool, Failure> {
    let console = Console::open()?;
    // The editor receives Ctrl-C as a key.
    let _guard = interrupts.ignore();
    // Input typed before the question appeared does not answer it.
    discard_input();
    loop {
        match console.read_line(prompt).await? {
            Line::Entered(answer) => match answer.to_lowercase().as_str() {
                "y" | "yes" => return Ok(true),
                "n" | "no" => return Ok(false),
                // Enter decides nothing.
                _ => print_line("Type y or n.")?,
            },
            Line::Escaped | Line::Closed => return Ok(false),
            Line::Interrupted => return Err(Failure::cancelled()),
        }
    }
}

fn print_line(text: &str) -> Result<(), Failure> {
    writeln!(io::stderr(), "{text}").map_err(|error| Failure::output(&error))
}
