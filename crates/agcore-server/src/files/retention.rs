//! [`FileRetention`]: how long uploaded files are kept.

use std::time::Duration;

use agcore_chat::Clock;
use agcore_files::FileStorage;
use agcore_session::{Retention, SessionError, Timestamp};
use agcore_store::user_data::UserDataStore;

use super::{
    list::{FileList, actor_of},
    totals::TenantTotals,
    user::{delete, streams},
};

/// The time after which an upload that has not ended never will.
const ABANDONED: Duration = Duration::from_secs(24 * 60 * 60);

/// The time that uploaded files are kept. Without a rule, all of them are kept; the remains of uploads that did not end are
/// removed after a day.
///
/// ```
/// use std::time::Duration;
///
/// use agcore_server::FileRetention;
///
/// let rules = FileRetention::new().with_age(Duration::from_secs(90 * 24 * 60 * 60)).with_per_user(50);
/// assert!(!rules.is_empty());
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct FileRetention {
    /// Files that were uploaded this long ago are deleted.
    pub age: Option<Duration>,
    /// The number of files that each user keeps. The oldest are deleted.
    pub per_user: Option<u64>,
}

impl FileRetention {
    /// Creates a retention without rules.
    pub fn new() -> Self {
        Self::default()
    }

    /// Deletes files that were uploaded this long ago.
    #[must_use]
    pub fn with_age(mut self, age: Duration) -> Self {
        self.age = Some(age);
        self
    }

    /// Keeps this many files of each user.
    #[must_use]
    pub fn with_per_user(mut self, count: u64) -> Self {
        self.per_user = Some(count);
        self
    }

    /// Returns whether there is no rule, so that all files are kept.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Returns the ids and paths of the files and uploads that are too old.
    fn old(&self, list: &FileList, now: Timestamp) -> Vec<(String, String)> {
        let is_old = |age: Option<Duration>, time| age.is_some_and(|age| time < Retention::before(age, now));
        let newest_first = (0_u64..).zip(list.files.iter().rev());
        let files = newest_first.filter(|(number, file)| {
            is_old(self.age, file.created_at) || self.per_user.is_some_and(|count| *number >= count)
        });
        let files = files.map(|(_, file)| (file.id.clone(), file.mapping.path.clone()));
        let uploads = list.uploads.iter();
        let uploads = uploads.filter(|upload| is_old(Some(ABANDONED), upload.started_at));
        files
            .chain(uploads.map(|upload| (upload.id.clone(), upload.path.clone())))
            .collect()
    }
}

/// Deletes the uploaded files of all users that are older than the rules say. Returns their number. If that is interrupted, the
/// next call deletes the rest.
///
/// A run that reads a file meanwhile fails to read it.
///
/// # Errors
/// When the store or the storage fails.
pub async fn prune_files(
    store: &dyn UserDataStore,
    storage: &dyn FileStorage,
    clock: &dyn Clock,
    retention: &FileRetention,
) -> Result<u64, SessionError> {
    let mut deleted = 0;
    for stream in streams(store, None).await? {
        let (list, _) = FileList::read(store, &stream).await?;
        let old = retention.old(&list, Timestamp::from(clock.now()));
        for (_, path) in &old {
            delete(storage, path).await?;
        }
        if !old.is_empty() {
            let remove = |list: &mut FileList| old.iter().for_each(|(id, _)| list.remove(id));
            FileList::update(store, clock, &stream, remove).await?;
            if let Some(actor) = actor_of(&stream) {
                TenantTotals::refresh(store, clock, &actor).await?;
            }
        }
        deleted += old.len() as u64;
    }
    Ok(deleted)
}

/// Returns how many files [`prune_files`] would delete.
///
/// # Errors
/// When the store fails.
pub async fn prunable_files(
    store: &dyn UserDataStore,
    clock: &dyn Clock,
    retention: &FileRetention,
) -> Result<u64, SessionError> {
    let mut count = 0;
    for stream in streams(store, None).await? {
        let (list, _) = FileList::read(store, &stream).await?;
        count += retention.old(&list, Timestamp::from(clock.now())).len() as u64;
    }
    Ok(count)
}
