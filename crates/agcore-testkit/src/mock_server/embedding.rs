//! Embeddings computed from the words of a text.

use serde_json::{Value, json};

use super::api::Api;
use super::api_error::ApiError;
use super::usage::tokens_of;

/// The length of vectors when the request names none.
const DIMENSIONS: usize = 64;

/// The most that a request may ask for.
const MOST: usize = 4096;

/// The vectors that a request asks for, in the shape of its API.
pub(crate) fn embeddings(api: Api, body: &Value) -> Result<Value, ApiError> {
    let refuse = |param: &str, message: &str| Err(ApiError::new(400).with_param(param).with_message(message));
    let Some(texts) = inputs(&body["input"]) else {
        return refuse(
            "input",
            "'input' must be a non-empty string or a non-empty array of them",
        );
    };
    if !matches!(body["encoding_format"].as_str(), None | Some("float")) {
        return refuse("encoding_format", "this server writes vectors as floats only");
    }
    let dimensions = match &body["dimensions"] {
        Value::Null => DIMENSIONS,
        asked => match asked.as_u64().and_then(|asked| usize::try_from(asked).ok()) {
            Some(asked @ 1..=MOST) => asked,
            _ => return refuse("dimensions", "'dimensions' must be a number from 1 to 4096"),
        },
    };
    let vectors: Vec<Vec<f32>> = texts.iter().map(|text| embed(text, dimensions)).collect();
    let tokens: u64 = texts.iter().map(|text| tokens_of(text)).sum();
    Ok(written(api, &body["model"], &vectors, tokens))
}

fn written(api: Api, model: &Value, vectors: &[Vec<f32>], tokens: u64) -> Value {
    if api == Api::Ollama {
        return json!({ "model": model, "embeddings": vectors, "prompt_eval_count": tokens });
    }
    let data: Vec<Value> = vectors
        .iter()
        .enumerate()
        .map(|(index, vector)| json!({ "object": "embedding", "index": index, "embedding": vector }))
        .collect();
    json!({
        "object": "list", "data": data, "model": model,
        "usage": { "prompt_tokens": tokens, "total_tokens": tokens },
    })
}

fn inputs(input: &Value) -> Option<Vec<&str>> {
    let texts: Vec<&str> = match input {
        Value::Array(items) => items.iter().map(Value::as_str).collect::<Option<_>>()?,
        one => vec![one.as_str()?],
    };
    (!texts.is_empty() && texts.iter().all(|text| !text.is_empty())).then_some(texts)
}

/// A vector of length 1: each word, without case, adds to the place that its hash names. Texts that share words are
/// near to each other, and one text has one vector on every machine.
pub fn embed(text: &str, dimensions: usize) -> Vec<f32> {
    let mut vector = vec![0.0_f32; dimensions.max(1)];
    let size = u64::try_from(vector.len()).unwrap_or(u64::MAX);
    for word in text
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
    {
        let place = usize::try_from(fnv1a(&word.to_lowercase()) % size).unwrap_or(0);
        vector[place] += 1.0;
    }
    let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
    if length > 0.0 {
        vector.iter_mut().for_each(|x| *x /= length);
    }
    vector
}

/// The hash of Fowler, Noll and Vo: small, and the same everywhere.
fn fnv1a(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}
