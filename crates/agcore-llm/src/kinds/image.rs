//! [`ImageModel`]: the contract for making images, and [`ModelImages`], its implementation.

mod call;

use agcore_chat::{AnsweredBy, Usage};
use async_trait::async_trait;

use super::{caller::Caller, carrier::is_web_url, handle::handle};
use agcore_wire::{
    LlmError, LlmErrorKind,
    operation::{GenerateImages, ImageData, ImageRequest},
};

/// Makes images from texts.
#[async_trait]
pub trait ImageModel: Send + Sync {
    /// Returns the images: their bytes, or URLs from which they can be downloaded for some time.
    ///
    /// Cancel safe: dropping the future abandons the call. The vendor may charge for it nevertheless.
    ///
    /// # Errors
    /// Returns `InvalidRequest` if the prompt is empty or the API has no such parameter, `Malformed` if the reply is invalid or
    /// an image is too large, and any error of the server or the transport.
    async fn generate_images(&self, request: ImageRequest) -> Result<GeneratedImages, LlmError>;
}

/// Images that a model has made.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct GeneratedImages {
    /// The images, at least one.
    pub images: Vec<ImageData>,
    /// The usage, if known.
    pub usage: Option<Usage>,
    /// The model and key that answered, if there are several.
    pub answered_by: Option<AnsweredBy>,
}

impl GeneratedImages {
    /// Creates a result from images.
    pub fn new(images: impl IntoIterator<Item = ImageData>) -> Self {
        Self {
            images: images.into_iter().collect(),
            ..Self::default()
        }
    }
}

/// A model on a server that makes images: a wire on a transport, with any layers around it. Cheap to clone.
///
/// ```
/// # #[cfg(all(feature = "_http", feature = "openai-chat"))] {
/// use agcore_llm::{ImageModel, LlmErrorKind, ProviderConfig, wire::operation::ImageRequest};
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let model = ProviderConfig::parse("openai:gpt-image-1")?.with_api_key("sk-example").build_image_model()?;
///
/// // What the API cannot express is refused before anything is sent.
/// let request = ImageRequest::new("a lighthouse").with_negative_prompt("people");
/// let error = model.generate_images(request).await.unwrap_err();
/// assert_eq!(error.kind(), LlmErrorKind::InvalidRequest);
/// # Ok::<(), agcore_llm::LlmError>(())
/// # }).unwrap();
/// # }
/// ```
#[derive(Debug, Clone)]
#[must_use]
pub struct ModelImages {
    caller: Caller,
    max_bytes: usize,
}

handle!(ModelImages, GenerateImages, "one image");

impl ModelImages {
    /// The default limit of the bytes of one image.
    pub const DEFAULT_MAX_BYTES: usize = 32 << 20;
}

#[async_trait]
impl ImageModel for ModelImages {
    async fn generate_images(&self, request: ImageRequest) -> Result<GeneratedImages, LlmError> {
        let message = match request.count {
            _ if request.prompt.is_empty() => "the prompt is empty; describe the image",
            Some(0) => "the number of images is 0; ask for at least one",
            _ => "",
        };
        if !message.is_empty() {
            return Err(LlmError::new(LlmErrorKind::InvalidRequest, message));
        }
        let carrier = call::carry(&request)?;
        let response = self.caller.respond(self.caller.call::<GenerateImages>(carrier)).await?;
        let images = call::images(&response).and_then(|images| {
            check(&images, self.max_bytes)?;
            Ok(images)
        });
        Ok(GeneratedImages {
            images: images.map_err(|problem| self.caller.malformed(problem))?,
            usage: response.usage,
            answered_by: response.answered_by,
        })
    }
}

fn check(images: &[ImageData], max_bytes: usize) -> Result<(), String> {
    if images.is_empty() {
        return Err("the reply contains no image".to_owned());
    }
    for (at, image) in images.iter().enumerate() {
        match image {
            ImageData::Bytes(bytes) if bytes.is_empty() => return Err(format!("image {at} is empty")),
            ImageData::Bytes(bytes) if bytes.len() > max_bytes => {
                let found = bytes.len();
                return Err(format!(
                    "image {at} has {found} bytes, more than the limit of {max_bytes}; raise it with `with_max_bytes`"
                ));
            }
            ImageData::Url(url) if !is_web_url(url) => {
                return Err(format!("the URL of image {at} does not begin with https:// or http://"));
            }
            _ => {}
        }
    }
    Ok(())
}
