//! How something is refused by name.

use serde::ser::Error;

/// Refuses something by name.
pub(super) fn refuse<E: Error>(what: &str, advice: &str) -> E {
    E::custom(format_args!("Ollama's API does not take {what}: {advice}"))
}

/// Refuses the name of a participant.
pub(super) fn check_name<E: Error>(name: Option<&str>) -> Result<(), E> {
    match name {
        Some(_) => Err(refuse(
            "the `name` of a participant",
            "leave it out, or tell it in the text",
        )),
        None => Ok(()),
    }
}
