//! [`Palette`]: colours, where they are wanted.

use std::{env, io::IsTerminal};

use anstyle::{AnsiColor, Style};

/// The styles of a chat; all plain where no colour is wanted.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Palette {
    /// What matters less.
    pub(crate) dim: Style,
    /// The prompt.
    pub(crate) prompt: Style,
    /// A tool's name.
    pub(crate) tool: Style,
    /// Something went well.
    pub(crate) good: Style,
    /// Something failed.
    pub(crate) bad: Style,
    /// A question.
    pub(crate) question: Style,
}

impl Palette {
    /// Colours when the stream is a terminal and `NO_COLOR` is not set.
    #[expect(
        clippy::disallowed_methods,
        reason = "the command line is where the environment is read"
    )]
    pub(crate) fn of(stream: &impl IsTerminal) -> Self {
        let unwanted = env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
            || env::var_os("TERM").is_some_and(|term| term == "dumb");
        if unwanted || !stream.is_terminal() {
            Self::default()
        } else {
            Self::coloured()
        }
    }

    fn coloured() -> Self {
        let colour = |colour: AnsiColor| colour.on_default();
        Self {
            dim: Style::new().dimmed(),
            prompt: colour(AnsiColor::Cyan).bold(),
            tool: colour(AnsiColor::Blue).bold(),
            good: colour(AnsiColor::Green),
            bad: colour(AnsiColor::Red),
            question: colour(AnsiColor::Yellow).bold(),
        }
    }
}
