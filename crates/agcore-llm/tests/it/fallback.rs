//! Several providers in order or by weight.

use std::{
    collections::BTreeMap,
    fmt::Debug,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

use agcore_chat::{ChatRequest, ContentPart, Message, ResponseFormat, Tool, ToolDefinition};
use agcore_llm::{
    Call, Capabilities, LlmError, LlmErrorKind, LlmProvider, LlmProviderExt, ProviderInfo, Random, ReplyItem,
    layer::{
        fallback::{Candidate, Fallback, FallbackOn, FallbackPolicy},
        key_pool::{KeyPool, KeyPoolPolicy, PoolKey},
        retry::MidStream,
    },
    wire::Unsupported,
};
use agcore_testkit::{
    clock::ManualClock,
    scripted::{ScriptStep, ScriptedProvider},
};
use futures_util::{FutureExt, StreamExt};
use serde_json::json;
use tracing::{
    Event, Metadata, Subscriber,
    field::{Empty, Field, Visit},
    span::{Attributes, Id, Record},
};
use tracing_core::span::Current;

use crate::support::{OVERFLOW, always, error, failing, provider, rate_limited, request, run, seconds, send, steps};

fn fallback(candidates: impl IntoIterator<Item = Candidate>) -> Fallback {
    with_policy(candidates, FallbackPolicy::new())
}

fn with_policy(candidates: impl IntoIterator<Item = Candidate>, policy: FallbackPolicy) -> Fallback {
    Fallback::new(candidates, policy, Arc::new(ManualClock::new()), always(0.5)).unwrap()
}

/// Providers `a`, `b` … with these scripts.
fn chain(scripts: &[&str], policy: FallbackPolicy) -> Fallback {
    let names = ["a", "b", "c", "d"].into_iter().zip(scripts);
    with_policy(
        names.map(|(name, script)| Candidate::new(provider(name, steps(script)))),
        policy,
    )
}

#[tokio::test]
async fn the_error_summarizes_all_failures() {
    let outcome = send(&chain(&["500", "402", "429:20", "401"], FallbackPolicy::new())).await;
    let expected = [
        LlmErrorKind::Server,
        LlmErrorKind::QuotaExhausted,
        LlmErrorKind::RateLimit,
        LlmErrorKind::Authentication,
    ];
    let failures = outcome.failures();
    assert_eq!(
        failures.iter().map(|(name, _)| name.as_str()).collect::<String>(),
        "abcd"
    );
    assert_eq!(failures.into_iter().map(|(_, kind)| kind).collect::<Vec<_>>(), expected);
    let error = outcome.error();
    assert_eq!(
        error.kind(),
        LlmErrorKind::RateLimit,
        "the kind of the last retryable failure"
    );
    assert!(error.is_retryable());
    assert_eq!(error.retry_after(), None, "the first provider may be tried at any time");
    assert_eq!(
        error.to_string(),
        "4 of 4 providers were tried and failed; a: it went wrong; b: it went wrong; c: it went wrong; d: it went wrong"
    );
    assert_eq!(outcome.notices(), ["retry 1 in 0", "retry 2 in 0", "retry 3 in 0"]);
}

#[tokio::test]
async fn the_error_has_the_shortest_hint() {
    let all = fallback(
        ["a", "b"]
            .into_iter()
            .zip([30, 20])
            .map(|(name, after)| Candidate::new(provider(name, [rate_limited(after)]))),
    );
    assert_eq!(send(&all).await.error().retry_after(), Some(seconds(20)));
}

#[tokio::test]
async fn the_error_of_an_only_provider_is_unchanged() {
    let inner = || ScriptStep::error(error(LlmErrorKind::Server).with_status(502).with_provider("a"));
    let outcome = send(&fallback([Candidate::new(provider("a", [inner()]))])).await;
    assert_eq!(outcome.error().to_string(), "a: it went wrong (HTTP 502)");
}

#[tokio::test]
async fn an_error_that_ends_the_call_contains_the_failures_before_it() {
    let outcome = send(&chain(&["401", "400", "ok"], FallbackPolicy::new())).await;
    assert_eq!(outcome.answered_by(), "InvalidRequest");
    assert!(!outcome.error().is_retryable());
    assert_eq!(outcome.failures().len(), 2);
    assert_eq!(
        outcome.error().to_string(),
        "it went wrong (after other attempts had failed)"
    );
}

/// Parses the steps of a script, in which `refused` is the encoder's refusal of a parameter.
fn scripts(script: &str) -> Vec<ScriptStep> {
    let step = |step: &str| match step {
        "refused" => {
            let error = error(LlmErrorKind::InvalidRequest).with_unsupported(Unsupported::new("seed"));
            vec![ScriptStep::error(error)]
        }
        other => steps(other),
    };
    script.split_whitespace().flat_map(step).collect()
}

/// The scripts of providers, and the kind of the error or who answers; and whether another attempt may succeed.
#[tokio::test]
async fn a_passing_failure_never_becomes_permanent() {
    for (rows, answered_by, is_retryable) in [
        ("refused; ok", "b", false),
        ("500; refused", "Server", true),
        ("refused; 500", "Server", true),
        ("429:20; refused; ok", "c", false),
        ("429:20; refused; 401", "RateLimit", true),
        ("401; refused", "Authentication", false),
        ("refused; refused", "InvalidRequest", false),
        ("500; 400; ok", "Server", true),
        ("503; 401; 400; ok", "Overloaded", true),
        ("refused; 400; ok", "InvalidRequest", false),
    ] {
        for on in [FallbackOn::Fault, FallbackOn::Retryable] {
            if on == FallbackOn::Retryable && rows.contains("401;") {
                continue;
            }
            let names = ["a", "b", "c", "d"].into_iter().zip(rows.split("; "));
            let all = with_policy(
                names.map(|(name, script)| Candidate::new(provider(name, scripts(script)))),
                FallbackPolicy::new().with_on(on),
            );
            let outcome = send(&all).await;
            assert_eq!(outcome.answered_by(), answered_by, "{rows} {on:?}: {outcome:?}");
            let error = outcome.response.as_ref().err();
            assert_eq!(error.is_some_and(LlmError::is_retryable), is_retryable, "{rows} {on:?}");
        }
    }
}

#[tokio::test]
async fn the_error_names_what_all_providers_lack() {
    let all = fallback(["a", "b"].map(|name| Candidate::new(provider(name, scripts("refused")))));
    let outcome = send(&all).await;
    assert_eq!(outcome.error().unsupported().unwrap().name(), "seed");
    let all = fallback(["401", "refused"].map(|script| Candidate::new(provider("x", scripts(script)))));
    assert!(!send(&all).await.error().is_unsupported());
}

#[tokio::test]
async fn requests_are_adapted_for_one_provider() {
    let b = provider("b", scripts("refused ok"));
    let seeded = || {
        let mut request = request();
        (request.seed, request.user) = (Some(7), Some("ada".into()));
        request
    };
    let all = fallback([
        Candidate::new(provider("a", steps("500"))),
        Candidate::new(b.clone())
            .with_model("large-2")
            .with_adapted_requests(true)
            .with_request_map(|request| {
                request.user = None;
                request.model = "ignored".into();
            }),
    ]);
    let outcome = run(&all, Call::new(seeded())).await;
    assert_eq!(outcome.answered_by(), "b");
    assert_eq!(
        outcome.notices(),
        ["retry 1 in 0", "by b"],
        "a refusal does not count as an attempt"
    );
    let sent = b.requests();
    let tuning = |at: usize| (sent[at].seed, sent[at].user.clone(), sent[at].model.as_str());
    assert_eq!(tuning(0), (Some(7), None, "large-2"));
    assert_eq!(tuning(1), (None, None, "large-2"));
    assert_eq!(outcome.response.unwrap().answered_by.unwrap().model, "large-2");
}

#[tokio::test]
async fn the_rule_decides_which_failures_are_followed_by_the_next_provider() {
    let narrow = FallbackPolicy::new().with_on(FallbackOn::Retryable);
    for (script, by_default, if_narrow) in [
        ("500", true, true),
        ("413", true, true),
        ("429", true, true),
        ("402", true, false),
        ("401", true, false),
        ("404", true, false),
        ("400", false, false),
    ] {
        for (policy, expected) in [(FallbackPolicy::new(), by_default), (narrow.clone(), if_narrow)] {
            let outcome = send(&chain(&[script, "ok"], policy)).await;
            assert_eq!(outcome.answered_by() == "b", expected, "{script}: {outcome:?}");
        }
    }
    let custom =
        chain(&["400", "ok"], FallbackPolicy::new()).with_rule(|error| error.kind() == LlmErrorKind::InvalidRequest);
    assert_eq!(send(&custom).await.answered_by(), "b");
}

type Change = fn(&mut Capabilities);

/// A provider that answers, with changed capabilities.
fn with_capabilities(name: &str, change: impl FnOnce(&mut Capabilities)) -> ScriptedProvider {
    let mut capabilities = Capabilities::default();
    change(&mut capabilities);
    let info = ProviderInfo::new(name, format!("{name}-1")).with_capabilities(capabilities);
    ScriptedProvider::new(steps("ok")).with_info(info)
}

#[tokio::test]
async fn skips_providers_that_cannot_serve_the_request() {
    let image = vec![
        ContentPart::text("What is this?"),
        ContentPart::image_url("data:image/png;base64,AA=="),
    ];
    let tool = Tool::from(ToolDefinition::new("t", "A tool.", json!({"type": "object"})));
    let cases: [(ChatRequest, Change); 4] = [
        (ChatRequest::new([Message::user(image)]), |capabilities| {
            capabilities.images = false;
        }),
        (request().with_tools([tool]), |capabilities| capabilities.tools = false),
        (
            request().with_response_format(ResponseFormat::json_schema("x", json!({}))),
            |capabilities| capabilities.json_schema = false,
        ),
        (
            request().with_response_format(ResponseFormat::JsonObject),
            |capabilities| capabilities.json_object = false,
        ),
    ];
    for (request, remove) in cases {
        let down = || provider("a", [failing(LlmErrorKind::Server)]);
        let (b, c) = (with_capabilities("b", remove), with_capabilities("c", |_| {}));
        let all = fallback([Candidate::new(down()), Candidate::new(b.clone()), Candidate::new(c)]);
        let outcome = run(&all, Call::new(request.clone())).await;
        assert_eq!((outcome.answered_by().as_str(), b.requests().len()), ("c", 0));

        let all = fallback([Candidate::new(down()), Candidate::new(b.clone())]);
        let outcome = run(&all, Call::new(request.clone())).await;
        assert_eq!(outcome.failures().len(), 1);
        assert!(
            outcome
                .error()
                .message()
                .contains("1 of 2 providers were tried and failed, and b does not support")
        );

        let outcome = run(&fallback([Candidate::new(b)]), Call::new(request)).await;
        assert_eq!(outcome.answered_by(), "InvalidRequest");
        assert!(
            outcome
                .error()
                .message()
                .starts_with("no provider can serve this request: b does not support")
        );
    }
}

#[tokio::test]
async fn after_an_overflow_only_larger_windows_are_tried() {
    let overflow = || {
        let kind = LlmErrorKind::ContextLength {
            limit: Some(8000),
            requested: Some(9000),
        };
        Candidate::new(provider("a", [failing(kind)]))
    };
    let window = |name, tokens| with_capabilities(name, |capabilities| capabilities.context_window = Some(tokens));
    let small = window("b", 8500);
    let all = fallback([
        overflow(),
        Candidate::new(small.clone()),
        Candidate::new(window("c", 9000)),
    ]);
    assert_eq!(
        (send(&all).await.answered_by().as_str(), small.requests().len()),
        ("c", 0)
    );

    // If the server reports no numbers, the configured window counts.
    let without_numbers = ScriptedProvider::new([failing(OVERFLOW)])
        .with_info(ProviderInfo::new("a", "a-1").with_capabilities(Capabilities::default().with_context_window(8000)));
    let all = fallback([
        Candidate::new(without_numbers),
        Candidate::new(window("b", 8000)),
        Candidate::new(window("c", 8001)),
    ]);
    assert_eq!(send(&all).await.answered_by(), "c");

    let all = fallback([overflow(), Candidate::new(window("b", 100))]);
    let outcome = send(&all).await;
    assert!(matches!(
        outcome.error().kind(),
        LlmErrorKind::ContextLength { limit: Some(8000), .. }
    ));
    assert!(
        outcome
            .error()
            .message()
            .contains("b has a context window of 100 tokens, too small for 9000"),
        "{}",
        outcome.error()
    );
}

#[tokio::test]
async fn skips_windows_that_are_too_small_for_the_request() {
    let long = ChatRequest::new([Message::user("many words ".repeat(1000))]);
    let small = with_capabilities("b", |capabilities| capabilities.context_window = Some(500));
    let large = with_capabilities("c", |capabilities| capabilities.context_window = Some(5000));
    let all = fallback([
        Candidate::new(provider("a", [failing(LlmErrorKind::Server)])),
        Candidate::new(small.clone()),
        Candidate::new(large),
    ]);
    assert_eq!(run(&all, Call::new(long.clone())).await.answered_by(), "c");
    assert!(small.requests().is_empty());
    let first = fallback([Candidate::new(small)]);
    assert_eq!(
        run(&first, Call::new(long)).await.answered_by(),
        "b",
        "the first provider is tried, because its server knows better"
    );
}

#[tokio::test]
async fn a_stream_that_fails_after_content_is_not_repeated_by_default() {
    let outcome = send(&chain(&["half", "ok"], FallbackPolicy::new())).await;
    assert_eq!(
        (outcome.answered_by().as_str(), outcome.notices()),
        ("Connect", vec!["by a".to_owned()])
    );
    assert_eq!(outcome.error().partial().unwrap().text(), "half");

    let restart = FallbackPolicy::new().with_mid_stream(MidStream::Restart);
    let outcome = send(&chain(&["half", "ok"], restart)).await;
    assert_eq!(outcome.notices(), ["by a", "restarted", "by b"]);
    assert_eq!(
        outcome.response.unwrap().text(),
        "Hi.",
        "the text before the restart is discarded"
    );
}

#[tokio::test]
async fn each_provider_is_sent_its_own_model() {
    let (a, b) = (
        provider("a", [failing(LlmErrorKind::Server)]),
        provider("b", steps("ok ok")),
    );
    let all = fallback([
        Candidate::new(a.clone()),
        Candidate::new(b.clone()).with_model("large-2"),
    ]);
    let outcome = run(&all, Call::new(request().with_model("gpt-5"))).await;
    assert_eq!(outcome.response.unwrap().answered_by.unwrap().model, "large-2");
    assert_eq!(
        (a.requests()[0].model.as_str(), b.requests()[0].model.as_str()),
        ("gpt-5", "large-2")
    );
    assert_eq!(all.model(), "a-1", "the info is that of the first provider");
    assert_eq!(fallback([Candidate::new(b).with_model("large-2")]).model(), "large-2");
}

#[tokio::test]
async fn tries_no_other_provider_without_time_left() {
    let clock = Arc::new(ManualClock::jumping());
    let slow =
        provider("a", [failing(LlmErrorKind::Server).with_delay(seconds(10))]).with_clock(Arc::clone(&clock) as _);
    let b = provider("b", steps("ok"));
    let candidates = [Candidate::new(slow), Candidate::new(b.clone())];
    let all = Fallback::new(candidates, FallbackPolicy::new(), clock, always(0.5)).unwrap();
    let outcome = run(&all, Call::new(request()).with_deadline(seconds(10))).await;
    assert_eq!((outcome.answered_by().as_str(), b.requests().len()), ("Server", 0));
}

#[tokio::test]
async fn tries_no_other_provider_after_a_cancellation() {
    let b = provider("b", steps("ok"));
    let all = fallback([
        Candidate::new(provider("a", [ScriptStep::hang()])),
        Candidate::new(b.clone()),
    ]);
    let call = Call::new(request());
    let token = call.token.clone();
    let mut running = Box::pin(run(&all, call));
    assert!((&mut running).now_or_never().is_none());
    token.cancel();
    assert_eq!(running.await.answered_by(), "Cancelled");
    assert!(b.requests().is_empty());
}

#[tokio::test]
async fn sends_nothing_before_the_first_poll() {
    let a = provider("a", steps("ok"));
    let all = fallback([Candidate::new(a.clone())]);
    let stream = all.open(Call::new(request()));
    assert!(a.requests().is_empty());
    let items: Vec<ReplyItem> = stream.collect().await;
    assert!(matches!(items.last(), Some(ReplyItem::End(Ok(())))));
}

/// Returns the numbers 0.05, 0.15 … 0.95, over and over.
fn tenths() -> Random {
    let next = AtomicUsize::new(0);
    Arc::new(move || (next.fetch_add(1, Ordering::Relaxed) % 10) as f64 / 10.0 + 0.05)
}

#[tokio::test]
async fn distributes_calls_by_weight() {
    let ok = "ok ".repeat(100);
    let candidate = |name: &'static str, weight| Candidate::new(provider(name, steps(&ok))).with_weight(weight);
    let candidates = [
        candidate("a", 7.0),
        candidate("b", 2.0),
        candidate("c", 1.0),
        candidate("d", 0.0),
    ];
    let all = Fallback::new(
        candidates,
        FallbackPolicy::new(),
        Arc::new(ManualClock::new()),
        tenths(),
    )
    .unwrap();
    let mut count: BTreeMap<String, u32> = BTreeMap::new();
    for _ in 0..100 {
        *count.entry(send(&all).await.answered_by()).or_default() += 1;
    }
    assert_eq!(
        count,
        BTreeMap::from([("a".into(), 70), ("b".into(), 20), ("c".into(), 10)])
    );
}

#[tokio::test]
async fn calls_with_the_same_trace_go_to_the_same_provider() {
    let ok = "ok ".repeat(200);
    let candidate = |name: &'static str| Candidate::new(provider(name, steps(&ok))).with_weight(1.0);
    let policy = FallbackPolicy::new().with_sticky(true);
    let all = Fallback::new(
        [candidate("a"), candidate("b")],
        policy,
        Arc::new(ManualClock::new()),
        tenths(),
    )
    .unwrap();
    let mut count: BTreeMap<String, u32> = BTreeMap::new();
    for trace in 0..50 {
        let call = || Call::new(request()).with_trace(format!("conversation-{trace}"));
        let (first, second) = (
            run(&all, call()).await.answered_by(),
            run(&all, call()).await.answered_by(),
        );
        assert_eq!(first, second);
        *count.entry(first).or_default() += 1;
    }
    assert!(
        count.values().all(|count| *count > 10),
        "traces are distributed: {count:?}"
    );
}

/// A subscriber with a single span that is always current, and whose recorded fields are kept.
#[derive(Default)]
struct Recorder {
    fields: Mutex<BTreeMap<&'static str, String>>,
    span: Mutex<Option<&'static Metadata<'static>>>,
}

impl Visit for &Recorder {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.fields.lock().unwrap().insert(field.name(), format!("{value:?}"));
    }
}

impl Subscriber for Recorder {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, attributes: &Attributes<'_>) -> Id {
        *self.span.lock().unwrap() = Some(attributes.metadata());
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, values: &Record<'_>) {
        values.record(&mut &*self);
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, _: &Event<'_>) {}

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}

    fn current_span(&self) -> Current {
        let span = *self.span.lock().unwrap();
        span.map_or_else(Current::none, |metadata| Current::new(Id::from_u64(1), metadata))
    }
}

#[tokio::test]
async fn records_who_answers_in_the_callers_span() {
    let recorder = Arc::new(Recorder::default());
    let _guard = tracing::subscriber::set_default(Arc::clone(&recorder));
    let _span = tracing::info_span!(
        "chat",
        gen_ai.provider.name = Empty,
        gen_ai.request.model = Empty,
        agcore.key = Empty
    );
    let key = PoolKey::new("team", provider("b", steps("ok")));
    let pool = KeyPool::new([key], KeyPoolPolicy::new(), Arc::new(ManualClock::new())).unwrap();
    let candidates = [
        Candidate::new(provider("a", [failing(LlmErrorKind::Server)])),
        Candidate::new(pool),
    ];
    assert_eq!(send(&fallback(candidates)).await.answered_by(), "b/team");
    let fields = recorder.fields.lock().unwrap();
    let recorded = ["gen_ai.provider.name", "gen_ai.request.model", "agcore.key"].map(|name| fields[name].as_str());
    assert_eq!(recorded, [r#""b""#, r#""b-1""#, r#""team""#]);
}
