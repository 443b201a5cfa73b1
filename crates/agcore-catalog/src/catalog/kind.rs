//! [`ModelKind`]: what a model is for.

use std::fmt;

/// The kind of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum ModelKind {
    /// Continues a conversation.
    Text,
    /// Continues a conversation and reasons before it answers.
    Reasoning,
    /// Continues a conversation that contains images or sound.
    Multimodal,
    /// Computes vectors of texts.
    Embedding,
    /// Sorts documents by relevance.
    Rerank,
    /// Makes images from texts.
    TextToImage,
    /// Makes videos from texts.
    TextToVideo,
    /// Makes speech from texts.
    Speech,
    /// Makes texts from speech.
    Transcription,
}

impl ModelKind {
    /// All kinds.
    pub const ALL: [Self; 9] = [
        Self::Text,
        Self::Reasoning,
        Self::Multimodal,
        Self::Embedding,
        Self::Rerank,
        Self::TextToImage,
        Self::TextToVideo,
        Self::Speech,
        Self::Transcription,
    ];

    /// Returns the name in catalogs.
    ///
    /// ```
    /// assert_eq!(agcore_catalog::ModelKind::TextToImage.as_str(), "text-to-image");
    /// ```
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Reasoning => "reasoning",
            Self::Multimodal => "multimodal",
            Self::Embedding => "embedding",
            Self::Rerank => "rerank",
            Self::TextToImage => "text-to-image",
            Self::TextToVideo => "text-to-video",
            Self::Speech => "speech",
            Self::Transcription => "transcription",
        }
    }

    /// Returns whether models of this kind continue conversations.
    pub fn is_chat(self) -> bool {
        matches!(self, Self::Text | Self::Reasoning | Self::Multimodal)
    }

    /// Returns whether a model of this kind can take the place of one of another kind: both continue conversations, or the
    /// kind is the same.
    pub(crate) fn can_replace(self, other: Self) -> bool {
        self == other || (self.is_chat() && other.is_chat())
    }
}

impl fmt::Display for ModelKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
