//! [`ListModels`]: the models of a server.

use agcore_chat::Extra;

use crate::wire::Operation;

/// The operation that lists the models of a server.
///
/// ```
/// # #[cfg(feature = "openai-chat")] {
/// use agcore_wire::{Close, EncodeOptions, ReplyHead, Wire, dialect, openai_chat::OpenAiChat, operation::ListModels};
///
/// let wire = OpenAiChat::new(dialect::openai());
/// let encoded = Wire::<ListModels>::encode(&wire, &(), &EncodeOptions::new(""))?;
/// assert_eq!((encoded.method.as_str(), encoded.path.as_str()), ("GET", "/models"));
///
/// let mut decoder = Wire::<ListModels>::decoder(&wire, &ReplyHead::default());
/// let mut models = Vec::new();
/// decoder.feed(br#"{"data": [{"id": "gpt-5-mini", "owned_by": "openai"}]}"#, &mut models)?;
/// decoder.finish(Close::Clean, &mut models)?;
/// assert_eq!(models[0].id, "gpt-5-mini");
/// # }
/// # Ok::<(), agcore_wire::LlmError>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct ListModels;

impl Operation for ListModels {
    type Request = ();
    type Item = ModelEntry;
}

/// A model in the list of a server.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct ModelEntry {
    /// The name that requests use.
    pub id: String,
    /// The display name, if the server has one.
    pub name: Option<String>,
    /// The owner, according to the server.
    pub owned_by: Option<String>,
    /// The time at which the model was created, in seconds since 1970.
    pub created: Option<u64>,
    /// The context window in tokens, if the server reports it.
    pub context_window: Option<u64>,
    /// All other members.
    pub extra: Extra,
}
