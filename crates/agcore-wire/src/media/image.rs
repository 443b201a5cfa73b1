//! [`ImageWire`]: images from texts.

use serde_json::{Value, json};

use super::{
    encoded_bytes,
    parameters::{DASHSCOPE_PATH, Parameters, refuse},
};
use crate::{
    decode::{
        document::Document,
        shape::{CheckedShape, Form, PointerSpec, ResponseShape, read_usage},
    },
    encode::{body::JsonBody, check_extra_body, invalid_request, model},
    error::LlmError,
    operation::{GenerateImages, ImageData, ImageItem, ImageRequest},
    wire::{Close, Decoder, EncodeOptions, ReplyHead, Wire, WireRequest},
};

/// The pointers of replies. For OpenAI see <https://platform.openai.com/docs/api-reference/images/create>, for DashScope
/// <https://help.aliyun.com/zh/model-studio/qwen-image-api>, whose replies have one or several images in each choice.
const POINTERS: &[PointerSpec] = &[
    PointerSpec {
        name: "images",
        openai: "/data/*",
        dashscope: "/output/choices/*/message/content/*",
    },
    PointerSpec {
        name: "bytes",
        openai: "/b64_json",
        dashscope: "/b64_json",
    },
    PointerSpec {
        name: "url",
        openai: "/url",
        dashscope: "/image",
    },
];

/// A wire for models that make images.
///
/// Its [pointers](ResponseShape::with_pointer) are `images` (the entries), `bytes` (base64 text) and `url`, both within an
/// entry. The form of DashScope is that of models that reply with the images at once.
#[derive(Debug, Clone)]
pub struct ImageWire(CheckedShape);

impl ImageWire {
    /// Creates a wire with this shape.
    ///
    /// # Errors
    /// Returns `InvalidRequest` for an invalid path or pointer, and for a pointer with another name.
    pub fn new(shape: ResponseShape) -> Result<Self, LlmError> {
        CheckedShape::new(shape, POINTERS).map(Self)
    }
}

impl Wire<GenerateImages> for ImageWire {
    fn encode(&self, request: &ImageRequest, options: &EncodeOptions<'_>) -> Result<WireRequest, LlmError> {
        check_extra_body(request.extra_body_clash())?;
        if request.prompt.is_empty() {
            return Err(invalid_request("the prompt is empty; describe the image"));
        }
        let mut body = JsonBody::new(model(&request.model, options)?);
        match self.0.form() {
            Form::OpenAi => openai(request, &mut body)?,
            Form::DashScope => dashscope(request, &mut body)?,
        }
        let path = self.0.path("/images/generations", DASHSCOPE_PATH);
        body.post(path, &request.extra_body, &request.extra_headers)
    }

    fn decoder(&self, head: &ReplyHead) -> Box<dyn Decoder<GenerateImages>> {
        Box::new(ImageDecoder {
            shape: self.0.clone(),
            document: Document::new(head),
        })
    }
}

fn openai(request: &ImageRequest, body: &mut JsonBody) -> Result<(), LlmError> {
    // Servers that are only compatible accept both, as members of `extra_body`.
    refuse("negative_prompt", request.negative_prompt.is_some())?;
    refuse("seed", request.seed.is_some())?;
    body.set("prompt", request.prompt.as_str());
    body.set_some("n", request.count);
    body.set_some("size", request.size.as_deref());
    body.set_some("quality", request.quality.as_deref());
    body.set_some("output_format", request.output_format.as_deref());
    Ok(())
}

fn dashscope(request: &ImageRequest, body: &mut JsonBody) -> Result<(), LlmError> {
    refuse("quality", request.quality.is_some())?;
    refuse("output_format", request.output_format.is_some())?;
    let content = json!([{"text": request.prompt}]);
    body.set("input", json!({"messages": [{"role": "user", "content": content}]}));
    let mut parameters = Parameters::default();
    parameters.set("n", request.count);
    // DashScope writes 1024*1024.
    parameters.set("size", request.size.as_ref().map(|size| size.replace(['x', 'X'], "*")));
    parameters.set("negative_prompt", request.negative_prompt.as_deref());
    parameters.set("seed", request.seed);
    body.set_some("parameters", parameters.into_object());
    Ok(())
}

/// The decoder of the reply, which is not streamed.
#[derive(Debug)]
struct ImageDecoder {
    shape: CheckedShape,
    document: Document,
}

impl ImageDecoder {
    /// Reads an image: the bytes if they are there, or else the URL.
    fn image(&self, entry: &Value) -> Result<Option<ImageData>, LlmError> {
        if let Some(text) = self.shape.first(entry, "bytes").and_then(Value::as_str) {
            let bytes = encoded_bytes::decode(text);
            let malformed = || self.document.malformed_media("an image is not valid base64");
            return Ok(Some(ImageData::Bytes(bytes.ok_or_else(malformed)?)));
        }
        let url = self.shape.first(entry, "url").and_then(Value::as_str);
        Ok(url.map(|url| ImageData::Url(url.to_owned())))
    }
}

impl Decoder<GenerateImages> for ImageDecoder {
    fn feed(&mut self, bytes: &[u8], _: &mut Vec<ImageItem>) -> Result<(), LlmError> {
        self.document.feed(bytes)
    }

    fn finish(&mut self, close: Close, items: &mut Vec<ImageItem>) -> Result<(), LlmError> {
        let reply = self.document.read_reply(close, "list of images")?;
        let before = items.len();
        for entry in self.shape.all(&reply, "images") {
            // Entries without an image, such as a text in front of them, are skipped.
            items.extend(self.image(entry)?.map(ImageItem::Image));
        }
        if items.len() == before {
            let pointer = self.shape.pointer("images");
            let message = format!("the reply is JSON, but `{pointer}` selects no image");
            return Err(self.document.lacking(&reply, message));
        }
        items.extend(read_usage(&reply).map(|usage| ImageItem::Usage(Box::new(usage))));
        Ok(())
    }
}
