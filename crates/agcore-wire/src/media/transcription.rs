//! [`TranscriptionWire`]: texts from speech.

use serde_json::{Value, json};

use super::{
    encoded_bytes,
    multipart::Multipart,
    parameters::{DASHSCOPE_PATH, Parameters, refuse},
};
use crate::{
    decode::{
        document::Document,
        shape::{CheckedShape, Form, PointerSpec, ResponseShape, read_usage},
    },
    encode::{body::JsonBody, check_extra_body, invalid_request, model},
    error::LlmError,
    operation::{Transcribe, TranscriptSegment, TranscriptionItem, TranscriptionRequest},
    wire::{Close, Decoder, EncodeOptions, ReplyHead, Wire, WireRequest},
};

/// The pointers of replies. For OpenAI see <https://platform.openai.com/docs/api-reference/audio/createTranscription>, for
/// DashScope <https://help.aliyun.com/zh/model-studio/qwen-speech-recognition>.
const POINTERS: &[PointerSpec] = &[
    PointerSpec {
        name: "text",
        openai: "/text",
        dashscope: "/output/choices/0/message/content/0/text",
    },
    PointerSpec {
        name: "segments",
        openai: "/segments/*",
        dashscope: "/output/segments/*",
    },
    PointerSpec {
        name: "start",
        openai: "/start",
        dashscope: "/start",
    },
    PointerSpec {
        name: "end",
        openai: "/end",
        dashscope: "/end",
    },
    PointerSpec {
        name: "segment_text",
        openai: "/text",
        dashscope: "/text",
    },
];

/// A wire for models that make texts from speech.
///
/// Its [pointers](ResponseShape::with_pointer) are `text`, `segments` (the entries), and `start`, `end` (in seconds) and
/// `segment_text` within an entry. Requests are forms with a file for OpenAI, and JSON with a data URL for DashScope.
#[derive(Debug, Clone)]
pub struct TranscriptionWire(CheckedShape);

impl TranscriptionWire {
    /// Creates a wire with this shape.
    ///
    /// # Errors
    /// Returns `InvalidRequest` for an invalid path or pointer, and for a pointer with another name.
    pub fn new(shape: ResponseShape) -> Result<Self, LlmError> {
        CheckedShape::new(shape, POINTERS).map(Self)
    }
}

impl Wire<Transcribe> for TranscriptionWire {
    fn encode(&self, request: &TranscriptionRequest, options: &EncodeOptions<'_>) -> Result<WireRequest, LlmError> {
        check_extra_body(request.extra_body_clash())?;
        if request.audio.is_empty() {
            return Err(invalid_request("the recording is empty"));
        }
        let model = model(&request.model, options)?;
        let path = self.0.path("/audio/transcriptions", DASHSCOPE_PATH);
        match self.0.form() {
            Form::OpenAi => openai(request, model, path),
            Form::DashScope => dashscope(request, model, path),
        }
    }

    fn decoder(&self, head: &ReplyHead) -> Box<dyn Decoder<Transcribe>> {
        Box::new(TranscriptionDecoder {
            shape: self.0.clone(),
            document: Document::new(head),
        })
    }
}

fn openai(request: &TranscriptionRequest, model: &str, path: &str) -> Result<WireRequest, LlmError> {
    let mut form = Multipart::new(&request.file_name, &request.audio);
    form.set("model", model);
    form.set_some("language", request.language.as_deref());
    form.set_some("prompt", request.prompt.as_deref());
    if request.segments {
        form.set("response_format", "verbose_json");
        form.set("timestamp_granularities[]", "segment");
    } else {
        form.set("response_format", "json");
    }
    form.set_extra(&request.extra_body)?;
    form.post(path, &request.extra_headers)
}

fn dashscope(request: &TranscriptionRequest, model: &str, path: &str) -> Result<WireRequest, LlmError> {
    refuse("segments", request.segments)?;
    refuse("prompt", request.prompt.is_some())?;
    let url = encoded_bytes::data_url(request.extension(), &request.audio);
    let mut body = JsonBody::new(model);
    body.set(
        "input",
        json!({"messages": [{"role": "user", "content": [{"audio": url}]}]}),
    );
    let language = request.language.as_ref();
    let mut parameters = Parameters::default();
    parameters.set("asr_options", language.map(|language| json!({"language": language})));
    body.set_some("parameters", parameters.into_object());
    body.post(path, &request.extra_body, &request.extra_headers)
}

/// The decoder of the reply, which is not streamed.
#[derive(Debug)]
struct TranscriptionDecoder {
    shape: CheckedShape,
    document: Document,
}

impl TranscriptionDecoder {
    fn segment(&self, entry: &Value) -> Option<TranscriptSegment> {
        Some(TranscriptSegment {
            start: self.shape.first(entry, "start")?.as_f64()?,
            end: self.shape.first(entry, "end")?.as_f64()?,
            text: self.shape.first(entry, "segment_text")?.as_str()?.to_owned(),
        })
    }
}

impl Decoder<Transcribe> for TranscriptionDecoder {
    fn feed(&mut self, bytes: &[u8], _: &mut Vec<TranscriptionItem>) -> Result<(), LlmError> {
        self.document.feed(bytes)
    }

    fn finish(&mut self, close: Close, items: &mut Vec<TranscriptionItem>) -> Result<(), LlmError> {
        let reply = self.document.read_reply(close, "transcription")?;
        let Some(text) = self.shape.first(&reply, "text").and_then(Value::as_str) else {
            let pointer = self.shape.pointer("text");
            let message = format!("the reply is JSON, but not a transcription: it has no text at `{pointer}`");
            return Err(self.document.lacking(&reply, message));
        };
        items.push(TranscriptionItem::Text(text.to_owned()));
        for entry in self.shape.all(&reply, "segments") {
            let segment = self.segment(entry);
            let malformed = || {
                self.document
                    .malformed("a segment has no start, end or text".to_owned())
            };
            items.push(TranscriptionItem::Segment(segment.ok_or_else(malformed)?));
        }
        items.extend(read_usage(&reply).map(|usage| TranscriptionItem::Usage(Box::new(usage))));
        Ok(())
    }
}
