//! Helpers for the tests of models that do not chat.

use std::{sync::Arc, time::Duration};

use agcore_llm::{
    CarriedOperation, LlmError, LlmErrorKind, OperationProvider, ProviderInfo, TimeoutStage,
    transport::http::{HttpOptions, HttpTransport},
    wire::Wire,
};
use agcore_testkit::mock_server::{
    ApiError, Ending, Fault, Hold, MockOptions, MockServer, Point, RecordedRequest, Reply,
};

/// The forms of requests, with the base URLs of their servers.
pub(crate) fn url(server: &MockServer, form: &str) -> String {
    match form {
        "dashscope" => format!("{}/api/v1", server.root_url()),
        _ => server.base_url(),
    }
}

pub(crate) fn provider<O: CarriedOperation>(url: &str, wire: impl Wire<O>) -> OperationProvider<O> {
    let transport = HttpTransport::new(HttpOptions::new(url)).unwrap();
    OperationProvider::new(
        ProviderInfo::new("mock", "mock-model"),
        Arc::new(wire),
        Arc::new(transport),
    )
}

pub(crate) async fn server() -> MockServer {
    MockServer::start(|_: &RecordedRequest| Reply::text("ok"))
        .await
        .unwrap()
}

/// Starts a server that changes its reply to requests of one path.
pub(crate) async fn faulty(path: &str, change: impl Fn(usize, Reply) -> Reply + Send + Sync + 'static) -> MockServer {
    let number = std::sync::atomic::AtomicUsize::new(0);
    let behavior = move |request: &RecordedRequest| {
        let number = number.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        change(number, request.generated_reply())
    };
    let options = MockOptions::new().with_route("POST", path, behavior);
    MockServer::start_with(options, |_: &RecordedRequest| Reply::text("ok"))
        .await
        .unwrap()
}

/// The name of a fault, what it does to a reply, and the kind of error that it leads to.
pub(crate) type FaultCase = (&'static str, fn(Reply) -> Reply, LlmErrorKind);

/// The faults that every kind of model is tested with.
pub(crate) fn faults() -> Vec<FaultCase> {
    vec![
        (
            "refused",
            |_| Reply::error(ApiError::new(401)),
            LlmErrorKind::Authentication,
        ),
        ("limited", |_| Reply::error(ApiError::new(429)), LlmErrorKind::RateLimit),
        ("broken", |_| Reply::error(ApiError::new(500)), LlmErrorKind::Server),
        (
            "stalled",
            |reply| {
                reply.with_fault(Fault::Stall {
                    at: Point::BeforeHeaders,
                    hold: Hold::Forever,
                })
            },
            LlmErrorKind::Timeout(TimeoutStage::Total),
        ),
        (
            "reset",
            |reply| reply.with_fault(Fault::cut(Point::AfterBytes(10), Ending::Reset)),
            LlmErrorKind::Connect,
        ),
        (
            "page",
            |_| Reply::html(200, "<html>Welcome</html>"),
            LlmErrorKind::Malformed,
        ),
        (
            "truncated",
            |_| Reply::raw(200, [("content-type", "application/json")], r#"{"results": [{"index"#),
            LlmErrorKind::Truncated,
        ),
        (
            "other",
            |_| Reply::json(200, &serde_json::json!({"object": "other"})),
            LlmErrorKind::Malformed,
        ),
    ]
}

/// Returns the deadline of a call that meets a fault: short for the one that the server never answers.
pub(crate) fn deadline(fault: &str) -> Duration {
    Duration::from_millis(if fault == "stalled" { 200 } else { 60_000 })
}

/// Checks the error of a call that met a fault: its kind, and that it names who failed.
#[track_caller]
pub(crate) fn check_failure(name: &str, error: &LlmError, expected: LlmErrorKind) {
    assert_eq!(error.kind(), expected, "{name}: {error}");
    assert_eq!(
        (error.provider(), error.model()),
        (Some("mock"), Some("mock-model")),
        "{name}"
    );
}
