//! [`Palette`]: colours, where they are wanted.

use std::{env, io::IsTerminal};

use anstyle::{AnsiColor, Style};

/// Whether escape codes are wanted at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Colour {
    /// On terminals, unless the environment says no.
    Auto,
    /// Never.
    Never,
}

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
    /// Something may be wrong.
    pub(crate) doubtful: Style,
    /// Something failed.
    pub(crate) bad: Style,
    /// A question.
    pub(crate) question: Style,
    /// Whether there are escape codes at all.
    pub(crate) is_coloured: bool,
}

impl Colour {
    /// Colours for a stream that is a terminal, where nobody says no.
    pub(crate) fn palette(self, stream: &impl IsTerminal) -> Palette {
        if stream.is_terminal() && self.refusal().is_none() {
            Palette::coloured()
        } else {
            Palette::default()
        }
    }

    /// Who says no.
    #[expect(
        clippy::disallowed_methods,
        reason = "the command line is where the environment is read"
    )]
    pub(crate) fn refusal(self) -> Option<&'static str> {
        if self == Self::Never {
            Some("--no-colour")
        } else if env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty()) {
            Some("NO_COLOR")
        } else if env::var_os("TERM").is_some_and(|term| term == "dumb") {
            Some("TERM=dumb")
        } else {
            None
        }
    }
}

impl Palette {
    fn coloured() -> Self {
        let colour = |colour: AnsiColor| colour.on_default();
        Self {
            dim: Style::new().dimmed(),
            prompt: colour(AnsiColor::Cyan).bold(),
            tool: colour(AnsiColor::Blue).bold(),
            good: colour(AnsiColor::Green),
            doubtful: colour(AnsiColor::Yellow),
            bad: colour(AnsiColor::Red),
            question: colour(AnsiColor::Yellow).bold(),
            is_coloured: true,
        }
    }
}
