//! [`GenerateImages`]: images from texts.

use std::fmt;

use agcore_chat::{Extra, Usage};
use bytes::Bytes;

use super::setters::{picture_setters, request_setters};
use crate::wire::Operation;

/// The operation that requests images.
#[derive(Debug, Clone, Copy)]
pub struct GenerateImages;

impl Operation for GenerateImages {
    type Request = ImageRequest;
    type Item = ImageItem;
}

/// A request for images.
///
/// ```
/// use agcore_wire::operation::ImageRequest;
///
/// let request = ImageRequest::new("a lighthouse at dusk").with_size("1024x1024").with_count(2);
/// assert_eq!(request.count, Some(2));
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct ImageRequest {
    /// The model; if empty, the provider's default.
    pub model: String,
    /// The description of the images.
    pub prompt: String,
    /// The description of what the images should not show. OpenAI has no such parameter.
    pub negative_prompt: Option<String>,
    /// The number of images.
    pub count: Option<u32>,
    /// The width and height in pixels, as `1024x1024`.
    pub size: Option<String>,
    /// The quality, in the words of the vendor. DashScope has no such parameter.
    pub quality: Option<String>,
    /// The file format: `png`, `jpeg` or `webp`. DashScope has no such parameter.
    pub output_format: Option<String>,
    /// The number that makes results repeatable. OpenAI has no such parameter.
    pub seed: Option<u64>,
    /// Members that are merged into the top level of the body. Members that the request has a field for are refused.
    pub extra_body: Extra,
    /// Additional HTTP headers.
    pub extra_headers: Vec<(String, String)>,
}

request_setters!(ImageRequest);
picture_setters!(ImageRequest);

impl ImageRequest {
    /// Creates a request for an image, by the provider's default model.
    pub fn new(prompt: impl Into<String>) -> Self {
        Self {
            prompt: prompt.into(),
            ..Self::default()
        }
    }

    /// Sets the number of images.
    #[must_use]
    pub fn with_count(mut self, count: u32) -> Self {
        self.count = Some(count);
        self
    }

    /// Sets the quality, in the words of the vendor.
    #[must_use]
    pub fn with_quality(mut self, quality: impl Into<String>) -> Self {
        self.quality = Some(quality.into());
        self
    }

    /// Sets the file format.
    #[must_use]
    pub fn with_output_format(mut self, format: impl Into<String>) -> Self {
        self.output_format = Some(format.into());
        self
    }

    /// Returns the first member of `extra_body` that the request has a field for, and that is therefore refused.
    pub fn extra_body_clash(&self) -> Option<&str> {
        const FIELDS: &[&str] = &["model", "prompt", "n", "size", "quality", "output_format", "input"];
        FIELDS.iter().copied().find(|name| self.extra_body.get(name).is_some())
    }
}

/// An item of a reply.
#[derive(Debug, Clone, PartialEq)]
pub enum ImageItem {
    /// An image.
    Image(ImageData),
    /// The usage.
    Usage(Box<Usage>),
}

/// An image: its bytes, or the URL from which it can be downloaded for some time.
///
/// `Debug` shows neither the bytes nor the query of the URL, which may contain a signature.
#[derive(Clone, PartialEq, Eq)]
pub enum ImageData {
    /// The bytes of the file.
    Bytes(Bytes),
    /// The URL of the file.
    Url(String),
}

impl fmt::Debug for ImageData {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bytes(bytes) => write!(f, "Bytes({} bytes)", bytes.len()),
            Self::Url(url) => write!(f, "Url({:?})", without_query(url)),
        }
    }
}

/// Returns a URL without its query and fragment.
pub(crate) fn without_query(url: &str) -> &str {
    url.split(['?', '#']).next().unwrap_or_default()
}
