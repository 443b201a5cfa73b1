//! [`Palette`]: the styles of the output, which depend on whether colors are enabled.

use std::io::IsTerminal;

use anstyle::{AnsiColor, Style};

use crate::process::{os_variable, variable};

/// The variable that selects the theme.
pub(crate) const THEME: &str = "AGCORE_THEME";

/// Whether escape codes may be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Color {
    /// On terminals, unless the environment disables them.
    Auto,
    /// Never.
    Never,
}

/// Which colors can be read on the background of the terminal.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Theme {
    /// Light text on a dark background.
    #[default]
    Dark,
    /// Dark text on a light background.
    Light,
}

impl Theme {
    /// Returns the theme that the variables of the environment name: the user's, or else that of the terminal.
    ///
    /// # Errors
    /// When the name of the user's theme is unknown; the message names the variable.
    pub(crate) fn of_environment() -> Result<Self, String> {
        Self::of_variables(variable)
    }

    fn of_variables(variable: impl Fn(&str) -> Option<String>) -> Result<Self, String> {
        match variable(THEME).unwrap_or_default().to_lowercase().as_str() {
            "dark" => Ok(Self::Dark),
            "light" => Ok(Self::Light),
            // The colors of the text and of the background, by number: `0;15`. Terminals such as Konsole set it.
            "" | "auto" => Ok(
                match variable("COLORFGBG")
                    .as_deref()
                    .and_then(|colors| colors.rsplit(';').next())
                {
                    Some("7" | "15") => Self::Light,
                    _ => Self::Dark,
                },
            ),
            _ => Err(format!("environment, {THEME}: expected `auto`, `dark` or `light`")),
        }
    }
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
    /// The colors of code.
    pub(crate) theme: Theme,
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
            // An unknown name is reported with the settings.
            theme: Theme::of_environment().unwrap_or_default(),
            is_colored: true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_theme_is_that_of_the_user_or_of_the_terminal() {
        let check = |user: &str, terminal: &str, expected: Result<Theme, ()>| {
            let variable = |name: &str| {
                let value = if name == THEME { user } else { terminal };
                Some(value.to_owned()).filter(|value| !value.is_empty())
            };
            assert_eq!(
                Theme::of_variables(variable).map_err(drop),
                expected,
                "{user} {terminal}"
            );
        };
        check("", "", Ok(Theme::Dark));
        check("", "0;15", Ok(Theme::Light));
        check("", "0;default;7", Ok(Theme::Light));
        check("", "15;0", Ok(Theme::Dark));
        check("dark", "0;15", Ok(Theme::Dark));
        check("Light", "15;0", Ok(Theme::Light));
        check("auto", "0;15", Ok(Theme::Light));
        check("blue", "", Err(()));
    }
}
