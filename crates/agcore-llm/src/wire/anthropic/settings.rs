//! [`Settings`]: what an application may say about the API, apart from any request.

use std::borrow::Cow;

/// The version of the API that this wire is written after.
const VERSION: &str = "2023-06-01";

/// How the wire is set.
#[derive(Debug, Clone)]
pub(super) struct Settings {
    pub(super) vendor: Cow<'static, str>,
    pub(super) version: Cow<'static, str>,
    pub(super) betas: Vec<Cow<'static, str>>,
    pub(super) default_max_tokens: Option<u64>,
    pub(super) thinking: Thinking,
    /// Whether later instructions are messages of their own.
    pub(super) system_turns: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            vendor: Cow::Borrowed("anthropic"),
            version: Cow::Borrowed(VERSION),
            betas: Vec::new(),
            default_max_tokens: None,
            thinking: Thinking::default(),
            system_turns: false,
        }
    }
}

/// How `reasoning_effort` is said to a model.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Thinking {
    /// As the model's name tells: a budget for the models up to Claude 4.5, by effort for all others.
    #[default]
    ByModel,
    /// The model decides how long it thinks, and the effort says how thorough it shall be.
    Adaptive,
    /// A budget of tokens: a share of the request's limit.
    Budget,
}
