//! Recordings and texts in the form of chats. The recording is an audio part of the user message.

use agcore_chat::{ChatRequest, ChatResponse, Content, ContentPart, Message};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::super::carrier;
use crate::{provider::CallOperation, wire_provider::CarriedOperation};
use agcore_wire::{
    LlmError, LlmErrorKind, ReplyDelta,
    operation::{Transcribe, TranscriptSegment, TranscriptionItem, TranscriptionRequest},
};

/// The members of the response that contain the text, and the segments as arrays of start, end and text.
const TEXT: &str = "transcript";
const SEGMENTS: &str = "transcript_segments";

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Options {
    file_name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    language: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    prompt: Option<String>,
    segments: bool,
}

/// Returns the chat request that carries a request.
pub(super) fn carry(request: &TranscriptionRequest) -> Result<ChatRequest, LlmError> {
    let options = Options {
        file_name: request.file_name.clone(),
        language: request.language.clone(),
        prompt: request.prompt.clone(),
        segments: request.segments,
    };
    let audio = ContentPart::input_audio(carrier::encode_bytes(&request.audio), request.extension());
    let mut carrier = carrier::request(vec![Message::user(audio)], &options, &request.extra_body)?;
    carrier.model.clone_from(&request.model);
    carrier.extra_headers.clone_from(&request.extra_headers);
    Ok(carrier)
}

/// Returns the text and the segments in a response, or a description of the problem.
pub(super) fn transcript(response: &ChatResponse) -> Result<(String, Vec<TranscriptSegment>), String> {
    let segment = |entry: &Value| {
        Some(TranscriptSegment {
            start: entry.get(0)?.as_f64()?,
            end: entry.get(1)?.as_f64()?,
            text: entry.get(2)?.as_str()?.to_owned(),
        })
    };
    let text: Option<String> = carrier::entries(response, TEXT).iter().map(Value::as_str).collect();
    let segments: Option<Vec<_>> = carrier::entries(response, SEGMENTS).iter().map(segment).collect();
    if carrier::entries(response, TEXT).is_empty() {
        return Err("the reply contains no text".to_owned());
    }
    text.zip(segments)
        .ok_or_else(|| "the reply contains something that is not a transcript".to_owned())
}

impl CarriedOperation for Transcribe {
    const CALL: CallOperation = CallOperation::Transcription;

    fn unpack(carrier: &ChatRequest) -> Result<TranscriptionRequest, LlmError> {
        let (options, extra): (Options, _) = carrier::options(carrier, "transcription")?;
        let parts = carrier::contents(carrier).flat_map(|content| match content {
            Content::Parts(parts) => parts.as_slice(),
            Content::Text(_) => &[],
        });
        let mut audio = parts.filter_map(|part| match part {
            ContentPart::InputAudio(part) => carrier::decode_bytes(&part.input_audio.data),
            _ => None,
        });
        let audio = audio.next();
        let audio = audio.ok_or_else(|| LlmError::new(LlmErrorKind::InvalidRequest, "the call has no recording"))?;
        let mut request = TranscriptionRequest::new(audio, options.file_name);
        request.model.clone_from(&carrier.model);
        request.language = options.language;
        request.prompt = options.prompt;
        request.segments = options.segments;
        request.extra_body = extra;
        request.extra_headers.clone_from(&carrier.extra_headers);
        Ok(request)
    }

    fn pack(item: TranscriptionItem) -> ReplyDelta {
        match item {
            TranscriptionItem::Usage(usage) => ReplyDelta::Usage(usage),
            TranscriptionItem::Text(text) => carrier::entry(TEXT, text.into()),
            TranscriptionItem::Segment(segment) => {
                carrier::entry(SEGMENTS, json!([segment.start, segment.end, segment.text]))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use agcore_wire::Fold;

    use super::*;

    #[test]
    fn a_call_stands_for_a_request() {
        let request = TranscriptionRequest::new(vec![0, 255, 10], "hello.mp3")
            .with_model("m")
            .with_language("en")
            .with_prompt("names")
            .with_segments(true)
            .with_extra_body("temperature", 0)
            .with_extra_header("x-a", "1");
        assert_eq!(Transcribe::unpack(&carry(&request).unwrap()).unwrap(), request);
        assert!(Transcribe::unpack(&ChatRequest::new([Message::user("Hi")])).is_err());
    }

    #[test]
    fn transcripts_survive_exactly() {
        let segment = |start, end, text: &str| TranscriptSegment {
            start,
            end,
            text: text.to_owned(),
        };
        let sent = [segment(0.0, 1.1, "a"), segment(0.0, 1.1, "a")];
        let mut fold = Fold::new();
        fold.push_owned(Transcribe::pack(TranscriptionItem::Text("a a".to_owned())));
        for segment in sent.clone() {
            fold.push_owned(Transcribe::pack(TranscriptionItem::Segment(segment)));
        }
        let (text, segments) = transcript(&fold.response()).unwrap();
        assert_eq!((text.as_str(), &segments[..]), ("a a", &sent[..]));
        assert!(transcript(&ChatResponse::default()).is_err());
    }
}
