//! [`Trust`]: whether the files of a folder may be used.

/// Whether the files of the current directory may decide what the program does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Trust {
    /// The user trusted the folder, and its files have not changed since.
    Remembered,
    /// The folder is trusted for this run only.
    ThisRun,
    /// The user trusted the folder, but these files have changed since: `.env was changed`.
    Changed(Vec<String>),
    /// The user has not decided to trust the folder.
    Unknown,
}

impl Trust {
    /// Returns whether the files may be used.
    pub(crate) fn is_given(&self) -> bool {
        matches!(self, Self::Remembered | Self::ThisRun)
    }

    /// Describes the trust, for reports: `not trusted: .env was changed`.
    pub(crate) fn describe(&self) -> String {
        match self {
            Self::Remembered => "trusted".to_owned(),
            Self::ThisRun => "trusted for this run".to_owned(),
            Self::Changed(changes) => format!("not trusted: {}", changes.join(", ")),
            Self::Unknown => "not trusted".to_owned(),
        }
    }
}
