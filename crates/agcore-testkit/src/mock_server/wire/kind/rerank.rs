//! [`rerank`]: the relevance of documents, computed from the words that they share with the query.

use serde_json::{Value, json};

use crate::mock_server::{
    reply::{ApiError, estimate_tokens},
    wire::{embedding::embed, form::Form, json::items},
};

/// The length of the vectors that are compared.
const DIMENSIONS: usize = 512;

/// Computes the scores that a request asks for, in the format of its API.
pub(super) fn rerank(form: Form, body: &Value) -> Result<Value, ApiError> {
    let (input, parameters) = match form {
        Form::OpenAi => (body, body),
        Form::DashScope => (&body["input"], &body["parameters"]),
    };
    let reject = |param: &str, message: &str| Err(ApiError::new(400).with_param(param).with_message(message));
    let Some(query) = input["query"].as_str().filter(|query| !query.is_empty()) else {
        return reject("query", "'query' must be a non-empty string");
    };
    let documents: Option<Vec<&str>> = items(&input["documents"]).iter().map(Value::as_str).collect();
    let Some(documents) = documents.filter(|documents| !documents.is_empty()) else {
        return reject("documents", "'documents' must be a non-empty array of strings");
    };
    let top_n = match &parameters["top_n"] {
        Value::Null => documents.len(),
        top_n => match top_n.as_u64().and_then(|top_n| usize::try_from(top_n).ok()) {
            Some(top_n) if top_n > 0 => top_n,
            _ => return reject("top_n", "'top_n' must be a positive integer"),
        },
    };
    let of_query = embed(query, DIMENSIONS);
    let score = |text: &&str| -> f32 { of_query.iter().zip(embed(text, DIMENSIONS)).map(|(x, y)| x * y).sum() };
    let mut scores: Vec<(usize, f32)> = documents.iter().map(score).enumerate().collect();
    scores.sort_by(|one, other| other.1.total_cmp(&one.1));
    scores.truncate(top_n);
    let result = |(index, score): &(usize, f32)| json!({ "index": index, "relevance_score": score });
    let results: Vec<Value> = scores.iter().map(result).collect();
    let tokens: u64 = documents.iter().map(|text| estimate_tokens(text)).sum();
    let usage = json!({ "total_tokens": tokens + estimate_tokens(query) });
    Ok(match form {
        Form::OpenAi => json!({ "model": body["model"], "results": results, "usage": usage }),
        Form::DashScope => json!({ "output": { "results": results }, "usage": usage, "request_id": "mock" }),
    })
}
