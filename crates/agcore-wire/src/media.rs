//! Wires for models that make or read images, sound and videos.
//!
//! ```
//! use agcore_wire::{EncodeOptions, ResponseShape, Wire, media::ImageWire, operation::{GenerateImages, ImageRequest}};
//!
//! let wire = ImageWire::new(ResponseShape::openai())?;
//! let request = ImageRequest::new("a lighthouse at dusk");
//! let encoded = Wire::<GenerateImages>::encode(&wire, &request, &EncodeOptions::new("gpt-image-1"))?;
//! assert_eq!(encoded.path, "/images/generations");
//! # Ok::<(), agcore_wire::LlmError>(())
//! ```

mod encoded_bytes;
mod multipart;
mod parameters;
mod image;
mod speech;
mod transcription;
mod video;

pub use image::ImageWire;
pub use speech::SpeechWire;
pub use transcription::TranscriptionWire;
pub use video::VideoWire;
