//! Operations other than a chat completion: listing models, embedding texts, and calls of models that do not chat.

mod setters;
mod models;
mod embed;
#[cfg(feature = "rerank")]
mod rerank;
#[cfg(feature = "media")]
mod image;
#[cfg(feature = "media")]
mod speech;
#[cfg(feature = "media")]
mod transcription;
#[cfg(feature = "media")]
mod video;

pub use embed::{Embed, EmbedItem, EmbedRequest};
#[cfg(feature = "media")]
pub use image::{GenerateImages, ImageData, ImageItem, ImageRequest};
pub use models::{ListModels, ModelEntry};
#[cfg(feature = "rerank")]
pub use rerank::{Rerank, RerankItem, RerankRequest};
#[cfg(feature = "media")]
pub use speech::{Speak, SpeechItem, SpeechRequest};
#[cfg(feature = "media")]
pub use transcription::{Transcribe, TranscriptSegment, TranscriptionItem, TranscriptionRequest};
#[cfg(feature = "media")]
pub use video::{MakeVideo, VideoCall, VideoItem, VideoJob, VideoRequest, VideoStatus};
