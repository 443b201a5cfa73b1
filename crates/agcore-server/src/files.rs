//! [`Files`]: the files that users have uploaded.

mod name;
mod quota;
mod error;
mod list;
mod totals;
mod retention;
mod user;

pub(crate) use self::{
    error::FileError,
    list::StoredFile,
    name::check_name,
    quota::{FileQuota, Shortage},
};
pub use self::{
    retention::{FileRetention, prunable_files, prune_files},
    user::{erase_files, export_files},
};

use std::{fmt, sync::Arc};

use agcore_chat::{Actor, Clock};
use agcore_files::{FileKind, FileMapping, FileStorage};
use agcore_session::{SessionStore, Timestamp};

use self::{
    list::{FileList, Upload, owner_hash, stream_of},
    quota::Total,
    totals::TenantTotals,
};

/// The files that users have uploaded. Each user has a list in the store of the files in the storage.
pub(crate) struct Files {
    storage: Arc<dyn FileStorage>,
    store: Arc<dyn SessionStore>,
    clock: Arc<dyn Clock>,
}

impl Files {
    pub(crate) fn new(storage: Arc<dyn FileStorage>, store: Arc<dyn SessionStore>, clock: Arc<dyn Clock>) -> Self {
        Self { storage, store, clock }
    }

    /// Returns the files of a user, the oldest first.
    pub(crate) async fn list(&self, actor: &Actor) -> Result<Vec<StoredFile>, FileError> {
        let (list, _) = FileList::read(&self.store, &stream_of(actor)).await?;
        Ok(list.files)
    }

    /// Checks whether there may be space for a file of this size, before it is sent.
    pub(crate) async fn check_space(&self, actor: &Actor, size: u64, quota: &FileQuota) -> Result<(), FileError> {
        let (list, _) = FileList::read(&self.store, &stream_of(actor)).await?;
        quota.check_user(list.total())?;
        TenantTotals::check(&self.store, actor, Total::of_file(size), quota).await
    }

    /// Stores a file under an id. `name` must be one that [`check_name`] accepts.
    ///
    /// The path is noted first, so that the content is found if the process ends before the user has the file. The limits are
    /// checked in the writes that take the space.
    pub(crate) async fn add(
        &self,
        actor: &Actor,
        id: String,
        name: &str,
        kind: FileKind,
        content: Vec<u8>,
        quota: &FileQuota,
    ) -> Result<StoredFile, FileError> {
        let (size, path) = (content.len() as u64, path_of(actor, &id));
        let created_at = Timestamp::from(self.clock.now());
        let upload = Upload {
            id: id.clone(),
            path: path.clone(),
            size,
            started_at: created_at,
        };
        self.take_space(actor, upload, quota).await?;
        match self
            .finish(actor, &path, content, |mapping| StoredFile {
                id: id.clone(),
                name: name.to_owned(),
                kind,
                size,
                created_at,
                mapping,
            })
            .await
        {
            Ok(file) => Ok(file),
            Err(error) => {
                // The user does not get the id. What cannot be removed now is removed with old uploads.
                if let Err(error) = self.remove(actor, &id, &path).await {
                    tracing::warn!(?error, "a file that was not uploaded completely was not deleted");
                }
                Err(error)
            }
        }
    }

    /// Notes an upload, if the user and the tenant may have it.
    async fn take_space(&self, actor: &Actor, upload: Upload, quota: &FileQuota) -> Result<(), FileError> {
        let stream = stream_of(actor);
        let note = |list: &mut FileList| {
            quota.check_user(list.total())?;
            list.uploads.push(upload.clone());
            Ok::<(), FileError>(())
        };
        FileList::try_update(&self.store, &*self.clock, &stream, note).await?;
        let taken = TenantTotals::take(&self.store, &*self.clock, actor, quota).await;
        if taken.is_err()
            && let Err(error) = self.update(actor, |list| list.remove(&upload.id)).await
        {
            tracing::warn!(
                ?error,
                "an upload that was refused counts until old uploads are removed"
            );
        }
        taken
    }

    async fn finish(
        &self,
        actor: &Actor,
        path: &str,
        content: Vec<u8>,
        file: impl FnOnce(FileMapping) -> StoredFile + Send,
    ) -> Result<StoredFile, FileError> {
        let file = file(self.storage.put(path, content).await?);
        let added = |list: &mut FileList| {
            list.remove(&file.id);
            list.files.push(file.clone());
        };
        self.update(actor, added).await?;
        Ok(file)
    }

    /// Deletes a file. Returns whether the user had it.
    pub(crate) async fn delete(&self, actor: &Actor, id: &str) -> Result<bool, FileError> {
        let files = self.list(actor).await?;
        let Some(file) = files.into_iter().find(|file| file.id == id) else {
            return Ok(false);
        };
        self.remove(actor, id, &file.mapping.path).await?;
        Ok(true)
    }

    /// Removes the content first: as long as it may be there, the list has its path.
    async fn remove(&self, actor: &Actor, id: &str, path: &str) -> Result<(), FileError> {
        self.storage.delete(path).await?;
        self.update(actor, |list| list.remove(id)).await?;
        if let Err(error) = TenantTotals::refresh(&self.store, &*self.clock, actor).await {
            tracing::warn!(?error, "a deleted file counts until the files of its user change again");
        }
        Ok(())
    }

    async fn update(&self, actor: &Actor, change: impl FnMut(&mut FileList) + Send) -> Result<(), FileError> {
        let stream = stream_of(actor);
        Ok(FileList::update(&self.store, &*self.clock, &stream, change).await?)
    }
}

/// Returns the path of a file in the storage. It contains nothing that a client has chosen.
fn path_of(actor: &Actor, id: &str) -> String {
    format!("uploads/{}/{id}", owner_hash(actor))
}

impl fmt::Debug for Files {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Files")
            .field("storage", &self.storage)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_contain_nothing_of_the_client() {
        let path = path_of(&Actor::new("../etc", "a/b"), "file-1");
        let (start, rest) = path.split_once('/').unwrap();
        let (owner, id) = rest.split_once('/').unwrap();
        assert_eq!((start, owner.len(), id), ("uploads", 32, "file-1"));
        assert!(owner.bytes().all(|byte| byte.is_ascii_hexdigit()));
        assert_ne!(path, path_of(&Actor::new("../etc", "a"), "file-1"));
    }
}
