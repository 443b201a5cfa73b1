//! [`Completion`]: completes slash commands and file names with Tab, and shows commands while they are typed.

use std::{borrow::Cow, cell::RefCell, fs, path::Path};

use anstyle::Style;
use rustyline::{
    Context, Helper,
    completion::{Completer, Pair, longest_common_prefix},
    highlight::Highlighter,
    hint::Hinter,
    validate::Validator,
};

use super::menu::{MAX_ROWS, Menu};
use crate::{
    process::expand_home,
    render::{window_height, window_width},
    table::table,
};

/// The maximum number of names that are offered.
const MAX_NAMES: usize = 200;

/// A slash command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandName {
    /// The name, with the slash.
    pub name: Cow<'static, str>,
    /// The arguments, as shown to users.
    pub arguments: Cow<'static, str>,
    /// The effect of the command.
    pub help: Cow<'static, str>,
    /// Whether the argument is a file.
    pub takes_file: bool,
}

impl CommandName {
    /// Returns the name with the arguments.
    fn usage(&self) -> String {
        format!("{} {}", self.name, self.arguments).trim_end().to_owned()
    }
}

/// Completes the commands it knows, and file names. Completes nothing without commands, for questions.
#[derive(Debug, Default)]
pub(super) struct Completion {
    pub(super) commands: Vec<CommandName>,
    pub(super) is_prompt: bool,
    /// The style of the menu.
    pub(super) style: Style,
    /// The beginning of a command for which Tab has listed all commands.
    pub(super) listed: RefCell<Option<String>>,
}

impl Completer for Completion {
    type Candidate = Pair;

    fn complete(&self, line: &str, position: usize, _: &Context<'_>) -> rustyline::Result<(usize, Vec<Pair>)> {
        let found = self.is_prompt.then(|| self.candidates(&line[..position]));
        let (start, found) = found.unwrap_or((0, Vec::new()));
        if position < line.len() || self.menu(line, position, (1, 1)).is_none() {
            return Ok((start, found));
        }
        Ok((start, self.listed_by_menu(found)))
    }
}

impl Hinter for Completion {
    type Hint = Menu;

    fn hint(&self, line: &str, position: usize, _: &Context<'_>) -> Option<Menu> {
        let is_listed = self.listed.borrow().as_deref() == Some(line);
        // The input, and the line that counts the others, must fit as well.
        let rows = match is_listed {
            true => window_height().saturating_sub(3).max(MAX_ROWS),
            false => MAX_ROWS,
        };
        self.menu(line, position, (window_width(), rows))
    }
}

impl Highlighter for Completion {
    fn highlight_hint<'h>(&self, hint: &'h str) -> Cow<'h, str> {
        let style = self.style;
        Cow::Owned(format!("{style}{hint}{style:#}"))
    }
}

impl Validator for Completion {}
impl Helper for Completion {}

impl Completion {
    /// Returns the candidates for the end of this text, and where what they replace starts.
    fn candidates(&self, text: &str) -> (usize, Vec<Pair>) {
        let word = text.rfind(char::is_whitespace).map_or(0, |at| at + 1);
        if text.starts_with('/') && word == 0 {
            return (0, self.commands(text));
        }
        if let Some((command, path)) = text.split_once(' ')
            && self
                .commands
                .iter()
                .any(|known| known.name == command && known.takes_file)
        {
            let path = path.trim_start();
            return (text.len() - path.len(), files(path).into_iter().map(plain).collect());
        }
        if let Some(start) = mention(text) {
            let quoted = text[start..].starts_with("@\"");
            let path = text[start + 1..].trim_start_matches('"');
            return (
                start,
                files(path).into_iter().map(|path| mentioned(&path, quoted)).collect(),
            );
        }
        if text.starts_with('!') {
            let start = word.max(1);
            return (start, files(&text[start..]).into_iter().map(plain).collect());
        }
        (text.len(), Vec::new())
    }

    /// Returns the commands that the line at the prompt may become, while the cursor is at its end.
    fn menu(&self, line: &str, position: usize, size: (usize, usize)) -> Option<Menu> {
        if !self.is_prompt || position < line.len() || !line.starts_with('/') {
            return None;
        }
        let mut found: Vec<&CommandName> = self.matching(line).collect();
        // Names of the same command.
        found.dedup_by(|one, other| one.help == other.help);
        let rest = match found.as_slice() {
            [only] => only.name.get(line.len()..).map(str::to_owned),
            _ => None,
        };
        let rows: Vec<[String; 2]> = found
            .iter()
            .map(|command| [command.usage(), command.help.to_string()])
            .collect();
        let rows: Vec<String> = table(&rows).lines().map(str::to_owned).collect();
        Menu::new(&rows, rest, size)
    }

    /// Returns a single candidate for several commands: the text that they share. The menu then lists all of them. The editor's own
    /// list would be written over the menu.
    fn listed_by_menu(&self, found: Vec<Pair>) -> Vec<Pair> {
        if found.len() < 2 {
            return found;
        }
        let Some(shared) = longest_common_prefix(&found).map(str::to_owned) else {
            return found;
        };
        *self.listed.borrow_mut() = Some(shared.clone());
        vec![plain(shared)]
    }

    fn commands(&self, text: &str) -> Vec<Pair> {
        let pair = |command: &CommandName| {
            let space = if command.arguments.is_empty() { "" } else { " " };
            Pair {
                display: format!("{:<18} {}", command.usage(), command.help),
                replacement: format!("{}{space}", command.name),
            }
        };
        self.matching(text).map(pair).collect()
    }

    fn matching<'c>(&'c self, text: &'c str) -> impl Iterator<Item = &'c CommandName> {
        self.commands
            .iter()
            .filter(move |command| command.name.starts_with(text))
    }
}

/// Returns where the mention at the end of the text starts: `@path` or `@"path with spaces`.
fn mention(text: &str) -> Option<usize> {
    let starts = |at: usize| at == 0 || text[..at].ends_with(char::is_whitespace);
    let at = text.rfind('@').filter(|at| starts(*at))?;
    let rest = &text[at + 1..];
    let is_open = match rest.strip_prefix('"') {
        Some(quoted) => !quoted.contains('"'),
        None => !rest.contains(char::is_whitespace),
    };
    is_open.then_some(at)
}

fn plain(path: String) -> Pair {
    Pair {
        display: path.clone(),
        replacement: path,
    }
}

fn mentioned(path: &str, quoted: bool) -> Pair {
    let is_folder = path.ends_with('/');
    let needs_quotes = quoted || path.contains(char::is_whitespace);
    Pair {
        display: path.to_owned(),
        replacement: match needs_quotes {
            true if is_folder => format!("@\"{path}"),
            true => format!("@\"{path}\""),
            false => format!("@{path}"),
        },
    }
}

/// Returns the paths that start with this text, in order; folders end with `/`. Hidden files need a leading dot.
fn files(text: &str) -> Vec<String> {
    let (folder, prefix) = match text.rfind('/') {
        Some(at) => text.split_at(at + 1),
        None => ("", text),
    };
    let place = expand_home(folder);
    let place = if folder.is_empty() { Path::new(".") } else { &place };
    let Ok(entries) = fs::read_dir(place) else {
        return Vec::new();
    };
    let name = |entry: fs::DirEntry| {
        let name = entry.file_name().into_string().ok()?;
        let is_shown = name.starts_with(prefix) && (!name.starts_with('.') || prefix.starts_with('.'));
        let is_printable = !name.contains(char::is_control);
        let slash = if entry.path().is_dir() { "/" } else { "" };
        (is_shown && is_printable).then(|| format!("{folder}{name}{slash}"))
    };
    let mut names: Vec<String> = entries.flatten().filter_map(name).collect();
    names.sort();
    names.truncate(MAX_NAMES);
    names
}

#[cfg(test)]
mod tests {
    use rustyline::hint::Hint;

    use super::*;

    const SAVE: CommandName = CommandName {
        name: Cow::Borrowed("/save"),
        arguments: Cow::Borrowed("FILE"),
        help: Cow::Borrowed("save the conversation"),
        takes_file: true,
    };
    const STATUS: CommandName = CommandName {
        name: Cow::Borrowed("/status"),
        arguments: Cow::Borrowed(""),
        help: Cow::Borrowed("show the settings"),
        takes_file: false,
    };

    fn completed(text: &str) -> (usize, Vec<String>) {
        let completion = Completion {
            commands: vec![SAVE, STATUS],
            is_prompt: true,
            ..Completion::default()
        };
        let (start, found) = completion.candidates(text);
        (start, found.into_iter().map(|pair| pair.replacement).collect())
    }

    #[test]
    fn a_menu_shows_what_a_command_may_become() {
        let mut completion = Completion {
            commands: vec![SAVE, STATUS],
            is_prompt: true,
            ..Completion::default()
        };
        let shown = |completion: &Completion, line: &str, position: usize| {
            let menu = completion.menu(line, position, (80, MAX_ROWS))?;
            Some((menu.display().to_owned(), menu.completion().map(str::to_owned)))
        };
        let (save, status) = ("\n/save FILE  save the conversation", "\n/status  show the settings");
        assert_eq!(
            shown(&completion, "/s", 2),
            Some((format!("{save}\n/status     show the settings"), None))
        );
        assert_eq!(
            shown(&completion, "/sa", 3),
            Some((save.to_owned(), Some("ve".to_owned())))
        );
        assert_eq!(
            shown(&completion, "/status", 7),
            Some((status.to_owned(), Some(String::new())))
        );
        for (line, position) in [("/s", 1), ("/x", 2), ("/save ", 6), ("see /s", 6), ("", 0)] {
            assert_eq!(shown(&completion, line, position), None, "{line}");
        }
        // At a question, there is nothing to complete.
        completion.is_prompt = false;
        assert_eq!(shown(&completion, "/s", 2), None);
    }

    #[test]
    fn tab_lists_commands_in_the_menu_alone() {
        let completion = Completion {
            commands: vec![SAVE, STATUS],
            is_prompt: true,
            ..Completion::default()
        };
        let history = rustyline::history::DefaultHistory::new();
        let completed = |line: &str| {
            let (_, found) = completion.complete(line, line.len(), &Context::new(&history)).unwrap();
            found.into_iter().map(|pair| pair.replacement).collect::<Vec<_>>()
        };
        assert_eq!(completed("/"), ["/s"]);
        assert_eq!(completion.listed.borrow().as_deref(), Some("/s"));
        assert_eq!(completed("/s"), ["/s"]);
        assert_eq!(completed("/sa"), ["/save "]);
    }

    #[test]
    fn completes_commands_files_and_mentions() {
        let directory = tempfile::tempdir().unwrap();
        for name in ["notes.md", "two words.md", ".hidden"] {
            fs::write(directory.path().join(name), "").unwrap();
        }
        fs::create_dir(directory.path().join("nested")).unwrap();
        let place = directory.path().to_str().unwrap();
        let check = |text: &str, start: usize, expected: &[&str]| {
            let expected: Vec<String> = expected.iter().map(|name| name.replace('~', place)).collect();
            let text = text.replace('~', place);
            assert_eq!(completed(&text), (start, expected), "{text}");
        };
        check("/s", 0, &["/save ", "/status"]);
        check("/sa", 0, &["/save "]);
        check("/x", 0, &[]);
        check("/save ~/n", 6, &["~/nested/", "~/notes.md"]);
        check("see @~/no", 4, &["@~/notes.md"]);
        check("see @~/t", 4, &["@\"~/two words.md\""]);
        check("see @\"~/n", 4, &["@\"~/nested/", "@\"~/notes.md\""]);
        check("@~/.", 0, &["@~/.hidden"]);
        check("!cat ~/not", 5, &["~/notes.md"]);
        assert_eq!(completed("ann@exa").1, Vec::<String>::new());
        assert_eq!(completed("hello").1, Vec::<String>::new());
    }
}
