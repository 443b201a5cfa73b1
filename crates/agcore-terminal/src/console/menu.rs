//! [`Menu`]: the commands or files that a word of the line may become, shown below it while it is typed.

use rustyline::hint::Hint;

use crate::render::truncated;

/// The number of rows that are shown while a line is typed.
pub(super) const MAX_ROWS: usize = 8;

/// The mark in front of the selected row.
pub(super) const SELECTED: &str = "› ";

/// The rows of a menu.
#[derive(Debug, Default)]
pub(super) struct Rows<'r> {
    /// One line for each.
    pub(super) lines: &'r [String],
    /// The number of rows that exist, if that is more.
    pub(super) count: usize,
    /// The row that is selected, for a menu in which rows are.
    pub(super) selected: Option<usize>,
    /// The text after the number of rows that are not shown.
    pub(super) more: &'static str,
}

/// The commands or files that a word may become.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Menu {
    /// The lines below the input, each after a line break.
    text: String,
    /// The text that the right arrow adds to the input, if there is only one such command.
    rest: Option<String>,
}

impl Menu {
    /// Creates a menu of at most `max_rows` rows that are cut to the width of the window. Returns `None` without any.
    pub(super) fn new(rows: &Rows<'_>, rest: Option<String>, (width, max_rows): (usize, usize)) -> Option<Self> {
        if rows.lines.is_empty() {
            return None;
        }
        // A line that fills the window would move the rest of the menu.
        let width = width.saturating_sub(1);
        // The selected row is always shown.
        let first = rows
            .selected
            .map_or(0, |selected| (selected + 1).saturating_sub(max_rows));
        let mark = |at: usize| match rows.selected {
            None => "",
            Some(selected) if selected == at => SELECTED,
            Some(_) => "  ",
        };
        let shown = rows.lines.iter().enumerate().skip(first).take(max_rows);
        let mut text: String = shown
            .map(|(at, row)| format!("\n{}", truncated(&format!("{}{row}", mark(at)), width)))
            .collect();
        let more = rows.count.max(rows.lines.len()).saturating_sub(max_rows);
        if more > 0 {
            text += &format!("\n{}", truncated(&format!("… {more} more{}", rows.more), width));
        }
        Some(Self { text, rest })
    }

    /// Creates a menu of one line that cannot be selected.
    pub(super) fn note(text: &str, width: usize) -> Self {
        Self {
            text: format!("\n{}", truncated(text, width.saturating_sub(1))),
            rest: None,
        }
    }
}

impl Hint for Menu {
    fn display(&self) -> &str {
        &self.text
    }

    fn completion(&self) -> Option<&str> {
        self.rest.as_deref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_menus_and_rows_are_cut() {
        let rows: Vec<String> = (1..=10)
            .map(|number| format!("/command{number}  列出所有命令"))
            .collect();
        let all = |selected: Option<usize>, lines| Rows {
            lines,
            selected,
            more: "; Tab lists them all",
            ..Rows::default()
        };
        let menu = Menu::new(&all(None, &rows), None, (20, MAX_ROWS)).unwrap();
        let lines: Vec<&str> = menu.display().split('\n').collect();
        assert_eq!(lines.len(), 1 + MAX_ROWS + 1, "{lines:?}");
        assert_eq!((lines[0], lines[1]), ("", "/command1  列出所…"));
        assert_eq!(lines[9], "… 2 more; Tab list…");
        let one = Menu::new(&all(None, &rows[..1]), Some("and1".to_owned()), (80, MAX_ROWS)).unwrap();
        assert_eq!(
            (one.display(), one.completion()),
            ("\n/command1  列出所有命令", Some("and1"))
        );
        assert_eq!(Menu::new(&all(None, &[]), None, (80, MAX_ROWS)), None);
        assert_eq!(Menu::note("searching …", 8).display(), "\nsearch…");
    }

    #[test]
    fn the_selected_row_is_marked_and_shown() {
        let rows: Vec<String> = (1..=10).map(|number| format!("{number}.rs")).collect();
        let menu = |selected: usize| {
            let rows = Rows {
                lines: &rows,
                count: 20,
                selected: Some(selected),
                more: "",
            };
            Menu::new(&rows, None, (80, 3)).unwrap().display().to_owned()
        };
        assert_eq!(menu(0), "\n› 1.rs\n  2.rs\n  3.rs\n… 17 more");
        assert_eq!(menu(2), "\n  1.rs\n  2.rs\n› 3.rs\n… 17 more");
        assert_eq!(menu(9), "\n  8.rs\n  9.rs\n› 10.rs\n… 17 more");
    }
}
