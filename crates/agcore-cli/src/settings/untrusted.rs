//! Removes the settings that need trust from a settings file.

use super::{file::File, model_name};

/// Returns the settings that are used without trust. Everything else is missing, so a setting added to [`File`] needs
/// trust unless it is listed here.
pub(super) fn without_trust(file: &File) -> File {
    File {
        model: file.model.clone().filter(|model| model_name::split(model).is_none()),
        system: file.system.clone(),
        history: file.history,
        places: file.places.clone(),
        ..File::default()
    }
}

/// Returns whether a setting is used without trust.
pub(super) fn is_used(file: &File, name: &str) -> bool {
    let used = without_trust(file);
    match name {
        "model" => used.model.is_some(),
        "system" | "history" => true,
        _ => false,
    }
}
