//! Checks of the input of a turn, before it costs anything.

use agcore_chat::{Content, ContentPart, Message, TokenEstimator, UserMessage, media_of};

use crate::error::AgentError;

/// The limits of the input of a turn.
pub(crate) struct InputLimits<'a> {
    /// The most text, in bytes.
    pub(crate) max_bytes: usize,
    /// The context window of the model in tokens, if it is known.
    pub(crate) window: Option<u64>,
    pub(crate) estimator: &'a dyn TokenEstimator,
}

impl InputLimits<'_> {
    /// Checks the newest message of the input, if it is from the user: it must say something, and the model must be able to
    /// read it even if nothing else is sent.
    pub(crate) fn check(&self, newest: Option<&Message>) -> Result<(), AgentError> {
        let Some(message @ Message::User(UserMessage { content, .. })) = newest else {
            return Ok(());
        };
        let mut texts = texts(content);
        if texts.all(|text| text.trim().is_empty()) && media_of(message).next().is_none() {
            return Err(AgentError::input(
                "the message is empty; send at least a word, an image or a file",
            ));
        }
        let bytes: usize = self::texts(content).map(str::len).sum();
        if bytes > self.max_bytes {
            return Err(AgentError::input(format!(
                "the message has {bytes} bytes of text, more than the {} of `max_input_bytes`; shorten it, let the agent read it \
                 from a file with a tool, or raise the limit",
                self.max_bytes
            )));
        }
        // A token has at least a byte, so most messages need not be counted.
        let Some(window) = self
            .window
            .filter(|window| u64::try_from(bytes).unwrap_or(u64::MAX) > *window)
        else {
            return Ok(());
        };
        let tokens = self.estimator.message(message);
        if tokens <= window {
            return Ok(());
        }
        Err(AgentError::input(format!(
            "the message alone has about {tokens} tokens, more than the context window of the model ({window}); shorten it, or \
             let the agent read it in parts with a tool"
        )))
    }
}

fn texts(content: &Content) -> impl Iterator<Item = &str> {
    let (text, parts) = match content {
        Content::Text(text) => (Some(text.as_str()), &[][..]),
        Content::Parts(parts) => (None, parts.as_slice()),
    };
    text.into_iter().chain(parts.iter().filter_map(ContentPart::as_text))
}
