//! The wires that are one vendor's own, and samples of what only they have.

#[cfg(feature = "anthropic")]
mod anthropic;
#[cfg(feature = "ollama")]
mod ollama;
#[cfg(feature = "openai-responses")]
mod openai_responses;

use super::subject::Subject;

/// Those of this build, with their settings.
pub(super) fn subjects() -> impl Iterator<Item = Subject> {
    let wires: &[fn() -> Vec<Subject>] = &[
        #[cfg(feature = "anthropic")]
        anthropic::subjects,
        #[cfg(feature = "openai-responses")]
        openai_responses::subjects,
        #[cfg(feature = "ollama")]
        ollama::subjects,
    ];
    wires.iter().flat_map(|subjects| subjects())
}
