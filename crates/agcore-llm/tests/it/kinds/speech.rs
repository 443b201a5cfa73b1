//! Models that make speech.

use std::sync::Arc;

use agcore_llm::{
    LlmErrorKind, ModelSpeech, OperationProvider, SpeechModel,
    cassette::{CassetteBuffer, RecordingProvider, ReplayProvider},
    layer::retry::{MidStream, Retry, RetryPolicy},
    wire::{
        ResponseShape,
        media::SpeechWire,
        operation::{Speak, SpeechRequest},
    },
};
use agcore_testkit::{
    clock::ManualClock,
    mock_server::{ApiError, Ending, Fault, Gate, MockServer, Point, Reply},
};

use super::support::{self, check_failure, deadline, faults, faulty, server, url};
use crate::support::always;

const PATHS: [(&str, &str); 2] = [
    ("openai", "/v1/audio/speech"),
    ("dashscope", "/api/v1/services/aigc/multimodal-generation/generation"),
];

fn provider(server: &MockServer, form: &str) -> OperationProvider<Speak> {
    let shape = ResponseShape::named(form).unwrap();
    support::provider(&url(server, form), SpeechWire::new(shape).unwrap())
}

fn model(server: &MockServer, form: &str) -> ModelSpeech {
    ModelSpeech::from_provider(provider(server, form))
}

fn request() -> SpeechRequest {
    SpeechRequest::new("Good morning to you", "alloy")
}

/// The bytes of the WAV file that the server makes for four words.
const SIZE: usize = 44 + 4 * 1600;

#[tokio::test]
async fn speech_is_whole_and_the_same_in_both_forms() {
    let server = server().await;
    let speech = model(&server, "openai")
        .speak(request().with_output_format("wav"))
        .collect()
        .await
        .unwrap();
    assert!(
        speech.audio.starts_with(b"RIFF") && speech.audio.len() == SIZE,
        "{speech:?}"
    );
    let native = model(&server, "dashscope").speak(request()).collect().await.unwrap();
    assert_eq!(native.audio, speech.audio);
    assert_eq!(native.usage.unwrap().completion_tokens, Some(5));
    assert!(native.url.unwrap().starts_with("https://sound.example/"));
    let sent = server.requests();
    assert_eq!((sent[0].path(), sent[1].path()), (PATHS[0].1, PATHS[1].1));
    assert_eq!(sent[1].header("x-dashscope-sse"), Some("enable"));
}

#[tokio::test]
async fn sound_arrives_while_it_is_made() {
    for (form, path) in PATHS {
        let gate = Gate::new();
        let held = gate.clone();
        let server = faulty(path, move |_, reply| {
            reply.with_fault(Fault::stall(Point::AfterEvents(2), held.clone()))
        })
        .await;
        let mut speech = model(&server, form).speak(request());
        let mut size = 0;
        // The header and the first word arrive although the server holds the rest back.
        while size < 44 + 1600 {
            size += speech.next().await.unwrap().unwrap().len();
        }
        assert_eq!(size, 44 + 1600, "{form}");
        gate.release();
        while let Some(piece) = speech.next().await {
            size += piece.unwrap().len();
        }
        assert_eq!(size, SIZE, "{form}");
        assert!(speech.next().await.is_none());
    }
}

#[tokio::test]
async fn each_fault_is_an_error_of_its_kind() {
    for (form, path) in PATHS {
        for (name, fault, expected) in faults() {
            let server = faulty(path, move |_, reply| fault(reply)).await;
            let model = model(&server, form).with_deadline(deadline(name));
            check_failure(name, &model.speak(request()).collect().await.unwrap_err(), expected);
        }
    }
    let server = faulty(PATHS[1].1, |_, reply| {
        reply.with_fault(Fault::cut(Point::AfterEvents(3), Ending::Clean))
    })
    .await;
    let error = model(&server, "dashscope")
        .speak(request())
        .collect()
        .await
        .unwrap_err();
    check_failure("cut", &error, LlmErrorKind::Truncated);
}

#[tokio::test]
async fn limits_apply_while_the_sound_arrives() {
    let server = server().await;
    for (form, _) in PATHS {
        let mut speech = model(&server, form).with_max_bytes(2000).speak(request());
        let mut size = 0;
        let error = loop {
            match speech.next().await.unwrap() {
                Ok(piece) => size += piece.len(),
                Err(error) => break error,
            }
        };
        assert!(
            size <= 2000 && error.message().contains("the limit of 2000 bytes"),
            "{form}: {error}"
        );
        assert!(speech.next().await.is_none());
    }
    let error = model(&server, "openai")
        .speak(SpeechRequest::new("", "alloy"))
        .collect()
        .await
        .unwrap_err();
    assert_eq!(error.kind(), LlmErrorKind::InvalidRequest);
    assert_eq!(server.requests().len(), 2);
}

#[tokio::test]
async fn only_a_speech_of_which_nothing_was_heard_is_repeated() {
    let clock = Arc::new(ManualClock::jumping());
    for (policy, expected) in [
        (RetryPolicy::new(), "closed the connection"),
        (
            RetryPolicy::new().with_mid_stream(MidStream::Restart),
            "the speech started over",
        ),
    ] {
        let server = faulty(PATHS[0].1, |number, reply| match number {
            0 => Reply::error(ApiError::new(503)),
            1 => reply.with_fault(Fault::cut(Point::AfterEvents(2), Ending::Abrupt)),
            _ => reply,
        })
        .await;
        let model = model(&server, "openai").with_layer(|inner| Retry::new(inner, policy, clock.clone(), always(0.5)));
        let error = model.speak(request()).collect().await.unwrap_err();
        assert_eq!(error.kind(), LlmErrorKind::Truncated);
        assert!(error.message().contains(expected), "{error}");
        assert_eq!(model.speak(request()).collect().await.unwrap().audio.len(), SIZE);
    }
}

#[tokio::test]
async fn calls_are_recorded_and_replayed() {
    let (server, buffer) = (server().await, CassetteBuffer::new());
    let model = model(&server, "dashscope")
        .with_layer(|inner| RecordingProvider::new(inner, buffer.clone(), Arc::new(ManualClock::new())));
    let recorded = model.speak(request()).collect().await.unwrap();
    let replayed = ModelSpeech::from_provider(ReplayProvider::new(buffer.cassette()));
    assert_eq!(replayed.speak(request()).collect().await.unwrap().audio, recorded.audio);
}
