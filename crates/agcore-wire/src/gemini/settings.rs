//! [`Settings`]: the settings of the wire that do not depend on a request.

use std::borrow::Cow;

use super::vendor::VENDOR;

/// The settings of the wire.
#[derive(Debug, Clone)]
pub(super) struct Settings {
    pub(super) vendor: Cow<'static, str>,
    pub(super) thinking: Thinking,
    /// Whether the model returns its thoughts if a request sets the reasoning effort.
    pub(super) thoughts: bool,
    /// Whether calls without a signature get one that the API does not check.
    pub(super) placeholder_signatures: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            vendor: Cow::Borrowed(VENDOR),
            thinking: Thinking::default(),
            thoughts: true,
            placeholder_signatures: false,
        }
    }
}

/// The form in which `reasoning_effort` is sent.
///
/// ```
/// use agcore_chat::{ChatRequest, Message};
/// use agcore_wire::{Chat, EncodeOptions, Wire, gemini::{Gemini, Thinking}};
/// use serde_json::{Value, json};
///
/// let mut request = ChatRequest::new([Message::user("Hi")]);
/// request.reasoning_effort = Some("medium".into());
/// let thinking = |wire: Gemini| {
///     let encoded = Wire::<Chat>::encode(&wire, &request, &EncodeOptions::new("tunedModels/mine")).unwrap();
///     serde_json::from_slice::<Value>(&encoded.body).unwrap()["generationConfig"]["thinkingConfig"].clone()
/// };
///
/// assert_eq!(thinking(Gemini::new()), json!({"thinkingLevel": "MEDIUM", "includeThoughts": true}));
/// let with_budget = Gemini::new().with_thinking(Thinking::Budget).with_thoughts(false);
/// assert_eq!(thinking(with_budget), json!({"thinkingBudget": 8192}));
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Thinking {
    /// Depends on the name of the model: [`Budget`](Self::Budget) for Gemini 2.5, [`Level`](Self::Level) for later and unknown
    /// models. Older models do not think.
    #[default]
    ByModel,
    /// A level: `MINIMAL`, `LOW`, `MEDIUM` or `HIGH`.
    Level,
    /// A budget of tokens.
    Budget,
}
