//! [`Language`]: the languages of the pages.

/// A language of the pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Language {
    /// English.
    #[default]
    English,
    /// Simplified Chinese.
    Chinese,
}

impl Language {
    /// All languages.
    pub const ALL: [Self; 2] = [Self::English, Self::Chinese];

    /// Returns the code of the language, as in HTML.
    pub const fn code(self) -> &'static str {
        match self {
            Self::English => "en",
            Self::Chinese => "zh-CN",
        }
    }

    /// Returns the name of the language in itself.
    pub const fn name(self) -> &'static str {
        match self {
            Self::English => "English",
            Self::Chinese => "中文",
        }
    }

    /// Returns the language with this code.
    pub fn from_code(code: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|language| language.code() == code)
    }

    /// Returns the first language of a header `Accept-Language` that the pages have. The order of the header counts, its weights do
    /// not: browsers send the languages in the order of their weights.
    ///
    /// ```
    /// use agcore_console::Language;
    ///
    /// assert_eq!(Language::accepted("fr;q=0.9, zh-TW, en"), Language::Chinese);
    /// assert_eq!(Language::accepted("*"), Language::English);
    /// ```
    pub fn accepted(header: &str) -> Self {
        let tags = header
            .split(',')
            .map(|tag| tag.split(';').next().unwrap_or_default().trim());
        let known = |tag: &str| match tag.split('-').next().unwrap_or_default() {
            primary if primary.eq_ignore_ascii_case("en") => Some(Self::English),
            primary if primary.eq_ignore_ascii_case("zh") => Some(Self::Chinese),
            _ => None,
        };
        tags.into_iter().find_map(known).unwrap_or_default()
    }
}
