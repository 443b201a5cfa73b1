//! Removes the settings that need trust from a settings file.

use super::file::File;

/// Returns the settings that are used without trust. Everything else is missing, so a setting added to [`File`] needs
/// trust unless it is listed here.
pub(super) fn without_trust(file: &File) -> File {
    File {
        history: file.history,
        places: file.places.clone(),
        ..File::default()
    }
}

/// Returns whether a setting is used without trust.
pub(super) fn is_used(name: &str) -> bool {
    name == "history"
}
