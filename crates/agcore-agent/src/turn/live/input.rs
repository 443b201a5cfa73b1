//! Checks of the input of a turn, before it costs anything.

use agcore_chat::{Content, ContentPart, Message, TokenEstimator, UserMessage, media_of};

use crate::error::AgentError;

/// The limits of the input of a turn.
pub(crate) struct InputLimits<'a> {
    /// The most text, in bytes.
    pub(crate) max_bytes: usize,
    /// The most media, in bytes as they are sent.
    pub(crate) max_media_bytes: usize,
    /// The context window of the model in tokens, if it is known.
    pub(crate) window: Option<u64>,
    pub(crate) estimator: &'a dyn TokenEstimator,
}

impl InputLimits<'_> {
    /// Checks the newest message of the input, if it is from the user: it must not be empty, and the model must be able to read
    /// it even if nothing else is sent.
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
        self.check_media(content)?;
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

    /// Checks the size of the media, which are sent again with every request of the session.
    fn check_media(&self, content: &Content) -> Result<(), AgentError> {
        let bytes: usize = parts(content).iter().map(media_bytes).sum();
        if bytes <= self.max_media_bytes {
            return Ok(());
        }
        Err(AgentError::input(format!(
            "the images, recordings and files of the message have {bytes} bytes, more than the {} of `max_media_bytes`; send \
             smaller ones, send their URLs or ids, or raise the limit",
            self.max_media_bytes
        )))
    }
}

fn texts(content: &Content) -> impl Iterator<Item = &str> {
    let text = match content {
        Content::Text(text) => Some(text.as_str()),
        Content::Parts(_) => None,
    };
    text.into_iter()
        .chain(parts(content).iter().filter_map(ContentPart::as_text))
}

fn parts(content: &Content) -> &[ContentPart] {
    match content {
        Content::Text(_) => &[],
        Content::Parts(parts) => parts,
    }
}

/// Returns the size of a part that is not text, as base64 or as JSON.
fn media_bytes(part: &ContentPart) -> usize {
    match part {
        ContentPart::ImageUrl(image) => image.image_url.url.len(),
        ContentPart::InputAudio(audio) => audio.input_audio.data.len(),
        ContentPart::File(file) => file.file.file_data.as_ref().map_or(0, String::len),
        ContentPart::Other(value) => value.to_string().len(),
        _ => 0,
    }
}
