//! The APIs of a single vendor, and samples of features that only they have.

#[cfg(feature = "anthropic")]
mod anthropic;
#[cfg(feature = "gemini")]
mod gemini;
#[cfg(feature = "ollama")]
mod ollama;
#[cfg(feature = "openai-responses")]
mod openai_responses;

use super::subject::Subject;

/// Returns those of this build, with various settings.
pub(super) fn subjects() -> impl Iterator<Item = Subject> {
    let wires: &[fn() -> Vec<Subject>] = &[
        #[cfg(feature = "anthropic")]
        anthropic::subjects,
        #[cfg(feature = "openai-responses")]
        openai_responses::subjects,
        #[cfg(feature = "ollama")]
        ollama::subjects,
        #[cfg(feature = "gemini")]
        gemini::subjects,
    ];
    wires.iter().flat_map(|subjects| subjects())
}
