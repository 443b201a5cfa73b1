//! Requests and images in the form of chats. The prompt is the user message.

use agcore_chat::{ChatRequest, ChatResponse, Message};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::super::carrier;
use crate::{provider::CallOperation, wire_provider::CarriedOperation};
use agcore_wire::{
    LlmError, ReplyDelta,
    operation::{GenerateImages, ImageData, ImageItem, ImageRequest},
};

/// The member of the response that contains the images.
const IMAGES: &str = "images";

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Options {
    #[serde(skip_serializing_if = "Option::is_none")]
    negative_prompt: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    count: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    size: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    quality: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_format: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seed: Option<u64>,
}

/// Returns the chat request that carries a request.
pub(super) fn carry(request: &ImageRequest) -> Result<ChatRequest, LlmError> {
    let options = Options {
        negative_prompt: request.negative_prompt.clone(),
        count: request.count,
        size: request.size.clone(),
        quality: request.quality.clone(),
        output_format: request.output_format.clone(),
        seed: request.seed,
    };
    let messages = vec![Message::user(request.prompt.as_str())];
    let mut carrier = carrier::request(messages, &options, &request.extra_body)?;
    carrier.model.clone_from(&request.model);
    carrier.extra_headers.clone_from(&request.extra_headers);
    Ok(carrier)
}

/// Returns the images in a response, or a description of the problem.
pub(super) fn images(response: &ChatResponse) -> Result<Vec<ImageData>, String> {
    let image = |entry: &Value| {
        if let Some(url) = entry.get("url").and_then(Value::as_str) {
            return Some(ImageData::Url(url.to_owned()));
        }
        let bytes = entry.get("bytes").and_then(Value::as_str)?;
        carrier::decode_bytes(bytes).map(ImageData::Bytes)
    };
    let images: Option<Vec<_>> = carrier::entries(response, IMAGES).iter().map(image).collect();
    images.ok_or_else(|| "the reply contains something that is not an image".to_owned())
}

impl CarriedOperation for GenerateImages {
    const CALL: CallOperation = CallOperation::ImageGeneration;

    fn unpack(carrier: &ChatRequest) -> Result<ImageRequest, LlmError> {
        let (options, extra): (Options, _) = carrier::options(carrier, "text-to-image")?;
        let mut request = ImageRequest::new(carrier::texts(carrier).collect::<String>());
        request.model.clone_from(&carrier.model);
        request.negative_prompt = options.negative_prompt;
        request.count = options.count;
        request.size = options.size;
        request.quality = options.quality;
        request.output_format = options.output_format;
        request.seed = options.seed;
        request.extra_body = extra;
        request.extra_headers.clone_from(&carrier.extra_headers);
        Ok(request)
    }

    fn pack(item: ImageItem) -> ReplyDelta {
        match item {
            ImageItem::Usage(usage) => ReplyDelta::Usage(usage),
            ImageItem::Image(ImageData::Url(url)) => carrier::entry(IMAGES, json!({"url": url})),
            ImageItem::Image(ImageData::Bytes(bytes)) => {
                carrier::entry(IMAGES, json!({"bytes": carrier::encode_bytes(&bytes)}))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use agcore_wire::Fold;
    use bytes::Bytes;

    use super::*;

    #[test]
    fn a_call_stands_for_a_request() {
        let request = ImageRequest::new("a lighthouse")
            .with_model("m")
            .with_negative_prompt("people")
            .with_count(2)
            .with_size("1024x1024")
            .with_quality("high")
            .with_output_format("webp")
            .with_seed(7)
            .with_extra_body("watermark", false)
            .with_extra_header("x-a", "1");
        assert_eq!(GenerateImages::unpack(&carry(&request).unwrap()).unwrap(), request);
        assert!(GenerateImages::unpack(&ChatRequest::new([Message::user("Hi")])).is_err());
    }

    #[test]
    fn images_survive_exactly() {
        let sent = [
            ImageData::Bytes(Bytes::from_static(&[0, 255, 10])),
            ImageData::Url("https://example.com/a.png".to_owned()),
            ImageData::Url("https://example.com/a.png".to_owned()),
        ];
        let mut fold = Fold::new();
        for image in sent.clone() {
            fold.push_owned(GenerateImages::pack(ImageItem::Image(image)));
        }
        assert_eq!(images(&fold.response()).unwrap(), sent);
    }
}
