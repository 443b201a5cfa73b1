//! Embedding calls in the form of [`Call`]s, so that they pass through the same layers as chats.
//!
//! The texts are the user messages of the request. The vectors come back in one member of the response, as text with eight
//! hexadecimal digits for the bits of each number, because a tree of JSON numbers would take ten times the memory.

use std::fmt::Write;

use agcore_chat::{ChatRequest, ChatResponse, Extra, Message};
use serde_json::Value;

use crate::provider::{Call, CallOperation};
use agcore_wire::{LlmError, LlmErrorKind, Place, ReplyDelta, operation::EmbedRequest};

/// The member of the response that contains the vectors.
const EMBEDDINGS: &str = "embeddings";

/// The member of the request that contains the length of the vectors.
const DIMENSIONS: &str = "dimensions";

/// The number of digits for a number.
const DIGITS: usize = 8;

/// Creates a call for the embeddings of these texts.
pub(super) fn new(texts: &[&str], dimensions: Option<u32>, extra_body: &Extra) -> Call {
    let mut request = ChatRequest::new(texts.iter().map(|text| Message::user(*text)));
    request.extra_body = extra_body.clone();
    if let Some(dimensions) = dimensions {
        request.extra_body.insert(DIMENSIONS, dimensions);
    }
    let mut call = Call::new(request);
    call.operation = CallOperation::Embeddings;
    call
}

/// Returns the request for embeddings that a call stands for.
///
/// # Errors
/// Returns `InvalidRequest` if the call is of another form, because it is a chat.
pub(super) fn request(request: &ChatRequest) -> Result<EmbedRequest, LlmError> {
    let text = |message: &Message| match message {
        Message::User(message) => Ok(message.content.text().into_owned()),
        _ => Err(invalid(
            "an embedding model only takes user messages, one for each text",
        )),
    };
    let texts: Result<Vec<String>, LlmError> = request.messages.iter().map(|message| text(message)).collect();
    let mut embed = EmbedRequest::new(texts?).with_model(request.model.as_str());
    for (name, value) in request.extra_body.iter() {
        match value.as_u64().and_then(|number| u32::try_from(number).ok()) {
            Some(dimensions) if name == DIMENSIONS => embed.dimensions = Some(dimensions),
            _ => {
                embed.extra_body.insert(name.clone(), value.clone());
            }
        }
    }
    embed.extra_headers.clone_from(&request.extra_headers);
    Ok(embed)
}

/// Returns the delta that contains the vectors.
pub(super) fn delta(vectors: &[Vec<f32>]) -> ReplyDelta {
    let encoded = vectors.iter().map(|vector| {
        let mut text = String::with_capacity(vector.len() * DIGITS);
        for number in vector {
            // Writing to a string cannot fail.
            let _ = write!(text, "{:08x}", number.to_bits());
        }
        Value::from(text)
    });
    ReplyDelta::Member {
        place: Place::Response,
        name: EMBEDDINGS.into(),
        value: encoded.collect(),
    }
}

/// Returns the vectors in a response. Numbers are accepted, too, in replies that are written by hand.
pub(super) fn vectors(response: &ChatResponse) -> Result<Vec<Vec<f32>>, LlmError> {
    let vectors = response.extra.get(EMBEDDINGS).and_then(Value::as_array);
    let vectors = vectors.and_then(|vectors| vectors.iter().map(vector).collect());
    vectors.ok_or_else(|| LlmError::new(LlmErrorKind::Malformed, "the reply contains no embeddings"))
}

fn vector(encoded: &Value) -> Option<Vec<f32>> {
    match encoded {
        Value::String(text) if text.is_ascii() && text.len() % DIGITS == 0 => (0..text.len())
            .step_by(DIGITS)
            .map(|at| u32::from_str_radix(&text[at..at + DIGITS], 16).ok().map(f32::from_bits))
            .collect(),
        Value::Array(numbers) => numbers.iter().map(|number| Some(number.as_f64()? as f32)).collect(),
        _ => None,
    }
}

/// Returns the error of a reply with too few or too many vectors.
pub(super) fn wrong_number(found: usize, count: usize) -> LlmError {
    let plural = |count: usize| if count == 1 { "" } else { "s" };
    let message = format!(
        "the server returned {found} vector{} for {count} text{}",
        plural(found),
        plural(count)
    );
    LlmError::new(LlmErrorKind::Malformed, message)
}

fn invalid(message: &'static str) -> LlmError {
    LlmError::new(LlmErrorKind::InvalidRequest, message)
}

#[cfg(test)]
mod tests {
    use agcore_wire::Fold;
    use serde_json::json;

    use super::*;

    #[test]
    fn vectors_survive_exactly() {
        let sent = vec![vec![0.1, -1.5, f32::MIN_POSITIVE], vec![], vec![f32::MAX]];
        let mut fold = Fold::new();
        fold.push_owned(delta(&sent));
        assert_eq!(vectors(&fold.response()).unwrap(), sent);
    }

    #[test]
    fn reads_numbers_and_rejects_anything_else() {
        let response = |value: Value| {
            let mut response = ChatResponse::default();
            response.extra.insert(EMBEDDINGS, value);
            response
        };
        assert_eq!(vectors(&response(json!([[1, 0.5]]))).unwrap(), [[1.0, 0.5]]);
        for other in [
            json!(["3f"]),
            json!(["x0000000"]),
            json!([["a"]]),
            json!("00000000"),
            json!([null]),
        ] {
            assert!(vectors(&response(other)).is_err());
        }
        assert!(vectors(&ChatResponse::default()).is_err());
    }

    #[test]
    fn a_call_stands_for_a_request() {
        let mut extra = Extra::new();
        extra.insert("encoding_format", "float");
        let call = new(&["a", "b"], Some(8), &extra);
        let expected = EmbedRequest::new(["a", "b"])
            .with_dimensions(8)
            .with_extra_body("encoding_format", "float");
        assert_eq!(request(&call.request).unwrap(), expected);
        let chat = ChatRequest::new([Message::system("Be brief.")]);
        assert_eq!(request(&chat).unwrap_err().kind(), LlmErrorKind::InvalidRequest);
    }
}
