//! Models that do not chat: a contract for each kind, and its implementation over a wire and a transport.

mod caller;
mod carrier;
mod handle;
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

#[cfg(feature = "media")]
pub use image::{GeneratedImages, ImageModel, ModelImages};
#[cfg(feature = "rerank")]
pub use rerank::{ModelReranker, RankedDocument, Ranking, Reranker};
#[cfg(feature = "media")]
pub use speech::{ModelSpeech, Speech, SpeechModel, SpeechStream};
#[cfg(feature = "media")]
pub use transcription::{ModelTranscriber, Transcriber, Transcript};
#[cfg(feature = "media")]
pub use video::{ModelVideos, PollPolicy, VideoFile, VideoModel};
