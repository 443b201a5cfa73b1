//! Spans for a collector: what arrives, and that a chat does not care whether it does.

mod collector;
mod protobuf;

use agcore_testkit::mock_server::{ApiError, DeafServer, MockOptions, RecordedRequest, Reply};

use self::collector::{Collector, Export};
use crate::support::{Agcore, KEY, Ran, Server, runtime};

/// The text whose traces are looked for.
const SAID: &str = "some arithmetic, please";

fn chat(agcore: &Agcore, arguments: &[&str]) -> Ran {
    agcore.run([&["chat", SAID, "--model", "some-model"], arguments].concat())
}

fn telling(server: &Server, collector: &str) -> Agcore {
    Agcore::talking_to(server).with("OTEL_EXPORTER_OTLP_ENDPOINT", collector)
}

/// The spans of a run whose exports all went well.
fn exported(collector: Collector) -> Export {
    let export = collector.received();
    for path in &export.paths {
        assert_eq!(path, "/v1/traces");
    }
    export
}

#[test]
fn a_turn_is_a_trace_of_agent_models_and_tools() {
    let server = Server::playground();
    let collector = Collector::start(200);
    let ran = chat(&telling(&server, &collector.url()), &[]);
    assert!(ran.assert_done().contains("**arithmetic** says: "));
    assert!(!ran.stderr.contains("warning"), "{}", ran.stderr);
    let export = exported(collector);
    assert_eq!(export.resource("service.name"), Some("agcore"));
    assert_eq!(export.resource("service.version"), Some(env!("CARGO_PKG_VERSION")));
    let mut names: Vec<&str> = export.spans.iter().map(|span| span.name.as_str()).collect();
    names.sort_unstable();
    assert_eq!(
        names,
        [
            "chat some-model",
            "chat some-model",
            "execute_tool arithmetic",
            "invoke_agent assistant"
        ]
    );
    let root = export.span("invoke_agent assistant");
    assert!(root.parent.is_empty());
    for span in export.spans.iter().filter(|span| span.name != root.name) {
        assert_eq!((&span.parent, &span.trace), (&root.id, &root.trace), "{}", span.name);
    }
    assert_eq!(
        export.span("chat some-model").attribute("gen_ai.request.model"),
        Some("some-model")
    );
    export.assert_silent_about(&[SAID, KEY]);
}

#[test]
fn what_is_said_travels_only_where_it_is_wanted() {
    let server = Server::playground();
    for (variable, arguments, expected) in [
        (None, &["--trace-content"][..], true),
        (Some("on"), &[], true),
        (Some("off"), &[], false),
    ] {
        let collector = Collector::start(200);
        let mut agcore = telling(&server, &collector.url());
        if let Some(value) = variable {
            agcore = agcore.with("AGCORE_TRACE_CONTENT", value);
        }
        chat(&agcore, arguments).assert_done();
        let export = exported(collector);
        assert_eq!(export.says(SAID), expected, "{variable:?} {arguments:?}");
        export.assert_silent_about(&[KEY]);
    }
    let agcore = Agcore::talking_to(&server).with("AGCORE_TRACE_CONTENT", "maybe");
    chat(&agcore, &[]).assert_failed(2, &["AGCORE_TRACE_CONTENT: the content of spans is `on` or `off`"]);
}

#[test]
fn a_turn_that_fails_is_exported_too() {
    let refused = |_: &RecordedRequest| Reply::error(ApiError::new(401));
    let server = Server::start(MockOptions::new(), refused);
    let collector = Collector::start(200);
    chat(&telling(&server, &collector.url()), &[]).assert_failed(3, &["(HTTP 401)"]);
    let export = exported(collector);
    for name in ["invoke_agent assistant", "chat some-model"] {
        assert_eq!(export.span(name).attribute("error.type"), Some("auth"), "{name}");
    }
}

#[test]
fn standard_variables_are_heard() {
    let server = Server::playground();
    let collector = Collector::start(200);
    let agcore = telling(&server, "http://127.0.0.1:1")
        .with(
            "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
            &format!("{}/v1/traces", collector.url()),
        )
        .with("OTEL_EXPORTER_OTLP_HEADERS", "x-token=hush")
        .with("OTEL_SERVICE_NAME", "mine");
    let ran = chat(&agcore, &[]);
    ran.assert_done();
    assert!(!ran.stderr.contains("warning"), "{}", ran.stderr);
    let export = exported(collector);
    assert_eq!(export.resource("service.name"), Some("mine"));
    assert!(
        export
            .heads
            .iter()
            .all(|head| head.to_lowercase().contains("x-token: hush"))
    );
    let collector = Collector::start(200);
    let agcore = telling(&server, &collector.url()).with("OTEL_SDK_DISABLED", "true");
    chat(&agcore, &[]).assert_done();
    assert!(collector.received().paths.is_empty());
}

#[test]
fn a_collector_that_fails_is_told_once_and_disturbs_nothing() {
    let server = Server::playground();
    let check = |collector: &str, words: &[&str]| {
        let ran = chat(
            &telling(&server, collector).with("OTEL_EXPORTER_OTLP_TIMEOUT", "300"),
            &[],
        );
        assert!(ran.assert_done().contains("**arithmetic** says: "));
        let warnings: Vec<&str> = ran
            .stderr
            .lines()
            .filter(|line| line.starts_with("warning: "))
            .collect();
        assert_eq!(warnings.len(), 1, "{}", ran.stderr);
        for word in words {
            assert!(warnings[0].contains(word), "no {word:?} in {}", warnings[0]);
        }
    };
    check(
        "http://127.0.0.1:1",
        &["spans were not exported to http://127.0.0.1:1/v1/traces", "refused"],
    );
    check(
        "ftp://somewhere",
        &["spans are not exported (OTEL_EXPORTER_OTLP_ENDPOINT)"],
    );
    let broken = Collector::start(400);
    check(&broken.url(), &["it answers HTTP 400"]);
    let within = runtime();
    let deaf = within.block_on(DeafServer::start()).unwrap();
    check(&deaf.base_url(), &["spans were not exported", "within 0.3 s"]);
}

#[test]
fn settings_tell_where_spans_go() {
    let server = Server::playground();
    let agcore = telling(&server, "http://me:secret@c.example:4318");
    let ran = agcore.run(["config"]);
    let shown = ran.assert_done();
    let traces = shown.lines().find(|line| line.starts_with("traces")).unwrap();
    assert!(
        traces.contains("http://***@c.example:4318/v1/traces")
            && traces.contains("environment, OTEL_EXPORTER_OTLP_ENDPOINT"),
        "{traces}"
    );
    let unset = Agcore::new().run(["config"]);
    assert!(
        unset.assert_done().contains("traces         not set"),
        "{}",
        unset.stdout
    );
}
