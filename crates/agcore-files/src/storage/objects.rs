//! [`ObjectStorage`]: files as objects in a bucket.

mod keys;
mod place;
mod reply;
mod request;
mod sign;

use std::{fmt, sync::Arc};

use agcore_chat::Clock;
use async_trait::async_trait;

pub use self::{
    keys::ObjectKeys,
    place::BucketPlace,
    request::{ObjectReply, ObjectRequest, ObjectTransport},
};
use self::{reply::failed, sign::signed};
use super::{FileStorage, StorageError, StorageErrorKind, path};
use crate::origin::{FileMapping, StorageProvider};

/// The longest key that all vendors accept, in bytes.
const MAX_KEY: usize = 1024;

/// The longest description of an error that is read, in bytes.
const MAX_ERROR: usize = 16 * 1024;

/// Files as objects in a bucket of Amazon S3, Google Cloud Storage, Aliyun OSS, Tencent COS, or another server with the API of S3.
///
/// All of these accept requests that are signed with the version 4 of Amazon's signatures. A storage signs them and reads the
/// replies; an [`ObjectTransport`] sends them. `HttpObjects` in agcore-flow does that with agcore's own client.
#[derive(Clone)]
pub struct ObjectStorage {
    place: BucketPlace,
    keys: ObjectKeys,
    transport: Arc<dyn ObjectTransport>,
    clock: Arc<dyn Clock>,
}

impl ObjectStorage {
    /// Uses a bucket, which must exist. Nothing is sent yet.
    pub fn new(
        place: BucketPlace,
        keys: ObjectKeys,
        transport: impl ObjectTransport + 'static,
        clock: Arc<dyn Clock>,
    ) -> Self {
        Self {
            place,
            keys,
            transport: Arc::new(transport),
            clock,
        }
    }

    async fn send(
        &self,
        method: &'static str,
        path: &str,
        body: Vec<u8>,
        max_bytes: usize,
    ) -> Result<ObjectReply, StorageError> {
        let (now, target) = (self.clock.now(), self.place.target(path));
        let request = signed(&self.place, &self.keys, now, method, target, body);
        self.transport.send(request, max_bytes).await
    }

    /// Returns the error of a file that was not found, which is another one if the bucket does not exist either.
    async fn not_found(&self, path: &str) -> Result<(), StorageError> {
        let bucket = self.send("HEAD", "", Vec::new(), 0).await?;
        match bucket.status {
            // A key may be valid for files and not for the bucket.
            200..=299 | 403 => Ok(()),
            _ => Err(failed(&self.place, path, &bucket)),
        }
    }
}

#[async_trait]
impl FileStorage for ObjectStorage {
    fn provider(&self) -> StorageProvider {
        self.place.provider()
    }

    async fn put(&self, path: &str, content: Vec<u8>) -> Result<FileMapping, StorageError> {
        check(path)?;
        let reply = self.send("PUT", path, content, MAX_ERROR).await?;
        match reply.status {
            200..=299 => Ok(FileMapping::new(self.provider(), path)),
            _ => Err(failed(&self.place, path, &reply)),
        }
    }

    async fn get(&self, path: &str, max_bytes: usize) -> Result<Vec<u8>, StorageError> {
        check(path)?;
        let reply = self.send("GET", path, Vec::new(), max_bytes.max(MAX_ERROR)).await?;
        match reply.status {
            200 if !reply.is_cut && reply.body.len() <= max_bytes => Ok(reply.body),
            200 => {
                let message = format!("the file {path:?} is larger than {max_bytes} bytes; ask for more");
                Err(StorageError::new(StorageErrorKind::TooLarge, message))
            }
            _ => Err(failed(&self.place, path, &reply)),
        }
    }

    async fn delete(&self, path: &str) -> Result<bool, StorageError> {
        check(path)?;
        // Deleting an object that does not exist succeeds as well.
        let known = self.send("HEAD", path, Vec::new(), 0).await?;
        match known.status {
            200..=299 => {}
            404 => return self.not_found(path).await.map(|()| false),
            _ => return Err(failed(&self.place, path, &known)),
        }
        let reply = self.send("DELETE", path, Vec::new(), MAX_ERROR).await?;
        match reply.status {
            200..=299 => Ok(true),
            404 => Ok(false),
            _ => Err(failed(&self.place, path, &reply)),
        }
    }
}

/// Accepts the paths of all storages that are short enough and have no control characters.
fn check(path: &str) -> Result<(), StorageError> {
    path::check(path)?;
    if path.len() > MAX_KEY || path.contains(|character: char| character.is_control()) {
        return Err(path::invalid(path));
    }
    Ok(())
}

impl fmt::Debug for ObjectStorage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ObjectStorage")
            .field("place", &self.place)
            .finish_non_exhaustive()
    }
}
