//! Ollama's own API.

use std::time::Duration;

use agcore_llm::wire::ollama::{KeepAlive, Ollama};
use serde_json::json;

use super::super::{Sample, subject::Subject};

/// As it comes, and with its settings in each form.
pub(super) fn subjects() -> Vec<Subject> {
    let subject = |wire| Subject {
        name: "ollama-native".to_owned(),
        cases: "ollama",
        dialect: None,
        own: SAMPLES,
        wire: Box::new(wire),
    };
    vec![
        subject(Ollama::new()),
        subject(
            Ollama::new()
                .with_num_ctx(8192)
                .with_keep_alive(Duration::from_secs(90)),
        ),
        subject(Ollama::new().with_keep_alive(KeepAlive::Forever)),
    ]
}

const SAMPLES: &[Sample] = &[Sample {
    name: "options of the server",
    set: |request| {
        request
            .extra_body
            .insert("options", json!({"top_k": 40, "num_ctx": 4096}));
    },
}];
