//! The paths of files in storages.

use std::path::{Component, Path};

use super::{StorageError, StorageErrorKind};

/// Accepts relative paths with normal parts only, the same in all storages and on all systems.
pub(super) fn check(path: &str) -> Result<(), StorageError> {
    let is_normal = |component: Component<'_>| matches!(component, Component::Normal(_));
    let is_valid = !path.is_empty()
        && !path.contains(['\\', ':', '\0'])
        && !path.contains("//")
        && !path.ends_with('/')
        && !path.split('/').any(|part| part == "." || part == "..")
        && Path::new(path).components().all(is_normal);
    if is_valid { Ok(()) } else { Err(invalid(path)) }
}

#[cold]
pub(super) fn invalid(path: &str) -> StorageError {
    let message =
        format!("{path:?} is not the path of a file in this storage; use a relative path such as \"uploads/7.pdf\"");
    StorageError::new(StorageErrorKind::InvalidPath, message)
}
