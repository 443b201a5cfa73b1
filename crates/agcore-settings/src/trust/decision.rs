//! [`Trust`]: whether the files of a folder may be used.

/// Whether the files of the current directory may decide what the program does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trust {
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
    pub fn is_given(&self) -> bool {
        matches!(self, Self::Remembered | Self::ThisRun)
    }

    /// Describes the trust, for reports: `not trusted: .env was changed`.
    pub fn describe(&self) -> String {
        match self {
            Self::Remembered => "trusted".to_owned(),
            Self::ThisRun => "trusted for this run".to_owned(),
            Self::Changed(changes) => format!("not trusted: {}", listed_changes(changes)),
            Self::Unknown => "not trusted".to_owned(),
        }
    }
}

/// Lists changes of files. Those below `.agcore` are counted, because there may be many.
pub fn listed_changes(changes: &[String]) -> String {
    let (project, others): (Vec<&String>, Vec<&String>) =
        changes.iter().partition(|change| change.starts_with(".agcore/"));
    let mut listed: Vec<String> = others.into_iter().cloned().collect();
    match project.as_slice() {
        [] => {}
        [_] => listed.push("1 file in .agcore is new, changed or removed".to_owned()),
        files => listed.push(format!("{} files in .agcore are new, changed or removed", files.len())),
    }
    listed.join(", ")
}
