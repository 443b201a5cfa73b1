//! How something is refused by name.

use serde::ser::Error;

/// Refuses something by name.
pub(super) fn refuse<E: Error>(what: &str, advice: &str) -> E {
    E::custom(format_args!("Ollama's API does not take {what}: {advice}"))
}
