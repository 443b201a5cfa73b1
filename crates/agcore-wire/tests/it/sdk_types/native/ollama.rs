//! The native API of Ollama.

use std::time::Duration;

use agcore_wire::ollama::{KeepAlive, Ollama};
use serde_json::json;

use crate::sdk_types::{Sample, subject::Subject};

/// Returns the API with default settings, and with each form of its settings.
pub(super) fn subjects() -> Vec<Subject> {
    let subject = |wire| Subject {
        name: "ollama-native".to_owned(),
        cases: "ollama",
        dialect: None,
        samples: SAMPLES,
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
