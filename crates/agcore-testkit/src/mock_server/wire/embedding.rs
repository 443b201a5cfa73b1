//! [`embed`]: deterministic embeddings computed from the words of a text.

use serde_json::{Value, json};

use crate::mock_server::{
    reply::{ApiError, estimate_tokens},
    wire::api::Api,
};

/// The length of vectors if the request does not specify one.
const DEFAULT_DIMENSIONS: usize = 64;

/// The longest vectors that a request may ask for.
const MAX_DIMENSIONS: usize = 4096;

/// Computes the vectors that a request asks for, in the format of its API.
pub(crate) fn embeddings(api: Api, body: &Value) -> Result<Value, ApiError> {
    let reject = |param: &str, message: &str| Err(ApiError::new(400).with_param(param).with_message(message));
    let input = match api {
        Api::Gemini => gemini_input(body),
        _ => body["input"].clone(),
    };
    let Some(texts) = inputs(&input) else {
        return reject(
            "input",
            "'input' must be a non-empty string or a non-empty array of non-empty strings",
        );
    };
    if !matches!(body["encoding_format"].as_str(), None | Some("float")) {
        return reject(
            "encoding_format",
            "this server supports only the encoding format 'float'",
        );
    }
    let requested = match api {
        Api::Gemini => &body["requests"][0]["outputDimensionality"],
        _ => &body["dimensions"],
    };
    let dimensions = match requested {
        Value::Null => DEFAULT_DIMENSIONS,
        requested => match requested.as_u64().and_then(|number| usize::try_from(number).ok()) {
            Some(dimensions @ 1..=MAX_DIMENSIONS) => dimensions,
            _ => return reject("dimensions", "'dimensions' must be an integer from 1 to 4096"),
        },
    };
    let vectors: Vec<Vec<f32>> = texts.iter().map(|text| embed(text, dimensions)).collect();
    let tokens: u64 = texts.iter().map(|text| estimate_tokens(text)).sum();
    Ok(response(api, &body["model"], &vectors, tokens))
}

fn response(api: Api, model: &Value, vectors: &[Vec<f32>], tokens: u64) -> Value {
    if api == Api::Ollama {
        return json!({ "model": model, "embeddings": vectors, "prompt_eval_count": tokens });
    }
    if api == Api::Gemini {
        let embeddings: Vec<Value> = vectors.iter().map(|vector| json!({ "values": vector })).collect();
        return json!({ "embeddings": embeddings, "usageMetadata": { "promptTokenCount": tokens } });
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

/// Returns the texts of a body for Gemini, which has a request for each of them.
fn gemini_input(body: &Value) -> Value {
    let text = |request: &Value| request["content"]["parts"][0]["text"].clone();
    let requests = body["requests"].as_array().map(Vec::as_slice).unwrap_or_default();
    requests.iter().map(text).collect()
}

fn inputs(input: &Value) -> Option<Vec<&str>> {
    let texts: Vec<&str> = match input {
        Value::Array(items) => items.iter().map(Value::as_str).collect::<Option<_>>()?,
        one => vec![one.as_str()?],
    };
    (!texts.is_empty() && texts.iter().all(|text| !text.is_empty())).then_some(texts)
}

/// Computes a deterministic embedding: a unit vector in which each word, lowercased, increments the component that its
/// hash selects. Texts that share words are close to each other. A text without words yields the zero vector.
///
/// ```
/// use agcore_testkit::mock_server::embed;
///
/// let dot = |a: &str, b: &str| -> f32 { embed(a, 512).iter().zip(embed(b, 512)).map(|(x, y)| x * y).sum() };
/// assert!(dot("The red fox", "the RED dog") > dot("The red fox", "Blue sea"));
/// ```
pub fn embed(text: &str, dimensions: usize) -> Vec<f32> {
    let mut vector = vec![0.0_f32; dimensions.max(1)];
    let size = u64::try_from(vector.len()).unwrap_or(u64::MAX);
    for word in text
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
    {
        let index = usize::try_from(fnv1a(&word.to_lowercase()) % size).unwrap_or(0);
        vector[index] += 1.0;
    }
    let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
    if length > 0.0 {
        vector.iter_mut().for_each(|x| *x /= length);
    }
    vector
}

/// Computes the Fowler–Noll–Vo hash, which is simple and stable across machines and versions.
fn fnv1a(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}
