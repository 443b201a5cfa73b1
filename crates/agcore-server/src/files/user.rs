//! The files of one user, to be exported or erased.

use agcore_chat::Actor;
use agcore_files::FileStorage;
use agcore_session::{Journal, SessionError, SessionErrorKind};
use agcore_store::user_data::UserDataStore;
use serde_json::{Value, json};

use super::{
    list::{FileList, actor_of, all_streams},
    totals::TenantTotals,
};

/// The number of streams that are listed at once.
const PAGE: u64 = 200;

/// Returns the uploaded files of a user in all lines of business, each as the line of an export. Their contents are in the storage,
/// under `path`.
///
/// # Errors
/// When the store fails or a list cannot be read.
pub async fn export_files(store: &dyn UserDataStore, user: &Actor) -> Result<Vec<Value>, SessionError> {
    let mut rows = Vec::new();
    for stream in streams(store, Some(user)).await? {
        let (list, _) = FileList::read(store, &stream).await?;
        let line = actor_of(&stream).and_then(|actor| actor.line);
        let files = list.files.iter().map(|file| {
            json!({"row": "file", "file": {
                "id": file.id,
                "line": line,
                "name": file.name,
                "kind": file.kind,
                "size": file.size,
                "created_at": file.created_at,
                "path": file.mapping.path,
            }})
        });
        rows.extend(files);
    }
    Ok(rows)
}

/// Deletes the uploaded files of a user in all lines of business from the storage, and then what the store knows of them. Returns
/// their number. If that is interrupted, the next call deletes the rest.
///
/// # Errors
/// [`InvalidState`](SessionErrorKind::InvalidState) if the user has files and there is no storage; nothing is erased then. Other
/// errors when the store or the storage fails.
pub async fn erase_files(
    store: &dyn UserDataStore,
    storage: Option<&dyn FileStorage>,
    user: &Actor,
) -> Result<u64, SessionError> {
    let mut lists = Vec::new();
    for stream in streams(store, Some(user)).await? {
        let (list, _) = FileList::read(store, &stream).await?;
        lists.push((stream, list));
    }
    let count = lists.iter().map(|(_, list)| list.files.len()).sum::<usize>();
    let needs_storage = lists.iter().any(|(_, list)| !list.contents().is_empty());
    if needs_storage && storage.is_none() {
        return Err(SessionError::new(
            SessionErrorKind::InvalidState,
            format!("the user has {count} uploaded files, and their storage is not given"),
        ));
    }
    for (stream, list) in lists {
        for (_, path) in list.contents() {
            if let Some(storage) = storage {
                delete(storage, &path).await?;
            }
        }
        Journal::delete(store, &stream).await?;
        if let Some(actor) = actor_of(&stream) {
            TenantTotals::forget(store, &actor).await?;
        }
    }
    Ok(count as u64)
}

/// Returns the streams with the lists of files, of a user or of all.
pub(super) async fn streams(store: &dyn UserDataStore, user: Option<&Actor>) -> Result<Vec<String>, SessionError> {
    let (mut streams, mut last): (Vec<String>, Option<String>) = (Vec::new(), None);
    loop {
        let page = store.streams(&all_streams(), last.as_deref(), PAGE).await?;
        let Some(end) = page.last() else { return Ok(streams) };
        last = Some(end.clone());
        streams.extend(page.into_iter().filter(|stream| {
            let actor = actor_of(stream);
            actor
                .is_some_and(|actor| user.is_none_or(|user| (&actor.tenant, &actor.user) == (&user.tenant, &user.user)))
        }));
    }
}

/// Deletes a content. It may be gone already.
pub(super) async fn delete(storage: &dyn FileStorage, path: &str) -> Result<(), SessionError> {
    storage.delete(path).await.map(drop).map_err(|error| {
        let message = "an uploaded file cannot be deleted from the storage; run it again when the storage is available";
        SessionError::with_source(SessionErrorKind::Storage, message, error)
    })
}
