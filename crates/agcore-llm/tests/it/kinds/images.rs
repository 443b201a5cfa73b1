//! Models that make images.

use std::sync::Arc;

use agcore_chat::Usage;
use agcore_llm::{
    ImageModel, LlmErrorKind, ModelImages, OperationProvider,
    cassette::{CassetteBuffer, RecordingProvider, ReplayProvider},
    layer::retry::{Retry, RetryPolicy},
    wire::{
        ResponseShape,
        media::ImageWire,
        operation::{GenerateImages, ImageData, ImageRequest},
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
    ("openai", "/v1/images/generations"),
    ("dashscope", "/api/v1/services/aigc/multimodal-generation/generation"),
];

fn provider(server: &MockServer, form: &str) -> OperationProvider<GenerateImages> {
    let shape = ResponseShape::named(form).unwrap();
    support::provider(&url(server, form), ImageWire::new(shape).unwrap())
}

fn request() -> ImageRequest {
    ImageRequest::new("a lighthouse").with_count(2)
}

#[tokio::test]
async fn images_come_as_bytes_or_urls() {
    let server = server().await;
    let model = ModelImages::from_provider(provider(&server, "openai"));
    let made = model.generate_images(request()).await.unwrap();
    let [ImageData::Bytes(one), ImageData::Bytes(other)] = &made.images[..] else {
        panic!("{made:?}")
    };
    assert!(
        one.starts_with(b"\x89PNG") && one == other,
        "equal images are not joined"
    );
    assert!(made.usage.as_ref().and_then(Usage::total) > Some(200));
    let by_url = model
        .generate_images(request().with_extra_body("response_format", "url"))
        .await
        .unwrap();
    let native = ModelImages::from_provider(provider(&server, "dashscope"));
    let native = native.generate_images(request().with_size("1328x1328")).await.unwrap();
    assert_eq!(native.images, by_url.images);
    assert!(matches!(&native.images[1], ImageData::Url(url) if url.starts_with("https://images.example/1.png")));
    let sent = server.requests();
    assert_eq!((sent[0].path(), sent[2].path()), (PATHS[0].1, PATHS[1].1));
    assert_eq!(sent[2].json()["parameters"], json!({"n": 2, "size": "1328*1328"}));
}

#[tokio::test]
async fn each_fault_is_an_error_of_its_kind() {
    for (form, path) in PATHS {
        for (name, fault, expected) in faults() {
            let server = faulty(path, move |_, reply| fault(reply)).await;
            let model = ModelImages::from_provider(provider(&server, form)).with_deadline(deadline(name));
            check_failure(name, &model.generate_images(request()).await.unwrap_err(), expected);
        }
    }
}

#[tokio::test]
async fn what_is_no_image_or_too_large_is_refused() {
    let check = async |image: serde_json::Value, expected: &str| {
        let server = faulty(PATHS[0].1, move |_, _| Reply::json(200, &json!({"data": [image]}))).await;
        let model = ModelImages::from_provider(provider(&server, "openai")).with_max_bytes(4);
        let error = model.generate_images(request()).await.unwrap_err();
        check_failure(expected, &error, LlmErrorKind::Malformed);
        assert!(error.message().contains(expected), "{error}");
    };
    check(
        json!({"b64_json": "aGVsbG8="}),
        "image 0 has 5 bytes, more than the limit of 4",
    )
    .await;
    check(json!({"b64_json": ""}), "image 0 is empty").await;
    check(json!({"url": "file:///etc/passwd"}), "URL of image 0").await;
    check(json!({"revised_prompt": "x"}), "selects no image").await;
}

#[tokio::test]
async fn calls_are_repeated_recorded_and_replayed() {
    let server = faulty(PATHS[0].1, |number, reply| match number {
        0 => Reply::error(ApiError::new(503)),
        _ => reply,
    })
    .await;
    let (buffer, clock) = (CassetteBuffer::new(), Arc::new(ManualClock::jumping()));
    let model = ModelImages::from_provider(provider(&server, "openai"))
        .with_layer(|inner| Retry::new(inner, RetryPolicy::new(), clock.clone(), always(0.5)))
        .with_layer(|inner| RecordingProvider::new(inner, buffer.clone(), clock.clone()));
    let made = model.generate_images(request()).await.unwrap();
    let replayed = ModelImages::from_provider(ReplayProvider::new(buffer.cassette()));
    assert_eq!(replayed.generate_images(request()).await.unwrap().images, made.images);
    assert_eq!(server.requests().len(), 2);
}
