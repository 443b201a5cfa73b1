//! [`Palette`]: the styles of the output, which depend on whether colors are enabled.

use std::io::IsTerminal;

use anstyle::{AnsiColor, Style};

use crate::process::os_variable;

/// Whether escape codes may be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Color {
    /// On terminals, unless the environment disables them.
    Auto,
    /// Never.
    Never,
}

/// The styles of a chat. All are plain if colors are disabled.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Palette {
    /// Less important text.
    pub(crate) dim: Style,
    /// The prompt.
    pub(crate) prompt: Style,
    /// The name of a tool.
    pub(crate) tool: Style,
    /// A success.
    pub(crate) success: Style,
    /// A possible problem.
    pub(crate) warning: Style,
    /// A failure.
    pub(crate) error: Style,
    /// A question.
    pub(crate) question: Style,
    /// Whether escape codes may be written at all.
    pub(crate) is_colored: bool,
}

impl Color {
    /// Returns the palette for a stream: colored if the stream is a terminal and colors are not disabled.
    pub(crate) fn palette(self, stream: &impl IsTerminal) -> Palette {
        if stream.is_terminal() && self.disabled_by().is_none() {
            Palette::colored()
        } else {
            Palette::default()
        }
    }

    /// Returns the option or variable that disables colors.
    pub(crate) fn disabled_by(self) -> Option<&'static str> {
        if self == Self::Never {
            Some("--no-color")
        } else if os_variable("NO_COLOR").is_some() {
            Some("NO_COLOR")
        } else if os_variable("TERM").is_some_and(|term| term == "dumb") {
            Some("TERM=dumb")
        } else {
            None
        }
    }
}

impl Palette {
    fn colored() -> Self {
        let color = |color: AnsiColor| color.on_default();
        Self {
            dim: Style::new().dimmed(),
            prompt: color(AnsiColor::Cyan).bold(),
            tool: color(AnsiColor::Blue).bold(),
            success: color(AnsiColor::Green),
            warning: color(AnsiColor::Yellow),
            error: color(AnsiColor::Red),
            question: color(AnsiColor::Yellow).bold(),
            is_colored: true,
        }
    }
}
