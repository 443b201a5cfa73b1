//! The vendor's name, and the members that only this API has.

use serde::ser::Error;

use crate::encode::refusal::Refusal;

/// The name of the vendor on data that is sent back to it.
pub(super) const VENDOR: &str = "ollama";

/// The member of a body that contains the options of the model.
pub(super) const OPTIONS: &str = "options";

/// The member of a body that sets how long the model stays in memory.
pub(super) const KEEP_ALIVE: &str = "keep_alive";

/// The options of the model that no field of a request is named after (`Options` and `Runner` in Ollama's api/types.go).
/// The server silently ignores them at the top level of a body.
pub(super) const OPTION_NAMES: &[&str] = &[
    "num_keep",
    "num_predict",
    "top_k",
    "min_p",
    "typical_p",
    "repeat_last_n",
    "repeat_penalty",
    "num_ctx",
    "num_batch",
    "num_gpu",
    "main_gpu",
    "use_mmap",
    "num_thread",
    "draft_num_predict",
];

/// The index of the only choice of a reply.
pub(super) const CHOICE: u32 = 0;

/// Returns an error about a part of the messages that the API cannot express.
pub(super) fn unsupported<E: Error>(what: &str, advice: &str) -> E {
    unsupported_parameter("messages", what, advice)
}

/// Returns an error about a parameter that the API cannot express.
pub(super) fn unsupported_parameter<E: Error>(name: &str, what: &str, advice: &str) -> E {
    unsupported_value(name, "", what, advice)
}

/// Returns an error about a value of a parameter, with the nearest value that the API accepts.
pub(super) fn unsupported_value<E: Error>(name: &str, nearest: &str, what: &str, advice: &str) -> E {
    let message = &format!("Ollama's API does not support {what}: {advice}");
    E::custom(Refusal { name, nearest, message })
}

/// Rejects the name of a participant.
pub(super) fn check_name<E: Error>(name: Option<&str>) -> Result<(), E> {
    match name {
        Some(_) => Err(unsupported_parameter(
            "name",
            "the `name` of a participant",
            "leave it out, or put it into the text",
        )),
        None => Ok(()),
    }
}
