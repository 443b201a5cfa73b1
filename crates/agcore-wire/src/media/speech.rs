//! [`SpeechWire`]: speech from texts.

mod decode;

use http::HeaderValue;
use serde_json::json;

use self::decode::SpeechDecoder;
use super::parameters::{DASHSCOPE_PATH, refuse};
use crate::{
    decode::shape::{CheckedShape, Form, PointerSpec, ResponseShape},
    encode::{body::JsonBody, check_extra_body, invalid_request, model},
    error::LlmError,
    operation::{Speak, SpeechRequest},
    wire::{Decoder, EncodeOptions, ReplyHead, Wire, WireRequest},
};

/// The pointers of events and of JSON replies. OpenAI replies with the bytes themselves, see
/// <https://platform.openai.com/docs/api-reference/audio/createSpeech>; for DashScope see
/// <https://help.aliyun.com/zh/model-studio/qwen-tts-api>.
const POINTERS: &[PointerSpec] = &[
    PointerSpec {
        name: "audio",
        openai: "/audio",
        dashscope: "/output/audio/data",
    },
    PointerSpec {
        name: "url",
        openai: "/url",
        dashscope: "/output/audio/url",
    },
];

/// A wire for models that make speech from texts.
///
/// A reply is the sound itself, a stream of events with pieces of it, or a JSON document with the whole sound or its URL; the
/// content type decides. Its [pointers](ResponseShape::with_pointer), for events and documents, are `audio` (base64 text) and
/// `url`.
#[derive(Debug, Clone)]
pub struct SpeechWire(CheckedShape);

impl SpeechWire {
    /// Creates a wire with this shape.
    ///
    /// # Errors
    /// Returns `InvalidRequest` for an invalid path or pointer, and for a pointer with another name.
    pub fn new(shape: ResponseShape) -> Result<Self, LlmError> {
        CheckedShape::new(shape, POINTERS).map(Self)
    }
}

impl Wire<Speak> for SpeechWire {
    fn encode(&self, request: &SpeechRequest, options: &EncodeOptions<'_>) -> Result<WireRequest, LlmError> {
        check_extra_body(request.extra_body_clash())?;
        if request.text.is_empty() {
            return Err(invalid_request("the text is empty; there is nothing to speak"));
        }
        let mut body = JsonBody::new(model(&request.model, options)?);
        match self.0.form() {
            Form::OpenAi => {
                body.set("input", request.text.as_str());
                body.set("voice", request.voice.as_str());
                body.set_some("instructions", request.instructions.as_deref());
                body.set_some("response_format", request.output_format.as_deref());
                body.set_some("speed", request.speed);
            }
            Form::DashScope => {
                refuse("instructions", request.instructions.is_some())?;
                refuse("output_format", request.output_format.is_some())?;
                refuse("speed", request.speed.is_some())?;
                body.set("input", json!({"text": request.text, "voice": request.voice}));
            }
        }
        let path = self.0.path("/audio/speech", DASHSCOPE_PATH);
        let mut wire = body.post(path, &request.extra_body, &request.extra_headers)?;
        if self.0.form() == Form::DashScope && options.stream {
            wire.headers
                .insert("x-dashscope-sse", HeaderValue::from_static("enable"));
        }
        Ok(wire)
    }

    fn decoder(&self, head: &ReplyHead) -> Box<dyn Decoder<Speak>> {
        Box::new(SpeechDecoder::new(self.0.clone(), head))
    }
}
