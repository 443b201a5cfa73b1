//! Spans are exported to a collector, and a chat works whether or not that succeeds.

mod collector;
mod protobuf;

use agcore_testkit::mock_server::{ApiError, DeafServer, MockOptions, RecordedRequest, Reply};

use self::collector::{Collector, Export, Value};
use crate::support::{Agcore, KEY, RunOutput, Server, runtime};

/// The message to search for in the exported spans.
const MESSAGE: &str = "some arithmetic, please";

fn chat(agcore: &Agcore, arguments: &[&str]) -> RunOutput {
    agcore.run([&["chat", MESSAGE, "--model", "some-model"], arguments].concat())
}

fn exporting(server: &Server, collector: &str) -> Agcore {
    Agcore::talking_to(server).with("OTEL_EXPORTER_OTLP_ENDPOINT", collector)
}

/// Returns the spans that the collector received.
fn exported(collector: Collector) -> Export {
    let export = collector.received();
    for path in &export.paths {
        assert!(["/v1/traces", "/v1/metrics"].contains(&&**path), "{path}");
    }
    export
}

#[test]
fn a_turn_is_a_trace_of_agent_models_and_tools() {
    let server = Server::playground();
    let collector = Collector::start(200);
    let ran = chat(&exporting(&server, &collector.url()), &[]);
    assert!(ran.assert_success().contains("**arithmetic** returned: "));
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
    export.assert_contains_none_of(&[MESSAGE, KEY]);
}

#[test]
fn counts_are_integers_and_lists_are_lists() {
    let server = Server::playground();
    let collector = Collector::start(200);
    let options = [
        "--option",
        "max_tokens=300",
        "--option",
        "seed=7",
        "--option",
        "stop=[\"END\"]",
    ];
    chat(&exporting(&server, &collector.url()), &options).assert_success();
    let export = exported(collector);

    let call = export.span("chat some-model");
    let reasons = call.value("gen_ai.response.finish_reasons");
    assert!(
        [["stop"], ["tool_calls"]]
            .map(|reasons| Value::Texts(reasons.map(str::to_owned).to_vec()))
            .contains(reasons),
        "{reasons:?}"
    );
    assert_eq!(call.value("agcore.attempts"), &Value::Integer(1));
    assert_eq!(call.value("gen_ai.request.max_tokens"), &Value::Integer(300));

    // No name of a count has a value of another type, in any span.
    let is_count = |name: &str| {
        let counts = ["tokens", "attempts", "count", "seed", "status_code", "port"];
        counts.iter().any(|count| name.ends_with(count)) && !name.starts_with("otel.")
    };
    for span in &export.spans {
        for (name, value) in span.attributes.iter().filter(|(name, _)| is_count(name)) {
            assert!(matches!(value, Value::Integer(_)), "{}: {name} is {value:?}", span.name);
        }
    }
    for (name, span) in [
        ("chat some-model", call),
        ("invoke_agent assistant", export.span("invoke_agent assistant")),
    ] {
        for tokens in ["gen_ai.usage.input_tokens", "gen_ai.usage.output_tokens"] {
            assert!(matches!(span.value(tokens), Value::Integer(1..)), "{name}: {tokens}");
        }
    }
}

#[test]
fn exports_content_only_if_enabled() {
    let server = Server::playground();
    for (variable, arguments, expected) in [
        (None, &["--trace-content"][..], true),
        (Some("on"), &[], true),
        (Some("off"), &[], false),
    ] {
        let collector = Collector::start(200);
        let mut agcore = exporting(&server, &collector.url());
        if let Some(value) = variable {
            agcore = agcore.with("AGCORE_TRACE_CONTENT", value);
        }
        chat(&agcore, arguments).assert_success();
        let export = exported(collector);
        assert_eq!(export.contains(MESSAGE), expected, "{variable:?} {arguments:?}");
        export.assert_contains_none_of(&[KEY]);
    }
    let agcore = Agcore::talking_to(&server).with("AGCORE_TRACE_CONTENT", "maybe");
    chat(&agcore, &[]).assert_failed(2, &["AGCORE_TRACE_CONTENT: expected `on` or `off`"]);
}

#[test]
fn exports_failed_turns() {
    let refused = |_: &RecordedRequest| Reply::error(ApiError::new(401));
    let server = Server::start(MockOptions::new(), refused);
    let collector = Collector::start(200);
    chat(&exporting(&server, &collector.url()), &[]).assert_failed(3, &["(HTTP 401)"]);
    let export = exported(collector);
    for name in ["invoke_agent assistant", "chat some-model"] {
        assert_eq!(export.span(name).attribute("error.type"), Some("auth"), "{name}");
    }
}

#[test]
fn respects_the_standard_variables() {
    let server = Server::playground();
    let collector = Collector::start(200);
    let agcore = exporting(&server, "http://127.0.0.1:1")
        .with(
            "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
            &format!("{}/v1/traces", collector.url()),
        )
        .with("OTEL_METRICS_EXPORTER", "none")
        .with("OTEL_EXPORTER_OTLP_HEADERS", "x-token=hush")
        .with("OTEL_SERVICE_NAME", "mine");
    let ran = chat(&agcore, &[]);
    ran.assert_success();
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
    let agcore = exporting(&server, &collector.url()).with("OTEL_SDK_DISABLED", "true");
    chat(&agcore, &[]).assert_success();
    assert!(collector.received().paths.is_empty());
}

#[test]
fn a_failing_collector_causes_one_warning() {
    let server = Server::playground();
    let check = |collector: &str, texts: &[&str]| {
        let ran = chat(
            &exporting(&server, collector).with("OTEL_EXPORTER_OTLP_TIMEOUT", "300"),
            &[],
        );
        assert!(ran.assert_success().contains("**arithmetic** returned: "));
        let warnings: Vec<&str> = ran
            .stderr
            .lines()
            .filter(|line| line.starts_with("warning: "))
            .collect();
        assert_eq!(warnings.len(), 1, "{}", ran.stderr);
        for text in texts {
            assert!(warnings[0].contains(text), "{text:?} is missing in {}", warnings[0]);
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
    check(&broken.url(), &["the collector responded with HTTP 400"]);
    let within = runtime();
    let deaf = within.block_on(DeafServer::start()).unwrap();
    check(&deaf.base_url(), &["spans were not exported", "within 0.3 s"]);
}

#[test]
fn config_shows_the_collector() {
    let server = Server::playground();
    let agcore = exporting(&server, "http://me:secret@c.example:4318");
    let ran = agcore.run(["config"]);
    let shown = ran.assert_success();
    let traces = shown.lines().find(|line| line.starts_with("traces")).unwrap();
    assert!(
        traces.contains("http://***@c.example:4318/v1/traces")
            && traces.contains("environment, OTEL_EXPORTER_OTLP_ENDPOINT"),
        "{traces}"
    );
    let unset = Agcore::new().run(["config"]);
    let traces = unset.assert_success().lines().find(|line| line.starts_with("traces "));
    let words = traces.map(|line| line.split_whitespace().skip(1).collect::<Vec<_>>());
    assert_eq!(words, Some(vec!["not", "set"]), "{}", unset.stdout);
}
