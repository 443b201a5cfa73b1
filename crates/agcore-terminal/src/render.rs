//! Rendering of turns: the trait [`Render`], and [`Terminal`] for people.

mod agent;
mod theme;
mod style;
mod text;
mod shown;
mod usage;
mod context;
mod layout;
mod markdown;
mod reasoning;
mod command_output;
mod status;
mod footer;
mod card;
mod difference;
mod todos;
mod retry;
mod last_output;
mod terminal;

pub use card::{EXIT_CODE, SHELL, command_failed, uncertain_line};
pub use context::compaction_line;
pub use difference::difference;
pub use layout::{
    hanging, hanging_to, known_window_width, window_height, window_width, wrapped, wrapped_list, wrapped_paragraphs,
    wrapped_with_paths,
};
pub use shown::{CONTINUED, shown_block, shown_line, shown_lines, shown_value};
pub use status::TICK;
pub use style::{Color, Palette};
pub use terminal::Terminal;
pub use text::{columns, sanitized, sanitized_line, truncated, truncated_start};
pub use theme::{THEME, Theme};
pub use todos::{TODOS, UPDATE_TODOS, todo_count, todo_list};
pub use usage::usage_line;

use std::io::{self, IsTerminal};

use agcore_chat::{StreamEvent, UsageTracker};
use agcore_cycle::TurnOutcome;

use self::markdown::Markdown;
use crate::{TerminalError, process::print};

/// Prints a list to standard output, wrapped if that is a terminal, without control characters.
///
/// # Errors
/// When the output cannot be written.
pub fn print_list(text: &str) -> Result<(), TerminalError> {
    // Names and descriptions come from servers and files.
    let text = sanitized(text);
    match io::stdout().is_terminal() {
        true => print(&wrapped_list(&text)),
        false => print(&text),
    }
}

/// Formats a whole answer as [`Terminal`] formats one that arrives.
pub fn formatted(answer: &str, palette: Palette) -> String {
    let markdown = Markdown::new(palette.is_colored, palette.theme).with_links(palette.has_links);
    let (mut markdown, mut out) = (markdown, String::new());
    markdown.set_width(window_width());
    markdown.push(answer, &mut out);
    markdown.finish(&mut out);
    out
}

/// Renders the events of a turn as they arrive.
pub trait Render: Send {
    /// Renders one event.
    ///
    /// # Errors
    /// When the output is closed.
    fn event(&mut self, event: &StreamEvent) -> io::Result<()>;

    /// Erases the progress display, before other output is written.
    ///
    /// # Errors
    /// When the output is closed.
    fn hide(&mut self) -> io::Result<()> {
        Ok(())
    }

    /// Shows these arguments of a call in place of the model's.
    fn set_edited(&mut self, _call_id: String, _arguments: String) {}

    /// Updates the progress display. Called every [`TICK`] while no event arrives.
    ///
    /// # Errors
    /// When the output is closed.
    fn tick(&mut self) -> io::Result<()> {
        Ok(())
    }

    /// Called when the turn was cancelled, before its remaining events.
    fn turn_cancelled(&mut self) {}

    /// Called after the last event of a turn, with its outcome if it succeeded, and the usage of the whole session.
    fn turn_ended(&mut self, _outcome: Option<&TurnOutcome>, _session: &UsageTracker) {}
}
