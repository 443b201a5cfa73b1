//! [`FileList`]: the files of a user, as a record of the journal.

use agcore_chat::Actor;
use agcore_files::{FileKind, FileMapping, OriginFile};
use agcore_session::{Clock, Journal, Record, SessionError, SessionErrorKind, Timestamp, id};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::quota::Total;

/// The number of times a change is tried because another request has changed the list.
pub(super) const ATTEMPTS: usize = 20;

/// The kind of a record with the whole list.
const KIND: &str = "files";

/// A file that a user has uploaded.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct StoredFile {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) kind: FileKind,
    pub(crate) size: u64,
    pub(crate) created_at: Timestamp,
    pub(super) mapping: FileMapping,
}

/// A file whose content may be in the storage, although the user does not have it: its upload has not ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Upload {
    pub(super) id: String,
    pub(super) path: String,
    /// The size of the content, which counts like that of a file.
    #[serde(default)]
    pub(super) size: u64,
    pub(super) started_at: Timestamp,
}

/// The files of a user. The last record of a stream has all of it, so that nothing is left of files that were deleted.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct FileList {
    #[serde(default)]
    pub(super) files: Vec<StoredFile>,
    #[serde(default)]
    pub(super) uploads: Vec<Upload>,
}

impl StoredFile {
    /// Returns the file for a flow.
    pub(crate) fn to_origin(&self) -> OriginFile {
        OriginFile::new(&*self.name)
            .with_kind(self.kind)
            .with_mapping(self.mapping.clone())
    }
}

impl FileList {
    /// Reads the list in a stream, with the end of the stream.
    pub(super) async fn read(journal: &dyn Journal, stream: &str) -> Result<(Self, u64), SessionError> {
        let (mut list, mut end) = (Self::default(), 0);
        for entry in journal.read(stream, 1).await? {
            end = entry.seq;
            list.apply(entry.record, stream)?;
        }
        Ok((list, end))
    }

    /// Changes the list in a stream. `change` may be called several times.
    pub(super) async fn update(
        journal: &dyn Journal,
        clock: &dyn Clock,
        stream: &str,
        mut change: impl FnMut(&mut Self) + Send,
    ) -> Result<(), SessionError> {
        Self::try_update(journal, clock, stream, |list| {
            change(list);
            Ok::<(), SessionError>(())
        })
        .await
    }

    /// Changes the list in a stream, unless `change` refuses to. It may be called several times.
    pub(super) async fn try_update<E: From<SessionError>>(
        journal: &dyn Journal,
        clock: &dyn Clock,
        stream: &str,
        mut change: impl FnMut(&mut Self) -> Result<(), E> + Send,
    ) -> Result<(), E> {
        for _ in 0..ATTEMPTS {
            let (mut list, end) = Self::read(journal, stream).await?;
            change(&mut list)?;
            let data = serde_json::to_value(&list).map_err(|error| {
                SessionError::with_source(
                    SessionErrorKind::Serialization,
                    "the list of files cannot be written",
                    error,
                )
            })?;
            let record = Record::new(KIND, 1, Timestamp::from(clock.now()), data);
            if replace(journal, stream, end, record).await? {
                return Ok(());
            }
        }
        Err(changes_too_often().into())
    }

    /// Returns the total of the user's files, including uploads in progress.
    pub(super) fn total(&self) -> Total {
        let files = self.files.iter().map(|file| file.size);
        let sizes = files.chain(self.uploads.iter().map(|upload| upload.size));
        sizes.map(Total::of_file).fold(Total::default(), Total::add_to)
    }

    /// Removes all entries of a file.
    pub(super) fn remove(&mut self, id: &str) {
        self.files.retain(|file| file.id != id);
        self.uploads.retain(|upload| upload.id != id);
    }

    /// Returns the ids and paths of everything that may be in the storage.
    pub(super) fn contents(&self) -> Vec<(String, String)> {
        let files = self.files.iter().map(|file| (&file.id, &file.mapping.path));
        let uploads = self.uploads.iter().map(|upload| (&upload.id, &upload.path));
        let all = files.chain(uploads);
        all.map(|(id, path)| (id.clone(), path.clone())).collect()
    }

    fn apply(&mut self, record: Record, stream: &str) -> Result<(), SessionError> {
        let damaged = |error| {
            let message = format!("the list of files `{stream}` is damaged, or was written by a newer version");
            SessionError::with_source(SessionErrorKind::Serialization, message, error)
        };
        match &*record.kind {
            KIND => *self = serde_json::from_value(record.data).map_err(damaged)?,
            // Earlier versions have written each change.
            "added" => self.files.push(serde_json::from_value(record.data).map_err(damaged)?),
            _ => self.remove(record.data["id"].as_str().unwrap_or_default()),
        }
        Ok(())
    }
}

/// Makes a record the only one of a stream with this end. Returns false if the stream has changed meanwhile.
pub(super) async fn replace(
    journal: &dyn Journal,
    stream: &str,
    end: u64,
    record: Record,
) -> Result<bool, SessionError> {
    let end = match journal.append(stream, end, vec![record]).await {
        Ok(end) => end,
        Err(error) if matches!(error.kind(), SessionErrorKind::Conflict { .. }) => return Ok(false),
        Err(error) => return Err(error),
    };
    if let Err(error) = journal.trim(stream, end).await {
        tracing::warn!(?error, stream, "an older record is removed with the next change");
    }
    Ok(true)
}

/// Returns the error for a record that others change all the time.
pub(super) fn changes_too_often() -> SessionError {
    SessionError::new(
        SessionErrorKind::Unavailable,
        "the list of files changes too often; try again",
    )
}

/// Returns the stream with the list of an actor.
pub(super) fn stream_of(actor: &Actor) -> String {
    id::join(["server", "files", &owner_of(actor)])
}

/// Returns the actor whose list a stream has.
pub(super) fn actor_of(stream: &str) -> Option<Actor> {
    let parts = id::split(stream)?;
    match parts.as_slice() {
        [server, files, owner] if server == "server" && files == "files" => serde_json::from_str(owner).ok(),
        _ => None,
    }
}

/// Returns the beginning of the streams of all users.
pub(super) fn all_streams() -> String {
    id::prefix(["server", "files"])
}

pub(super) fn owner_of(actor: &Actor) -> String {
    serde_json::to_string(actor).unwrap_or_default()
}

/// Returns a name of a user that does not reveal who it is.
pub(super) fn owner_hash(actor: &Actor) -> String {
    let owner = Sha256::digest(owner_of(actor));
    owner.iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_have_the_names_of_their_actors() {
        for actor in [
            Actor::new("a/b", "ann \"7\""),
            Actor::new("acme", "ann").with_line("support"),
        ] {
            let stream = stream_of(&actor);
            assert!(stream.starts_with(&all_streams()), "{stream}");
            assert_eq!(actor_of(&stream), Some(actor));
        }
        for other in ["server/files", "server/tokens/x", "server/files/x", ""] {
            assert_eq!(actor_of(other), None, "{other}");
        }
    }
}
