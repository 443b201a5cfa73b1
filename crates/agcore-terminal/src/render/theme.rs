//! [`Theme`]: which colors and styles can be read on the background of the terminal.

use agcore_chat::text::alternatives;

use crate::process::variable;

/// The variable that selects the theme.
pub const THEME: &str = "AGCORE_THEME";

/// The name for the theme that fits the terminal.
const AUTO: &str = "auto";

/// The styles that are used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Theme {
    /// Light text on a dark background.
    #[default]
    Dark,
    /// Dark text on a light background.
    Light,
    /// Bright colors and no dim text.
    Contrast,
    /// Bold and dim text, but no colors.
    Plain,
}

impl Theme {
    /// All themes, with their descriptions.
    pub const ALL: [(Self, &'static str); 4] = [
        (Self::Dark, "for a dark background"),
        (Self::Light, "for a light background"),
        (Self::Contrast, "bright colors and no dim text, for a dark background"),
        (Self::Plain, "bold and dim text without colors, for any background"),
    ];

    /// Returns the name of the theme.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Dark => "dark",
            Self::Light => "light",
            Self::Contrast => "contrast",
            Self::Plain => "plain",
        }
    }

    /// Returns the theme with this name; `auto` is the one that fits the terminal.
    ///
    /// # Errors
    /// When there is no such theme.
    pub fn named(name: &str) -> Result<Self, String> {
        Self::in_terminal(name, variable("COLORFGBG").as_deref())
    }

    /// Returns the theme that the environment names. An unknown name is reported with the settings.
    pub(super) fn of_environment() -> Self {
        Self::named(&variable(THEME).unwrap_or_default()).unwrap_or_default()
    }

    /// `colors` are those of the text and of the background, by number: `0;15`. Terminals such as Konsole set them.
    fn in_terminal(name: &str, colors: Option<&str>) -> Result<Self, String> {
        let name = name.to_lowercase();
        if name.is_empty() || name == AUTO {
            return Ok(match colors.and_then(|colors| colors.rsplit(';').next()) {
                Some("7" | "15") => Self::Light,
                _ => Self::Dark,
            });
        }
        let known = Self::ALL.into_iter().find(|(theme, _)| theme.as_str() == name);
        known.map(|(theme, _)| theme).ok_or_else(|| {
            let names = Self::ALL.iter().map(|(theme, _)| theme.as_str());
            let names: Vec<&str> = std::iter::once(AUTO).chain(names).collect();
            format!("expected {}", alternatives(&names))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_theme_is_that_of_the_user_or_of_the_terminal() {
        let check = |user: &str, terminal: &str, expected: Result<Theme, ()>| {
            let terminal = Some(terminal).filter(|colors| !colors.is_empty());
            assert_eq!(
                Theme::in_terminal(user, terminal).map_err(drop),
                expected,
                "{user} {terminal:?}"
            );
        };
        check("", "", Ok(Theme::Dark));
        check("", "0;15", Ok(Theme::Light));
        check("", "0;default;7", Ok(Theme::Light));
        check("", "15;0", Ok(Theme::Dark));
        check("dark", "0;15", Ok(Theme::Dark));
        check("Light", "15;0", Ok(Theme::Light));
        check("contrast", "0;15", Ok(Theme::Contrast));
        check("plain", "", Ok(Theme::Plain));
        check("auto", "0;15", Ok(Theme::Light));
        check("blue", "", Err(()));
        let error = Theme::in_terminal("blue", None).unwrap_err();
        assert_eq!(error, "expected `auto`, `dark`, `light`, `contrast` or `plain`");
    }
}
