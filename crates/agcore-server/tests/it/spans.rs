//! The spans of requests and runs.

use agcore_testkit::{
    scripted::ScriptedProvider,
    spans::{RecordedSpan, SpanLog},
};
use http::Method;

use crate::support::{Running, builder, input, store, texts};

fn rows<'a>(spans: &'a [RecordedSpan], fields: &[&str]) -> Vec<Vec<Option<&'a str>>> {
    spans
        .iter()
        .map(|span| fields.iter().map(|field| span.field(field)).collect())
        .collect()
}

#[tokio::test]
async fn requests_and_runs_have_spans() {
    // With a single listener, tracing asks only the thread that meets a span first, which may be that of another test.
    let _other = SpanLog::new().listen();
    let log = SpanLog::new();
    let guard = log.listen();
    let provider: ScriptedProvider = texts(["Good day."]);
    let server = Running::start(builder(&provider, &store())).await;
    server.run(&input("t", "r1", "Hello")).await;
    server.run(&input("t", "r2", "There is no reply to this.")).await;
    server
        .get("/api/v1/agent/sessions/secret-id")
        .await
        .assert_problem(404, "not_found");
    server.with(Method::GET, "/nowhere", &[], None).await;
    server.get("/health").await;
    server.stop().await;
    drop(guard);

    let requests = log.named("http_request");
    assert!(requests.iter().all(|span| span.closed));
    let session = "/api/v1/agent/sessions/{thread}";
    assert_eq!(
        rows(
            &requests,
            &[
                "otel.name",
                "http.route",
                "http.response.status_code",
                "otel.status_code"
            ]
        ),
        [
            [
                Some("POST /api/v1/agent/run"),
                Some("/api/v1/agent/run"),
                Some("200"),
                None
            ],
            [
                Some("POST /api/v1/agent/run"),
                Some("/api/v1/agent/run"),
                Some("200"),
                None
            ],
            [
                Some("GET /api/v1/agent/sessions/{thread}"),
                Some(session),
                Some("404"),
                None
            ],
            [Some("GET"), None, Some("404"), None],
            [Some("GET /health"), Some("/health"), Some("200"), None],
        ]
    );
    let belongs = [
        "agcore.request.id",
        "agcore.tenant",
        "agcore.user",
        "gen_ai.conversation.id",
        "agcore.run.id",
    ];
    assert_eq!(
        rows(&requests, &belongs)[..3],
        [
            [Some("test"), Some("local"), Some("local"), Some("t"), Some("r1")],
            [Some("test"), Some("local"), Some("local"), Some("t"), Some("r2")],
            [Some("test"), Some("local"), Some("local"), Some("secret-id"), None],
        ]
    );
    assert_eq!(
        rows(
            &log.named("run"),
            &["agcore.run.id", "agcore.run.outcome", "otel.status_code"]
        ),
        [
            [Some("r1"), Some("completed"), None],
            [Some("r2"), Some("failed"), Some("ERROR")],
        ]
    );
    let turns = log.named("invoke_agent");
    let parents: Vec<_> = turns.iter().map(|turn| turn.parent.as_deref()).collect();
    assert_eq!(parents, [Some("run"), Some("run")]);
}
