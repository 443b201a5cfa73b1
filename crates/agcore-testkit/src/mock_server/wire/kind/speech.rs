//! [`speech`]: sound that is as long as its text.

use base64::{Engine, engine::general_purpose::STANDARD};
use bytes::Bytes;
use serde_json::{Value, json};

use crate::mock_server::{
    reply::{ApiError, Reply, estimate_tokens},
    wire::form::Form,
};

/// The samples for each word.
const SAMPLES: usize = 800;

/// Returns the speech that a request asks for: bytes in a piece for each word from OpenAI; events, or a URL, from DashScope.
pub(super) fn speech(form: Form, body: &Value, is_streamed: bool) -> Result<Reply, ApiError> {
    let (text, voice) = match form {
        Form::OpenAi => (&body["input"], &body["voice"]),
        Form::DashScope => (&body["input"]["text"], &body["input"]["voice"]),
    };
    let reject = |param: &str| {
        let message = format!("'{param}' must be a non-empty string");
        ApiError::new(400).with_param(param).with_message(message)
    };
    let is_set = |text: &&str| !text.is_empty();
    let text = text.as_str().filter(is_set).ok_or_else(|| reject("input"))?;
    voice.as_str().filter(is_set).ok_or_else(|| reject("voice"))?;
    let pieces = pieces(text);
    let tokens = estimate_tokens(text);
    let usage = json!({ "input_tokens": tokens, "output_tokens": pieces.len(), "characters": text.chars().count() });
    let url = "https://sound.example/speech.wav?signature=mock";
    Ok(match (form, is_streamed) {
        (Form::OpenAi, _) => Reply::raw_stream(pieces).with_header("content-type", "audio/wav"),
        (Form::DashScope, false) => {
            let output = json!({ "finish_reason": "stop", "audio": { "data": "", "url": url, "id": "mock" } });
            Reply::json(200, &json!({ "output": output, "usage": usage, "request_id": "mock" }))
        }
        (Form::DashScope, true) => {
            let event = |output: Value, usage: &Value| {
                let event = json!({ "output": output, "usage": usage, "request_id": "mock" });
                format!("event:result\ndata:{event}\n\n")
            };
            let sound = |piece: &Bytes| {
                let data = STANDARD.encode(piece);
                event(
                    json!({ "finish_reason": null, "audio": { "data": data } }),
                    &Value::Null,
                )
            };
            let last = event(
                json!({ "finish_reason": "stop", "audio": { "data": "", "url": url } }),
                &usage,
            );
            Reply::raw_stream(pieces.iter().map(sound).chain([last]).collect::<Vec<_>>())
        }
    })
}

/// Returns a WAV file of silence: its header, and a piece for each word.
fn pieces(text: &str) -> Vec<Bytes> {
    let words = text.split_whitespace().count().max(1);
    let size = u32::try_from(words * SAMPLES * 2).unwrap_or(u32::MAX);
    let mut header = Vec::with_capacity(44);
    header.extend_from_slice(b"RIFF");
    header.extend_from_slice(&size.saturating_add(36).to_le_bytes());
    // Sixteen bytes of format: PCM, one channel, 8000 samples of two bytes in a second.
    header.extend_from_slice(b"WAVEfmt \x10\0\0\0\x01\0\x01\0\x40\x1F\0\0\x80\x3E\0\0\x02\0\x10\0data");
    header.extend_from_slice(&size.to_le_bytes());
    let silence = Bytes::from(vec![0; SAMPLES * 2]);
    [Bytes::from(header)]
        .into_iter()
        .chain(std::iter::repeat_n(silence, words))
        .collect()
}
