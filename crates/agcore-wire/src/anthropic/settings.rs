//! [`Settings`]: the settings of the wire that do not depend on a request.

use std::borrow::Cow;

use super::vendor::VENDOR;

/// The version of the API that this wire implements.
const VERSION: &str = "2023-06-01";

/// The settings of the wire.
#[derive(Debug, Clone)]
pub(super) struct Settings {
    pub(super) vendor: Cow<'static, str>,
    pub(super) version: Cow<'static, str>,
    pub(super) betas: Vec<Cow<'static, str>>,
    pub(super) default_max_tokens: Option<u64>,
    pub(super) thinking: Thinking,
    /// Whether instructions in the middle of a conversation are separate messages.
    pub(super) system_turns: bool,
    /// Whether the wire places cache marks if the application places none.
    pub(super) automatic_caching: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            vendor: Cow::Borrowed(VENDOR),
            version: Cow::Borrowed(VERSION),
            betas: Vec::new(),
            default_max_tokens: None,
            thinking: Thinking::default(),
            system_turns: false,
            automatic_caching: true,
        }
    }
}

/// The form in which `reasoning_effort` is sent.
///
/// ```
/// use agcore_chat::{ChatRequest, Message};
/// use agcore_wire::{Chat, EncodeOptions, Wire, anthropic::{Anthropic, Thinking}};
/// use serde_json::{Value, json};
///
/// let mut request = ChatRequest::new([Message::user("Hi")]).with_max_tokens(10_000);
/// request.reasoning_effort = Some("medium".into());
/// let thinking = |wire: Anthropic| {
///     let encoded = Wire::<Chat>::encode(&wire, &request, &EncodeOptions::new("my-deployment")).unwrap();
///     serde_json::from_slice::<Value>(&encoded.body).unwrap()["thinking"].clone()
/// };
///
/// assert_eq!(thinking(Anthropic::new()), json!({"type": "adaptive"}));
/// let with_budget = Anthropic::new().with_thinking(Thinking::Budget);
/// assert_eq!(thinking(with_budget), json!({"type": "enabled", "budget_tokens": 5000}));
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Thinking {
    /// Depends on the name of the model: [`Budget`](Self::Budget) for models up to Claude 4.5,
    /// [`Adaptive`](Self::Adaptive) for all others.
    #[default]
    ByModel,
    /// The model decides how long it thinks, and the effort sets how thorough it is.
    Adaptive,
    /// A budget of tokens: a share of the request's limit.
    Budget,
}
