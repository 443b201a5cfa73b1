//! [`Completion`]: completes slash commands and file names with Tab, and shows commands and files while they are typed.

use std::{borrow::Cow, cell::RefCell, fs, path::Path};

use anstyle::Style;
use rustyline::{
    Context, Helper,
    completion::{Completer, Pair, longest_common_prefix},
    highlight::Highlighter,
    hint::Hinter,
    history::SearchDirection,
    validate::Validator,
};

use super::{
    file_index::FileIndex,
    fuzzy::{contains, ranked},
    menu::{MAX_ROWS, Menu, Rows, SELECTED},
    offer::{Choices, Offer},
};
use crate::{
    process::expand_home,
    render::{truncated_start, window_height, window_width},
    table::table,
};

/// The maximum number of names that are offered.
const MAX_NAMES: usize = 200;

/// The maximum number of files among which one is selected.
const MAX_CHOICES: usize = 50;

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
    /// Returns the text of a line that begins with the command.
    fn insertion(&self) -> String {
        let space = if self.arguments.is_empty() { "" } else { " " };
        format!("{}{space}", self.name)
    }

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
    /// The files that a message can mention.
    pub(super) files: FileIndex,
    /// The entries of the menu.
    pub(super) offer: Offer,
    /// The style of the menu.
    pub(super) style: Style,
    /// The beginning of a command for which Tab has listed all commands.
    pub(super) listed: RefCell<Option<String>>,
}

impl Completer for Completion {
    type Candidate = Pair;

    fn complete(&self, line: &str, position: usize, _: &Context<'_>) -> rustyline::Result<(usize, Vec<Pair>)> {
        if let Some((start, text)) = self.offer.chosen(line, position) {
            return Ok((start, vec![plain(text)]));
        }
        let found = self.is_prompt.then(|| self.candidates(&line[..position]));
        let (start, found) = found.unwrap_or((0, Vec::new()));
        if position < line.len() || self.offered_commands(line, position).is_empty() {
            return Ok((start, found));
        }
        Ok((start, self.listed_by_menu(found)))
    }
}

impl Hinter for Completion {
    type Hint = Menu;

    fn hint(&self, line: &str, position: usize, context: &Context<'_>) -> Option<Menu> {
        let is_recalled = is_recalled(line, context);
        if let Some(start) = self.mention_to_complete(line, position).filter(|_| !is_recalled) {
            return self.file_menu(line, position, start);
        }
        let is_listed = self.listed.borrow().as_deref() == Some(line);
        // The input, and the line that counts the others, must fit as well.
        let rows = match is_listed {
            true => window_height().saturating_sub(3).max(MAX_ROWS),
            false => MAX_ROWS,
        };
        self.menu(line, position, (window_width(), rows), !is_recalled)
    }
}

/// Returns whether a line is one of the history, as it was entered.
fn is_recalled(line: &str, context: &Context<'_>) -> bool {
    let found = context.history().get(context.history_index(), SearchDirection::Forward);
    found.is_ok_and(|found| found.is_some_and(|found| found.entry == line))
}

impl Highlighter for Completion {
    fn highlight_hint<'h>(&self, hint: &'h str) -> Cow<'h, str> {
        let (style, strong) = (self.style, Style::new().bold());
        let shown = |row: &str| match row.starts_with(SELECTED) {
            true => format!("{strong}{row}{strong:#}"),
            false => format!("{style}{row}{style:#}"),
        };
        Cow::Owned(hint.split('\n').map(shown).collect::<Vec<_>>().join("\n"))
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

    /// Returns where the mention starts for which files are to be offered: the one before the cursor, unless a letter follows.
    fn mention_to_complete(&self, line: &str, position: usize) -> Option<usize> {
        let start = mention(&line[..position]).filter(|_| self.is_prompt && self.files.has_source());
        if start.is_none() && !line.starts_with('/') {
            self.offer.forget_closed();
        }
        let is_at_end = line[position..].chars().next().is_none_or(char::is_whitespace);
        start.filter(|start| is_at_end && self.offer.is_wanted(*start))
    }

    /// Returns the files that the mention may become.
    fn file_menu(&self, line: &str, position: usize, start: usize) -> Option<Menu> {
        let word = &line[start..position];
        let quoted = word.starts_with("@\"");
        let typed = word.trim_start_matches('@').trim_start_matches('"');
        let names = self.files.names();
        let Some(names) = names.filter(|names| !contains(names, typed)) else {
            self.offer.show(None);
            let is_looking = self.files.names().is_none();
            return is_looking.then(|| Menu::note("looking for files …", window_width()));
        };
        let (found, count) = ranked(&names, typed, MAX_CHOICES);
        let selected = self.offer.show(Some(Choices {
            line: (line.to_owned(), position),
            start,
            items: found.iter().map(|path| mentioned(path, quoted).replacement).collect(),
            // An @ alone may be meant as it is.
            selected: (!typed.is_empty() && !found.is_empty()).then_some(0),
        }));
        // The name of a file is at the end of its path.
        let width = window_width().saturating_sub(1 + SELECTED.chars().count());
        let lines: Vec<String> = found.iter().map(|path| truncated_start(path, width)).collect();
        let rows = Rows {
            lines: &lines,
            count,
            selected,
            more: "",
        };
        Menu::new(&rows, None, (window_width(), MAX_ROWS))
    }

    /// Returns the commands that the line at the prompt may become, while the cursor is at its end.
    fn offered_commands(&self, line: &str, position: usize) -> Vec<&CommandName> {
        if !self.is_prompt || position < line.len() || !line.starts_with('/') {
            return Vec::new();
        }
        let mut found: Vec<&CommandName> = self
            .commands
            .iter()
            .filter(|command| command.name.starts_with(line))
            .collect();
        // Names of the same command.
        found.dedup_by(|one, other| one.help == other.help);
        found
    }

    /// Returns the menu of these commands. One can be selected if the line `is_new`.
    fn menu(&self, line: &str, position: usize, size: (usize, usize), is_new: bool) -> Option<Menu> {
        let found = self.offered_commands(line, position);
        if found.is_empty() || self.offer.is_closed(0) {
            self.offer.show(None);
            return None;
        }
        let rest = match found.as_slice() {
            [only] => only.name.get(line.len()..).map(str::to_owned),
            _ => None,
        };
        let usages: Vec<[String; 2]> = found
            .iter()
            .map(|command| [command.usage(), command.help.to_string()])
            .collect();
        let lines: Vec<String> = table(&usages).lines().map(str::to_owned).collect();
        let choices = Choices {
            line: (line.to_owned(), position),
            start: 0,
            items: found.iter().map(|command| command.insertion()).collect(),
            selected: None,
        };
        let choices = Some(choices).filter(|_| is_new && self.offer.is_wanted(0));
        let rows = Rows {
            lines: &lines,
            count: lines.len(),
            selected: self.offer.show(choices),
            more: match size.1 {
                MAX_ROWS => "; Tab lists them all",
                _ => "; /help lists them all",
            },
        };
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
        let pair = |command: &CommandName| Pair {
            display: format!("{:<18} {}", command.usage(), command.help),
            replacement: command.insertion(),
        };
        let matching = self.commands.iter().filter(|command| command.name.starts_with(text));
        matching.map(pair).collect()
    }
}

/// Returns where the mention at the end of the text starts: `@path` or `@"path with spaces`.
fn mention(text: &str) -> Option<usize> {
    // As where messages are sent: words of languages without spaces may come before.
    let continues = |c: char| c.is_ascii_alphanumeric() || "_.-+/@".contains(c);
    let at = text.rfind('@').filter(|at| !text[..*at].ends_with(continues))?;
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
            let menu = completion.menu(line, position, (80, MAX_ROWS), true)?;
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

    fn menu_of_files(completion: &Completion, line: &str, position: usize) -> Option<String> {
        let start = completion.mention_to_complete(line, position)?;
        let menu = completion.file_menu(line, position, start)?;
        Some(menu.display().to_owned())
    }

    #[test]
    fn a_menu_shows_the_files_that_a_mention_may_become() {
        let names = ["src/main.rs", "docs/main page.md", "文档/说明.md"];
        let files = FileIndex::new(std::sync::Arc::new(move || names.map(str::to_owned).to_vec()));
        while files.names().is_none() {
            files.start_line();
        }
        let completion = Completion {
            is_prompt: true,
            files,
            ..Completion::default()
        };
        assert_eq!(menu_of_files(&completion, "@main", 5), None, "nothing was typed");
        completion.offer.note_typed();
        let shown = |line: &str, position: usize| menu_of_files(&completion, line, position);
        assert_eq!(shown("see @mn", 7).unwrap(), "\n› src/main.rs\n  docs/main page.md");
        assert!(completion.offer.step("see @mn", 7, true));
        assert_eq!(shown("see @mn", 7).unwrap(), "\n  src/main.rs\n› docs/main page.md");
        let history = rustyline::history::DefaultHistory::new();
        let (start, inserted) = completion.complete("see @mn", 7, &Context::new(&history)).unwrap();
        assert_eq!((start, inserted.len()), (4, 1));
        assert_eq!(inserted[0].replacement, "@\"docs/main page.md\"");
        assert_eq!(shown("看@说明", "看@说明".len()).unwrap(), "\n› 文档/说明.md");
        assert_eq!(shown("@\"main p", 8).unwrap(), "\n› docs/main page.md");
        // Nothing is selected for an @ alone, and what is complete has no menu.
        assert_eq!(
            shown("@", 1).unwrap(),
            "\n  docs/main page.md\n  src/main.rs\n  文档/说明.md".replace("\n  ", "\n")
        );
        for (line, position) in [
            ("@src/main.rs", 12),
            ("@xyz", 4),
            ("ann@ma", 6),
            ("@@ma", 4),
            ("@ma", 2),
            ("@ma x", 5),
        ] {
            assert_eq!(shown(line, position), None, "{line}");
        }
        assert_eq!(shown("@ma x", 3).unwrap(), "\n› src/main.rs\n  docs/main page.md");
        assert!(completion.offer.close("@ma x", 3));
        assert_eq!(shown("@mai x", 4), None);
        assert_eq!(shown("@mai x @ma", 10).unwrap(), "\n› src/main.rs\n  docs/main page.md");
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
