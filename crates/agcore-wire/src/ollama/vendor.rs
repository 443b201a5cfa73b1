//! The vendor's name, and the members that only this API has.

use serde::ser::Error;

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

/// Returns an error about something that the API cannot express.
pub(super) fn unsupported<E: Error>(what: &str, advice: &str) -> E {
    E::custom(format_args!("Ollama's API does not support {what}: {advice}"))
}

/// Rejects the name of a participant.
pub(super) fn check_name<E: Error>(name: Option<&str>) -> Result<(), E> {
    match name {
        Some(_) => Err(unsupported(
            "the `name` of a participant",
            "leave it out, or put it into the text",
        )),
        None => Ok(()),
    }
}
