//! [`Menu`]: the commands that a line may become, shown below it while it is typed.

use rustyline::hint::Hint;

use crate::render::truncated;

/// The number of commands that are shown while a line is typed.
pub(super) const MAX_ROWS: usize = 8;

/// The commands that begin with what was typed.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Menu {
    /// The lines below the input, each after a line break.
    text: String,
    /// The text that the right arrow adds to the input, if there is only one such command.
    rest: Option<String>,
}

impl Menu {
    /// Creates a menu of at most `max_rows` rows that are cut to the width of the window. Returns `None` without any.
    pub(super) fn new(rows: &[String], rest: Option<String>, (width, max_rows): (usize, usize)) -> Option<Self> {
        if rows.is_empty() {
            return None;
        }
        // A line that fills the window would move the rest of the menu.
        let width = width.saturating_sub(1);
        let shown = rows
            .iter()
            .take(max_rows)
            .map(|row| format!("\n{}", truncated(row, width)));
        let mut text: String = shown.collect();
        let more = rows.len().saturating_sub(max_rows);
        if more > 0 {
            let lists_all = if max_rows == MAX_ROWS {
                "Tab lists"
            } else {
                "/help lists"
            };
            let line = truncated(&format!("… {more} more; {lists_all} them all"), width);
            text += &format!("\n{line}");
        }
        Some(Self { text, rest })
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
        let menu = Menu::new(&rows, None, (20, MAX_ROWS)).unwrap();
        let lines: Vec<&str> = menu.display().split('\n').collect();
        assert_eq!(lines.len(), 1 + MAX_ROWS + 1, "{lines:?}");
        assert_eq!((lines[0], lines[1]), ("", "/command1  列出所…"));
        assert_eq!(lines[9], "… 2 more; Tab list…");
        let listed = Menu::new(&rows, None, (80, 9)).unwrap();
        assert!(listed.display().ends_with("\n… 1 more; /help lists them all"));
        let one = Menu::new(&rows[..1], Some("and1".to_owned()), (80, MAX_ROWS)).unwrap();
        assert_eq!(
            (one.display(), one.completion()),
            ("\n/command1  列出所有命令", Some("and1"))
        );
        assert_eq!(Menu::new(&[], None, (80, MAX_ROWS)), None);
    }
}
