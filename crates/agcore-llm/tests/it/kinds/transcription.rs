//! Models that make texts from speech.

use std::sync::Arc;

use agcore_chat::Usage;
use agcore_llm::{
    LlmErrorKind, ModelTranscriber, OperationProvider, Transcriber,
    cassette::{CassetteBuffer, RecordingProvider, ReplayProvider},
    layer::retry::{Retry, RetryPolicy},
    wire::{
        ResponseShape,
        media::TranscriptionWire,
        operation::{Transcribe, TranscriptionRequest},
    },
};
use agcore_testkit::{
    clock::ManualClock,
    mock_server::{ApiError, MockServer, Reply},
};
use serde_json::json;

use super::support::{self, check_failure, deadline, faults, faulty, server, url};
use crate::support::always;

const PATHS: [(&str, &str); 2] = [
    ("openai", "/v1/audio/transcriptions"),
    ("dashscope", "/api/v1/services/aigc/multimodal-generation/generation"),
];

fn provider(server: &MockServer, form: &str) -> OperationProvider<Transcribe> {
    let shape = ResponseShape::named(form).unwrap();
    support::provider(&url(server, form), TranscriptionWire::new(shape).unwrap())
}

fn request() -> TranscriptionRequest {
    // Two seconds, with bytes that look like the end of a form.
    let mut audio = b"RIFF\r\n--agcore-form-0000000000000000--\r\n".to_vec();
    audio.resize(32_000, 0);
    TranscriptionRequest::new(audio, "hello.wav")
}

#[tokio::test]
async fn recordings_become_text_and_segments() {
    let server = server().await;
    let model = ModelTranscriber::from_provider(provider(&server, "openai"));
    let plain = model.transcribe(request()).await.unwrap();
    assert_eq!(
        (plain.text.as_str(), plain.segments.len()),
        ("Recording of 2.0 seconds.", 0)
    );
    assert_eq!(plain.usage.as_ref().and_then(Usage::total), Some(20));
    let timed = model.transcribe(request().with_segments(true)).await.unwrap();
    let times: Vec<(f64, f64)> = timed
        .segments
        .iter()
        .map(|segment| (segment.start, segment.end))
        .collect();
    assert_eq!(times, [(0.0, 1.0), (1.0, 2.0)]);
    assert_eq!(timed.usage.unwrap().extra.get("seconds"), Some(&json!(2.0)));
    let native = ModelTranscriber::from_provider(provider(&server, "dashscope"));
    assert_eq!(
        native.transcribe(request().with_language("en")).await.unwrap().text,
        plain.text
    );
    let sent = server.requests();
    assert_eq!((sent[0].path(), sent[2].path()), (PATHS[0].1, PATHS[1].1));
}

#[tokio::test]
async fn each_fault_is_an_error_of_its_kind() {
    for (form, path) in PATHS {
        for (name, fault, expected) in faults() {
            let server = faulty(path, move |_, reply| fault(reply)).await;
            let model = ModelTranscriber::from_provider(provider(&server, form)).with_deadline(deadline(name));
            check_failure(name, &model.transcribe(request()).await.unwrap_err(), expected);
        }
    }
}

#[tokio::test]
async fn invalid_requests_and_replies_are_refused() {
    let server = server().await;
    let model = ModelTranscriber::from_provider(provider(&server, "openai")).with_max_bytes(40_000);
    for (invalid, expected) in [
        (TranscriptionRequest::new("", "a.wav"), "empty"),
        (
            TranscriptionRequest::new(vec![0; 40_001], "a.wav"),
            "the limit of 40000",
        ),
        (TranscriptionRequest::new("x", "a"), "no extension"),
        (request().with_extra_body("file", "x"), "`file`"),
    ] {
        let error = model.transcribe(invalid).await.unwrap_err();
        assert_eq!(error.kind(), LlmErrorKind::InvalidRequest);
        assert!(error.message().contains(expected), "{error}");
    }
    assert!(server.requests().is_empty());
    let segments = json!([{"start": 2, "end": 1, "text": "x"}]);
    let backwards = faulty(PATHS[0].1, move |_, _| {
        Reply::json(200, &json!({"text": "x", "segments": segments}))
    })
    .await;
    let model = ModelTranscriber::from_provider(provider(&backwards, "openai"));
    let error = model.transcribe(request()).await.unwrap_err();
    check_failure("backwards", &error, LlmErrorKind::Malformed);
}

#[tokio::test]
async fn calls_are_repeated_recorded_and_replayed() {
    let server = faulty(PATHS[0].1, |number, reply| match number {
        0 => Reply::error(ApiError::new(503)),
        _ => reply,
    })
    .await;
    let (buffer, clock) = (CassetteBuffer::new(), Arc::new(ManualClock::jumping()));
    let model = ModelTranscriber::from_provider(provider(&server, "openai"))
        .with_layer(|inner| Retry::new(inner, RetryPolicy::new(), clock.clone(), always(0.5)))
        .with_layer(|inner| RecordingProvider::new(inner, buffer.clone(), clock.clone()));
    let heard = model.transcribe(request().with_segments(true)).await.unwrap();
    let replayed = ModelTranscriber::from_provider(ReplayProvider::new(buffer.cassette()));
    let again = replayed.transcribe(request().with_segments(true)).await.unwrap();
    assert_eq!((again.text, again.segments), (heard.text, heard.segments));
    let sent = server.requests();
    assert_eq!(sent.len(), 2);
    assert_eq!(sent[0].body(), sent[1].body(), "the same form is sent again");
}
