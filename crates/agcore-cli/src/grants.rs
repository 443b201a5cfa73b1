//! [`GrantsFile`]: what a person has allowed for good, in a file.

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, PoisonError},
};

use agcore::tools::{Grant, GrantStore, InMemoryGrants, ToolError, ToolErrorKind};
use async_trait::async_trait;

use crate::{exit::Failure, whole_file::replace};

/// The file's name when nobody says another.
pub(crate) const GRANTS: &str = ".agcore-grants.json";

/// Grants in a file, which is made with the first of them. It is read when the program starts; what another program has
/// added since is kept when this one adds.
#[derive(Debug)]
pub(crate) struct GrantsFile {
    path: PathBuf,
    known: Mutex<Vec<Grant>>,
    /// What became of the grants since somebody asked.
    news: Mutex<Vec<News>>,
    /// Held while the file is changed.
    changing: tokio::sync::Mutex<()>,
}

/// What became of a grant.
#[derive(Debug)]
pub(crate) enum News {
    /// It is in the file.
    Kept(String),
    /// It could not be written, and why.
    Lost(String),
}

impl GrantsFile {
    /// Reads the file; where there is none, nothing is granted.
    ///
    /// # Errors
    /// When it cannot be read, is corrupt or of a newer version: grants are never guessed.
    pub(crate) fn open(path: PathBuf) -> Result<Self, Failure> {
        let known = read(&path).map_err(Failure::usage)?;
        Ok(Self {
            path,
            known: Mutex::new(known),
            news: Mutex::default(),
            changing: tokio::sync::Mutex::default(),
        })
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Whether there is a grant of a tool.
    pub(crate) fn has(&self, tool: &str) -> bool {
        lock(&self.known).iter().any(|grant| grant.tool == tool)
    }

    /// What became of the grants since this was asked last.
    pub(crate) fn news(&self) -> Vec<News> {
        std::mem::take(&mut *lock(&self.news))
    }

    async fn keep(&self, grant: Grant) -> Result<(), String> {
        let _changing = self.changing.lock().await;
        let path = self.path.clone();
        let kept = tokio::task::spawn_blocking(move || add(&path, grant)).await;
        *lock(&self.known) = kept.unwrap_or_else(|error| Err(error.to_string()))?;
        Ok(())
    }
}

#[async_trait]
impl GrantStore for GrantsFile {
    async fn find(&self, tool: &str) -> Result<Vec<Grant>, ToolError> {
        let known = lock(&self.known);
        Ok(known.iter().filter(|grant| grant.tool == tool).cloned().collect())
    }

    async fn add(&self, grant: Grant) -> Result<(), ToolError> {
        let tool = grant.tool.clone();
        let kept = self.keep(grant).await;
        let news = match &kept {
            Ok(()) => News::Kept(format!("{tool} is allowed from now on: {}.", self.path.display())),
            Err(why) => News::Lost(format!("{tool} is allowed in this session only: {why}")),
        };
        lock(&self.news).push(news);
        kept.map_err(|why| ToolError::new(ToolErrorKind::Io, why))
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn read(path: &Path) -> Result<Vec<Grant>, String> {
    let refuse = |why: String| format!("{}: {why}, or name another file with --grants", path.display());
    match fs::read_to_string(path) {
        Ok(text) => match InMemoryGrants::from_json(&text) {
            Ok(grants) => Ok(grants.list()),
            Err(error) => Err(refuse(error.message().to_owned())),
        },
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(refuse(format!(
            "the grants cannot be read: {error}; restore or remove them"
        ))),
    }
}

/// Adds a grant to those in the file, and gives all of them.
fn add(path: &Path, grant: Grant) -> Result<Vec<Grant>, String> {
    let mut grants = read(path)?;
    if !grants.contains(&grant) {
        grants.push(grant);
        let text = InMemoryGrants::with(grants.clone()).to_json() + "\n";
        replace(path, &text).map_err(|error| format!("{} cannot be written: {error}", path.display()))?;
    }
    Ok(grants)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_another_program_added_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(GRANTS);
        let (one, other) = (
            GrantsFile::open(path.clone()).unwrap(),
            GrantsFile::open(path.clone()).unwrap(),
        );
        one.add(Grant::new("a")).await.unwrap();
        other.add(Grant::new("b")).await.unwrap();
        other.add(Grant::new("b")).await.unwrap();
        assert_eq!(read(&path).unwrap(), [Grant::new("a"), Grant::new("b")]);
        assert!(other.has("a") && !one.has("b"), "read when it starts, and when it adds");
        let left: Vec<_> = fs::read_dir(folder.path()).unwrap().collect();
        assert_eq!(left.len(), 1, "nothing else is left behind");
    }

    #[tokio::test]
    async fn a_grant_that_cannot_be_written_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let grants = GrantsFile::open(folder.path().join("gone").join(GRANTS)).unwrap();
        assert!(grants.add(Grant::new("a")).await.is_err());
        assert!(matches!(&grants.news()[..], [News::Lost(text)] if text.contains("cannot be written")));
        assert!(grants.news().is_empty() && !grants.has("a"));
    }
}
