//! [`images`]: images of a single pixel.

use serde_json::{Value, json};

use crate::mock_server::{
    reply::{ApiError, estimate_tokens},
    wire::form::Form,
};

/// A PNG file with a single pixel, as base64 text.
const PIXEL: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/// The most images of a request.
const MAX_IMAGES: u64 = 10;

/// Returns the images that a request asks for, in the format of its API: bytes from OpenAI, unless it asks for URLs, and URLs
/// from DashScope.
pub(super) fn images(form: Form, body: &Value) -> Result<Value, ApiError> {
    let (prompt, count) = match form {
        Form::OpenAi => (&body["prompt"], &body["n"]),
        Form::DashScope => (
            &body["input"]["messages"][0]["content"][0]["text"],
            &body["parameters"]["n"],
        ),
    };
    let reject = |param: &str, message: &str| Err(ApiError::new(400).with_param(param).with_message(message));
    let Some(prompt) = prompt.as_str().filter(|prompt| !prompt.is_empty()) else {
        return reject("prompt", "'prompt' must be a non-empty string");
    };
    let count = match count {
        Value::Null => 1,
        count => match count.as_u64() {
            Some(count @ 1..=MAX_IMAGES) => count,
            _ => return reject("n", "'n' must be an integer from 1 to 10"),
        },
    };
    let url = |number: u64| format!("https://images.example/{number}.png?signature=mock");
    let tokens = estimate_tokens(prompt);
    Ok(match form {
        Form::OpenAi => {
            let image = |number: u64| match body["response_format"].as_str() {
                Some("url") => json!({ "url": url(number) }),
                _ => json!({ "b64_json": PIXEL }),
            };
            let data: Vec<Value> = (0..count).map(image).collect();
            let usage = json!({ "input_tokens": tokens, "output_tokens": 272, "total_tokens": tokens + 272 });
            json!({ "created": 1_704_067_200, "data": data, "usage": usage })
        }
        Form::DashScope => {
            let content: Vec<Value> = (0..count).map(|number| json!({ "image": url(number) })).collect();
            let choice = json!({ "finish_reason": "stop", "message": { "role": "assistant", "content": content } });
            let usage = json!({ "width": 1, "height": 1, "image_count": count });
            json!({ "output": { "choices": [choice] }, "usage": usage, "request_id": "mock" })
        }
    })
}
