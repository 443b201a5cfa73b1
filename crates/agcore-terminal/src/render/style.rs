//! [`Palette`]: the styles of the output, which depend on whether colors are enabled.

use std::io::IsTerminal;

use anstyle::{AnsiColor, Style};

use super::theme::Theme;
use crate::process::{os_variable, variable};

/// Whether escape codes may be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Color {
    /// On terminals, unless the environment disables them.
    Auto,
    /// Never.
    Never,
}

/// The styles of a chat. All are plain if colors are disabled.
#[derive(Debug, Clone, Copy, Default)]
pub struct Palette {
    /// Less important text.
    pub dim: Style,
    /// The prompt.
    pub prompt: Style,
    /// The name of a tool.
    pub tool: Style,
    /// A success.
    pub success: Style,
    /// A possible problem.
    pub warning: Style,
    /// A failure.
    pub error: Style,
    /// A question.
    pub question: Style,
    /// The colors of code.
    pub theme: Theme,
    /// Whether escape codes may be written at all.
    pub is_colored: bool,
    /// Whether the terminal is known to have links.
    pub has_links: bool,
}

impl Color {
    /// Returns the palette for a stream: colored if the stream is a terminal and colors are not disabled.
    pub fn palette(self, stream: &impl IsTerminal) -> Palette {
        if stream.is_terminal() && self.disabled_by().is_none() {
            Palette {
                has_links: has_links(variable),
                ..Palette::of(Theme::of_environment())
            }
        } else {
            Palette::default()
        }
    }

    /// Returns the option or variable that disables colors.
    pub fn disabled_by(self) -> Option<&'static str> {
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
    /// Returns the palette in another theme, if it is colored.
    #[must_use]
    pub fn with_theme(self, theme: Theme) -> Self {
        match self.is_colored {
            true => Self {
                has_links: self.has_links,
                ..Self::of(theme)
            },
            false => self,
        }
    }

    fn of(theme: Theme) -> Self {
        let color = |color: AnsiColor| color.on_default();
        let dark = Self {
            dim: Style::new().dimmed(),
            prompt: color(AnsiColor::Cyan).bold(),
            tool: color(AnsiColor::Blue).bold(),
            success: color(AnsiColor::Green),
            warning: color(AnsiColor::Yellow),
            error: color(AnsiColor::Red),
            question: color(AnsiColor::Yellow).bold(),
            theme,
            is_colored: true,
            has_links: false,
        };
        match theme {
            Theme::Dark => dark,
            Theme::Light => Self {
                prompt: color(AnsiColor::Blue).bold(),
                warning: color(AnsiColor::Magenta),
                question: color(AnsiColor::Magenta).bold(),
                ..dark
            },
            Theme::Contrast => Self {
                dim: Style::new(),
                prompt: color(AnsiColor::BrightCyan).bold(),
                tool: color(AnsiColor::BrightBlue).bold(),
                success: color(AnsiColor::BrightGreen).bold(),
                warning: color(AnsiColor::BrightYellow).bold(),
                error: color(AnsiColor::BrightRed).bold(),
                question: color(AnsiColor::BrightYellow).bold(),
                ..dark
            },
            Theme::Plain => Self {
                prompt: Style::new().bold(),
                tool: Style::new().bold(),
                success: Style::new(),
                warning: Style::new().bold(),
                error: Style::new().bold(),
                question: Style::new().bold(),
                ..dark
            },
        }
    }
}

/// Returns whether these variables are those of a terminal that is known to have links (OSC 8). Tmux hands them on only in newer
/// versions, and to a terminal that is not known.
fn has_links(variable: impl Fn(&str) -> Option<String>) -> bool {
    const PROGRAMS: [&str; 6] = ["iterm.app", "wezterm", "ghostty", "vscode", "hyper", "rio"];
    const TERMINALS: [&str; 6] = [
        "xterm-kitty",
        "xterm-ghostty",
        "foot",
        "alacritty",
        "wezterm",
        "contour",
    ];
    let is_one = |name: &str, known: &[&str]| {
        let value = variable(name).unwrap_or_default().to_lowercase();
        known
            .iter()
            .any(|known| value == *known || value.starts_with(&format!("{known}-")))
    };
    // Versions of VTE before 0.50 print the sequences.
    let vte = variable("VTE_VERSION").and_then(|version| version.parse::<u32>().ok());
    let in_multiplexer = variable("TMUX").is_some() || variable("STY").is_some();
    !in_multiplexer
        && (is_one("TERM_PROGRAM", &PROGRAMS)
            || is_one("TERM", &TERMINALS)
            || vte.is_some_and(|version| version >= 5000)
            || variable("KONSOLE_VERSION").is_some()
            || variable("WT_SESSION").is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_known_terminals_have_links() {
        let check = |variables: &[(&str, &str)], expected: bool| {
            let value = |name: &str| {
                let found = variables.iter().find(|(known, _)| *known == name);
                found.map(|(_, value)| (*value).to_owned())
            };
            assert_eq!(has_links(value), expected, "{variables:?}");
        };
        check(&[("TERM", "xterm-256color")], false);
        check(&[("TERM", "xterm-kitty")], true);
        check(&[("TERM", "foot-extra")], true);
        check(&[("TERM_PROGRAM", "iTerm.app")], true);
        check(&[("VTE_VERSION", "4803")], false);
        check(&[("VTE_VERSION", "7600")], true);
        check(&[("VTE_VERSION", "7600"), ("TMUX", "/tmp/x")], false);
        check(&[("WT_SESSION", "1")], true);
    }

    #[test]
    fn only_a_colored_palette_takes_a_theme() {
        assert_eq!(Palette::default().with_theme(Theme::Light).question, Style::new());
        let light = Palette::of(Theme::Dark).with_theme(Theme::Light);
        assert_eq!(light.theme, Theme::Light);
        // Yellow and cyan cannot be read on white.
        for style in [light.prompt, light.warning, light.question] {
            let color = style.get_fg_color();
            assert!(
                color != Some(AnsiColor::Yellow.into()) && color != Some(AnsiColor::Cyan.into()),
                "{style:?}"
            );
        }
        let plain = Palette::of(Theme::Plain);
        let styles = [
            plain.dim,
            plain.prompt,
            plain.tool,
            plain.success,
            plain.warning,
            plain.error,
            plain.question,
        ];
        assert!(styles.iter().all(|style| style.get_fg_color().is_none()));
        let contrast = Palette::of(Theme::Contrast);
        assert_eq!(contrast.dim, Style::new());
    }
}
