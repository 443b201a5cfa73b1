//! [`MediaKind`]: the parts of messages that not every model can read, and notes in their place.

use crate::{
    content::{
        Content,
        marks::{Marks, Origin},
        part::ContentPart,
    },
    conversation::message::{Message, ToolMessage, UserMessage},
};

/// The kind of a content part that is not text.
///
/// ```
/// use agcore_chat::{ContentPart, MediaKind};
///
/// let image = ContentPart::image_url("https://example.com/a.png");
/// assert_eq!(MediaKind::of(&image), Some(MediaKind::Image));
/// assert_eq!(MediaKind::of(&ContentPart::text("Hi")), None);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum MediaKind {
    /// An image.
    Image,
    /// An audio recording.
    Audio,
    /// A file.
    File,
    /// A part of unknown type.
    Other,
}

impl MediaKind {
    /// Returns the kind of a part; `None` for text.
    pub fn of(part: &ContentPart) -> Option<Self> {
        match part {
            ContentPart::Text(_) | ContentPart::Refusal(_) => None,
            ContentPart::ImageUrl(_) => Some(Self::Image),
            ContentPart::InputAudio(_) => Some(Self::Audio),
            ContentPart::File(_) => Some(Self::File),
            ContentPart::Other(_) => Some(Self::Other),
        }
    }

    /// Returns the kind with an article: `an image`.
    pub fn noun(self) -> &'static str {
        match self {
            Self::Image => "an image",
            Self::Audio => "an audio recording",
            Self::File => "a file",
            Self::Other => "a part",
        }
    }
}

/// Returns the media of a tool result or of a message of the user.
pub fn media_of(message: &Message) -> impl Iterator<Item = MediaKind> {
    let content = match message {
        Message::User(UserMessage { content, .. }) | Message::Tool(ToolMessage { content, .. }) => Some(content),
        _ => None,
    };
    let parts = content.map_or(&[][..], |content| match content {
        Content::Text(_) => &[][..],
        Content::Parts(parts) => parts,
    });
    parts.iter().filter_map(MediaKind::of)
}

/// Returns a message with notes in place of its media, except for the kinds that are kept; `None` if it has no others. `why`
/// completes the sentence "an image was left out: …".
///
/// ```
/// use agcore_chat::{ContentPart, Message, without_media};
///
/// let image = ContentPart::image_url("https://example.com/a.png");
/// let result = Message::tool("call_1", vec![ContentPart::text("The plan:"), image]);
/// let without = without_media(&result, |_| false, "the server cannot read it").unwrap();
/// assert_eq!(without.text(), "The plan:[an image was left out: the server cannot read it]");
/// assert!(without_media(&without, |_| false, "").is_none());
/// ```
pub fn without_media(message: &Message, is_kept: impl Fn(MediaKind) -> bool, why: &str) -> Option<Message> {
    media_of(message).find(|kind| !is_kept(*kind))?;
    let mut message = message.clone();
    if let Message::User(UserMessage { content, .. }) | Message::Tool(ToolMessage { content, .. }) = &mut message
        && let Content::Parts(parts) = content
    {
        for part in parts {
            if let Some(kind) = MediaKind::of(part).filter(|kind| !is_kept(*kind)) {
                let note = format!("[{} was left out: {why}]", kind.noun());
                *part = ContentPart::text(note).with_marks(Marks::new().with_origin(Origin::Pruned));
            }
        }
    }
    Some(message)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn kinds_that_are_kept_stay_and_others_become_notes() {
        let parts = vec![
            ContentPart::image_url("data:image/png;base64,AAAA"),
            ContentPart::input_audio("AAAA", "wav"),
            ContentPart::file_data("a.zip", "data:application/zip;base64,AAAA"),
            ContentPart::Other(json!({"type": "video"})),
        ];
        let message = Message::user(parts);
        let kinds: Vec<_> = media_of(&message).collect();
        let without = without_media(&message, |kind| kind == MediaKind::Image, "no").unwrap();
        assert_eq!(kinds.len(), 4);
        assert_eq!(media_of(&without).collect::<Vec<_>>(), [MediaKind::Image]);
        let text = "[an audio recording was left out: no][a file was left out: no][a part was left out: no]";
        assert_eq!(without.text(), text);
        assert!(without_media(&without, |kind| kind == MediaKind::Image, "no").is_none());
        assert!(without_media(&Message::user("Hi"), |_| false, "no").is_none());
    }
}
