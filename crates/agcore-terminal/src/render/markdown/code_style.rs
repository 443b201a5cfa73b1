//! The styles of the parts of code. They use the colors of the terminal, so that they fit its theme.

use anstyle::{AnsiColor, Style};

use crate::render::Theme;

/// A part of code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CodePart {
    /// Anything without a style.
    Plain,
    Comment,
    String,
    Constant,
    Keyword,
    Function,
    Type,
    Attribute,
    Inserted,
    Deleted,
    Invalid,
}

impl CodePart {
    /// Returns the style. Yellow and the bright colors cannot be read on a light background.
    pub(super) fn style(self, theme: Theme) -> Style {
        match theme {
            Theme::Plain => return self.without_color(),
            Theme::Contrast if self == Self::Comment => return Style::new().italic(),
            Theme::Contrast | Theme::Dark | Theme::Light => {}
        }
        let color = |dark: AnsiColor, light: AnsiColor| match theme {
            Theme::Light => light.on_default(),
            _ => dark.on_default(),
        };
        match self {
            Self::Plain => Style::new(),
            Self::Comment => Style::new().dimmed().italic(),
            Self::String | Self::Inserted => color(AnsiColor::Green, AnsiColor::Green),
            Self::Constant | Self::Attribute => color(AnsiColor::Cyan, AnsiColor::Cyan),
            Self::Keyword => color(AnsiColor::Magenta, AnsiColor::Magenta),
            Self::Function => color(AnsiColor::BrightBlue, AnsiColor::Blue),
            Self::Type => color(AnsiColor::Yellow, AnsiColor::Blue),
            Self::Deleted | Self::Invalid => color(AnsiColor::Red, AnsiColor::Red),
        }
    }

    fn without_color(self) -> Style {
        match self {
            Self::Comment => Style::new().dimmed().italic(),
            Self::Keyword => Style::new().bold(),
            Self::Deleted | Self::Invalid => Style::new().strikethrough(),
            _ => Style::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_light_background_has_no_bright_colors() {
        assert_eq!(CodePart::Plain.style(Theme::Light), Style::new());
        assert_eq!(CodePart::Function.style(Theme::Light), AnsiColor::Blue.on_default());
        assert_eq!(CodePart::Keyword.style(Theme::Plain).get_fg_color(), None);
        assert_eq!(CodePart::Comment.style(Theme::Contrast), Style::new().italic());
        assert_ne!(CodePart::Type.style(Theme::Light), CodePart::Type.style(Theme::Dark));
    }
}
