//! Models that make videos.

use std::{sync::Arc, time::Duration};

use agcore_chat::Clock;
use agcore_llm::{
    LlmErrorKind, ModelVideos, OperationProvider, PollPolicy, TimeoutStage, VideoFile, VideoModel,
    cassette::{CassetteBuffer, RecordingProvider, ReplayProvider},
    wire::{
        ResponseShape,
        media::VideoWire,
        operation::{MakeVideo, VideoJob, VideoRequest, VideoStatus},
    },
};
use agcore_testkit::{
    clock::ManualClock,
    mock_server::{ApiError, MockOptions, MockServer, RecordedRequest, Reply},
};
use serde_json::json;

use super::support::{self, check_failure, deadline, faults, faulty, server, url};

const PATHS: [(&str, &str); 2] = [
    ("openai", "/v1/videos"),
    ("dashscope", "/api/v1/services/aigc/video-generation/video-synthesis"),
];

fn provider(server: &MockServer, form: &str) -> OperationProvider<MakeVideo> {
    let shape = ResponseShape::named(form).unwrap();
    support::provider(&url(server, form), VideoWire::new(shape).unwrap())
}

fn model(server: &MockServer, form: &str) -> ModelVideos {
    ModelVideos::from_provider(provider(server, form))
}

fn request(prompt: &str) -> VideoRequest {
    VideoRequest::new(prompt).with_size("1280x720").with_seconds(4)
}

#[tokio::test]
async fn a_job_is_created_awaited_and_fetched() {
    let clock = ManualClock::jumping();
    for (form, path) in PATHS {
        let server = server().await;
        let model = model(&server, form);
        let job = model.create_video(request("waves")).await.unwrap();
        assert_eq!(job.status, VideoStatus::Queued, "{form}");
        assert_eq!(
            model.fetch_video(&job).await.unwrap_err().kind(),
            LlmErrorKind::InvalidRequest,
            "not yet"
        );
        let job = model.wait_for_video(job, &PollPolicy::new(), &clock).await.unwrap();
        let file = model.fetch_video(&job).await.unwrap();
        match (form, &file) {
            ("openai", VideoFile::Bytes(bytes)) => assert!(bytes.len() > 4096 && bytes[4..].starts_with(b"ftyp")),
            (_, VideoFile::Url(url)) => assert!(url.starts_with("https://videos.example/1.mp4")),
            other => panic!("{other:?}"),
        }
        assert!(!format!("{job:?} {file:?}").contains("signature"));
        let sent = server.requests();
        assert_eq!(sent[0].path(), path);
        assert_eq!(sent[1].method(), "GET");
    }
    let server = server().await;
    model(&server, "dashscope")
        .create_video(request("waves"))
        .await
        .unwrap();
    let sent = &server.requests()[0];
    assert_eq!(sent.header("x-dashscope-async"), Some("enable"));
    assert_eq!(sent.json()["parameters"], json!({"size": "1280*720", "duration": 4}));
}

#[tokio::test]
async fn failures_and_limits_end_the_wait() {
    let clock = ManualClock::jumping();
    for (form, _) in PATHS {
        let server = server().await;
        let model = model(&server, form);
        let job = model.create_video(request("please fail")).await.unwrap();
        let error = model.wait_for_video(job, &PollPolicy::new(), &clock).await.unwrap_err();
        check_failure(form, &error, LlmErrorKind::Server);
        assert!(
            error.message().contains("The prompt was refused.") && !error.is_retryable(),
            "{error}"
        );

        let job = model.create_video(request("slow waves")).await.unwrap();
        let policy = PollPolicy::new()
            .with_interval(Duration::from_secs(10))
            .with_max_wait(Duration::from_secs(60));
        let (before, start) = (server.requests().len(), clock.monotonic());
        let error = model.wait_for_video(job, &policy, &clock).await.unwrap_err();
        check_failure(form, &error, LlmErrorKind::Timeout(TimeoutStage::Total));
        assert!(error.message().contains("it was cancelled"), "{error}");
        assert_eq!(clock.monotonic() - start, Duration::from_secs(60));
        let sent = server.requests();
        assert_eq!(sent.len() - before, 7, "six polls and the cancellation");
        let last = sent.last().unwrap();
        let expected = match form {
            "openai" => ("DELETE", "/v1/videos/video-slow"),
            _ => ("POST", "/api/v1/tasks/video-slow/cancel"),
        };
        assert_eq!((last.method(), last.path()), expected);
    }
}

#[tokio::test]
async fn some_polls_may_fail() {
    let number = std::sync::atomic::AtomicU32::new(0);
    let polls = move |request: &RecordedRequest| match number.fetch_add(1, std::sync::atomic::Ordering::SeqCst) {
        0 | 1 => Reply::error(ApiError::new(503)),
        _ => request.generated_reply(),
    };
    let options = MockOptions::new().with_route("GET", "/v1/videos/video-done", polls);
    let server = MockServer::start_with(options, |_: &RecordedRequest| Reply::text("ok"))
        .await
        .unwrap();
    let (model, clock) = (model(&server, "openai"), ManualClock::jumping());
    let job = || VideoJob::new("video-done", VideoStatus::Queued);
    let strict = PollPolicy::new().with_max_failures(0);
    let error = model.wait_for_video(job(), &strict, &clock).await.unwrap_err();
    check_failure("strict", &error, LlmErrorKind::Overloaded);
    assert_eq!(
        model
            .wait_for_video(job(), &PollPolicy::new(), &clock)
            .await
            .unwrap()
            .status,
        VideoStatus::Done
    );
}

#[tokio::test]
async fn each_fault_is_an_error_of_its_kind() {
    for (form, path) in PATHS {
        for (name, fault, expected) in faults() {
            let server = faulty(path, move |_, reply| fault(reply)).await;
            let model = model(&server, form).with_deadline(deadline(name));
            check_failure(name, &model.create_video(request("waves")).await.unwrap_err(), expected);
        }
    }
}

#[tokio::test]
async fn hostile_replies_are_refused() {
    let check = async |reply: serde_json::Value, expected: &str| {
        let server = faulty("/v1/videos", move |_, _| Reply::json(200, &reply)).await;
        let error = model(&server, "openai")
            .create_video(request("waves"))
            .await
            .unwrap_err();
        check_failure(expected, &error, LlmErrorKind::Malformed);
        assert!(error.message().contains(expected), "{error}");
    };
    check(json!({"id": "../models", "status": "queued"}), "no id at `/id`").await;
    check(json!({"id": "a", "status": "dreaming"}), "is not known").await;
    check(
        json!({"id": "a", "status": "completed", "url": "file:///etc/passwd"}),
        "not an address on the web",
    )
    .await;
    let server = server().await;
    let model = model(&server, "openai");
    for id in ["", "..", "a/b", "a?b", "a%2fb", &"a".repeat(257)] {
        let error = model.video_status(id).await.unwrap_err();
        assert_eq!(error.kind(), LlmErrorKind::InvalidRequest, "{id}");
    }
    assert!(server.requests().is_empty());
    let missing = model.video_status("unknown").await.unwrap_err();
    check_failure("unknown", &missing, LlmErrorKind::NotFound);
    let large = model
        .with_max_bytes(100)
        .fetch_video(&VideoJob::new("video-done", VideoStatus::Done))
        .await;
    assert!(
        large
            .unwrap_err()
            .message()
            .contains("larger than the limit of 100 bytes")
    );
}

#[tokio::test]
async fn calls_are_recorded_and_replayed() {
    let (server, buffer) = (server().await, CassetteBuffer::new());
    let recorded = ModelVideos::from_provider(provider(&server, "openai"))
        .with_layer(|inner| RecordingProvider::new(inner, buffer.clone(), Arc::new(ManualClock::new())));
    let job = recorded.create_video(request("waves")).await.unwrap();
    let done = recorded.video_status(&job.id).await.unwrap();
    let file = recorded.fetch_video(&done).await.unwrap();
    let replayed = ModelVideos::from_provider(ReplayProvider::new(buffer.cassette()));
    assert_eq!(replayed.video_status(&job.id).await.unwrap(), done);
    assert_eq!(replayed.fetch_video(&done).await.unwrap(), file);
}
