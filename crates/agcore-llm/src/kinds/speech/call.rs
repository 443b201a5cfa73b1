//! Requests and sound in the form of chats. The text is the user message.

use agcore_chat::{ChatRequest, Message};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::super::carrier;
use crate::{provider::CallOperation, wire_provider::CarriedOperation};
use agcore_wire::{
    LlmError, Place, ReplyDelta,
    operation::{Speak, SpeechItem, SpeechRequest},
};

/// The member of the message that contains the sound. A member of the message is a part of the answer, so that layers do not
/// repeat a call after some of the sound has arrived.
const SPEECH: &str = "speech";

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Options {
    voice: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    instructions: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_format: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    speed: Option<f64>,
}

/// Returns the chat request that carries a request.
pub(super) fn carry(request: &SpeechRequest) -> Result<ChatRequest, LlmError> {
    let options = Options {
        voice: request.voice.clone(),
        instructions: request.instructions.clone(),
        output_format: request.output_format.clone(),
        speed: request.speed,
    };
    let messages = vec![Message::user(request.text.as_str())];
    let mut carrier = carrier::request(messages, &options, &request.extra_body)?;
    carrier.model.clone_from(&request.model);
    carrier.extra_headers.clone_from(&request.extra_headers);
    Ok(carrier)
}

/// Returns the item that a delta carries, if it is one of speech.
pub(super) fn item(delta: ReplyDelta) -> Option<SpeechItem> {
    match delta {
        ReplyDelta::Usage(usage) => Some(SpeechItem::Usage(usage)),
        ReplyDelta::Member { name, value, .. } if &*name == SPEECH => {
            let entry = value.get(0)?;
            if let Some(url) = entry.get("url").and_then(Value::as_str) {
                return Some(SpeechItem::Url(url.to_owned()));
            }
            carrier::decode_bytes(entry.as_str()?).map(SpeechItem::Audio)
        }
        _ => None,
    }
}

impl CarriedOperation for Speak {
    const CALL: CallOperation = CallOperation::Speech;

    fn unpack(carrier: &ChatRequest) -> Result<SpeechRequest, LlmError> {
        let (options, extra): (Options, _) = carrier::options(carrier, "speech")?;
        let mut request = SpeechRequest::new(carrier::texts(carrier).collect::<String>(), options.voice);
        request.model.clone_from(&carrier.model);
        request.instructions = options.instructions;
        request.output_format = options.output_format;
        request.speed = options.speed;
        request.extra_body = extra;
        request.extra_headers.clone_from(&carrier.extra_headers);
        Ok(request)
    }

    fn pack(item: SpeechItem) -> ReplyDelta {
        let entry = match item {
            SpeechItem::Usage(usage) => return ReplyDelta::Usage(usage),
            SpeechItem::Audio(bytes) => Value::from(carrier::encode_bytes(&bytes)),
            SpeechItem::Url(url) => json!({"url": url}),
        };
        ReplyDelta::Member {
            place: Place::Message(0),
            name: SPEECH.into(),
            value: Value::Array(vec![entry]),
        }
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;

    #[test]
    fn a_call_stands_for_a_request() {
        let request = SpeechRequest::new("Good morning.", "alloy")
            .with_model("m")
            .with_instructions("whisper")
            .with_output_format("wav")
            .with_speed(1.25)
            .with_extra_body("sample_rate", 24_000)
            .with_extra_header("x-a", "1");
        assert_eq!(Speak::unpack(&carry(&request).unwrap()).unwrap(), request);
        assert!(Speak::unpack(&ChatRequest::new([Message::user("Hi")])).is_err());
    }

    #[test]
    fn items_survive_exactly() {
        for sent in [
            SpeechItem::Audio(Bytes::from_static(&[0, 255, 10])),
            SpeechItem::Url("https://example.com/a.wav".to_owned()),
            SpeechItem::Usage(Box::default()),
        ] {
            assert_eq!(item(Speak::pack(sent.clone())), Some(sent));
        }
        assert_eq!(item(carrier::entry("other", json!("aGk="))), None);
    }
}
