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
    Call, Capabilities, LlmErrorKind, LlmProvider, LlmProviderExt, ProviderInfo, ReplyItem,
    layer::{
        fallback::{Candidate, Fallback, FallbackOn, FallbackPolicy},
        key_pool::{KeyPool, KeyPoolPolicy, PoolKey},
        retry::MidStream,
    },
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

use crate::router_support::{OVERFLOW, always, ask, error, failing, limited, provider, request, seconds, steps, tell};

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
async fn each_fails_differently_and_the_error_knows_all() {
    let told = ask(&chain(&["500", "402", "429:20", "401"], FallbackPolicy::new())).await;
    let expected = [
        LlmErrorKind::Server,
        LlmErrorKind::QuotaExhausted,
        LlmErrorKind::RateLimit,
        LlmErrorKind::Authentication,
    ];
    let failures = told.failures();
    assert_eq!(failures.iter().map(|(who, _)| who.as_str()).collect::<String>(), "abcd");
    assert_eq!(failures.into_iter().map(|(_, kind)| kind).collect::<Vec<_>>(), expected);
    let error = told.error();
    assert_eq!(
        *error.kind(),
        LlmErrorKind::RateLimit,
        "the last one that a retry may help"
    );
    assert!(error.is_retryable());
    assert_eq!(error.retry_after(), None, "the first may be asked at any time");
    assert_eq!(
        error.to_string(),
        "4 of 4 providers were asked and failed; a: it went wrong; b: it went wrong; c: it went wrong; d: it went wrong"
    );
    assert_eq!(told.notices(), ["retry 1 in 0", "retry 2 in 0", "retry 3 in 0"]);
}

#[tokio::test]
async fn hints_of_all_become_the_soonest() {
    let all = fallback(
        ["a", "b"]
            .into_iter()
            .zip([30, 20])
            .map(|(name, after)| Candidate::new(provider(name, [limited(after)]))),
    );
    assert_eq!(ask(&all).await.error().retry_after(), Some(seconds(20)));
}

#[tokio::test]
async fn the_only_one_keeps_its_error_as_it_is() {
    let inner = || ScriptStep::error(error(LlmErrorKind::Server).with_status(502).with_provider("a"));
    let told = ask(&fallback([Candidate::new(provider("a", [inner()]))])).await;
    assert_eq!(told.error().to_string(), "a: it went wrong (HTTP 502)");
}

#[tokio::test]
async fn what_ends_a_call_after_others_failed_is_told_with_them() {
    let told = ask(&chain(&["500", "400", "ok"], FallbackPolicy::new())).await;
    assert_eq!(told.who(), "InvalidRequest");
    assert!(!told.error().is_retryable());
    assert_eq!(told.failures().len(), 2);
    assert_eq!(told.error().to_string(), "it went wrong (others had failed before)");
}

#[tokio::test]
async fn rules_say_what_goes_on() {
    let narrow = FallbackPolicy::new().with_on(FallbackOn::Retryable);
    for (script, wide_goes_on, narrow_goes_on) in [
        ("500", true, true),
        ("413", true, true),
        ("429", true, true),
        ("402", true, false),
        ("401", true, false),
        ("404", true, false),
        ("400", false, false),
    ] {
        for (policy, goes_on) in [(FallbackPolicy::new(), wide_goes_on), (narrow.clone(), narrow_goes_on)] {
            let told = ask(&chain(&[script, "ok"], policy)).await;
            assert_eq!(told.who() == "b", goes_on, "{script}: {told:?}");
        }
    }
    let own =
        chain(&["400", "ok"], FallbackPolicy::new()).with_rule(|error| *error.kind() == LlmErrorKind::InvalidRequest);
    assert_eq!(ask(&own).await.who(), "b");
}

/// Takes a capability away.
type Unable = fn(&mut Capabilities);

fn able(name: &str, change: impl FnOnce(&mut Capabilities)) -> ScriptedProvider {
    let mut capabilities = Capabilities::default();
    change(&mut capabilities);
    let info = ProviderInfo::new(name, format!("{name}-1")).with_capabilities(capabilities);
    ScriptedProvider::new(steps("ok")).with_info(info)
}

#[tokio::test]
async fn who_cannot_take_the_request_is_passed_over() {
    let picture = vec![
        ContentPart::text("What is this?"),
        ContentPart::image_url("data:image/png;base64,AA=="),
    ];
    let tool = Tool::from(ToolDefinition::new("t", "A tool.", json!({"type": "object"})));
    let cases: [(ChatRequest, Unable); 4] = [
        (ChatRequest::new([Message::user(picture)]), |able| able.images = false),
        (request().with_tools([tool]), |able| able.tools = false),
        (
            request().with_response_format(ResponseFormat::json_schema("x", json!({}))),
            |able| able.json_schema = false,
        ),
        (request().with_response_format(ResponseFormat::JsonObject), |able| {
            able.json_object = false;
        }),
    ];
    for (request, unable) in cases {
        let down = || provider("a", [failing(LlmErrorKind::Server)]);
        let (b, c) = (able("b", unable), able("c", |_| {}));
        let all = fallback([Candidate::new(down()), Candidate::new(b.clone()), Candidate::new(c)]);
        let told = tell(&all, Call::new(request.clone())).await;
        assert_eq!((told.who().as_str(), b.requests().len()), ("c", 0));

        let all = fallback([Candidate::new(down()), Candidate::new(b.clone())]);
        let told = tell(&all, Call::new(request.clone())).await;
        assert_eq!(told.failures().len(), 1);
        assert!(
            told.error()
                .message()
                .contains("1 of 2 providers were asked and failed, and b cannot")
        );

        let told = tell(&fallback([Candidate::new(b)]), Call::new(request)).await;
        assert_eq!(told.who(), "InvalidRequest");
        assert!(
            told.error()
                .message()
                .starts_with("no provider can take this request: b cannot")
        );
    }
}

#[tokio::test]
async fn after_an_overflow_only_larger_windows_are_asked() {
    let overflow = || {
        let kind = LlmErrorKind::ContextLength {
            limit: Some(8000),
            requested: Some(9000),
        };
        Candidate::new(provider("a", [failing(kind)]))
    };
    let window = |name, tokens| able(name, |able| able.context_window = Some(tokens));
    let small = window("b", 8500);
    let all = fallback([
        overflow(),
        Candidate::new(small.clone()),
        Candidate::new(window("c", 9000)),
    ]);
    assert_eq!((ask(&all).await.who().as_str(), small.requests().len()), ("c", 0));

    // A server that tells no numbers: what is known of its window counts.
    let told_nothing = ScriptedProvider::new([failing(OVERFLOW)])
        .with_info(ProviderInfo::new("a", "a-1").with_capabilities(Capabilities::default().with_context_window(8000)));
    let all = fallback([
        Candidate::new(told_nothing),
        Candidate::new(window("b", 8000)),
        Candidate::new(window("c", 8001)),
    ]);
    assert_eq!(ask(&all).await.who(), "c");

    let all = fallback([overflow(), Candidate::new(window("b", 100))]);
    let told = ask(&all).await;
    assert!(matches!(
        told.error().kind(),
        LlmErrorKind::ContextLength { limit: Some(8000), .. }
    ));
    assert!(
        told.error()
            .message()
            .contains("b has a window of 100 tokens, too small for 9000"),
        "{}",
        told.error()
    );
}

#[tokio::test]
async fn a_long_request_does_not_go_to_a_small_window() {
    let long = ChatRequest::new([Message::user("many words ".repeat(1000))]);
    let small = able("b", |able| able.context_window = Some(500));
    let all = fallback([
        Candidate::new(provider("a", [failing(LlmErrorKind::Server)])),
        Candidate::new(small.clone()),
        Candidate::new(able("c", |able| able.context_window = Some(5000))),
    ]);
    assert_eq!(tell(&all, Call::new(long.clone())).await.who(), "c");
    assert!(small.requests().is_empty());
    let first = fallback([Candidate::new(small)]);
    assert_eq!(
        tell(&first, Call::new(long)).await.who(),
        "b",
        "the first one is asked: its server knows better"
    );
}

#[tokio::test]
async fn nothing_is_asked_anew_after_parts_were_handed_out() {
    let told = ask(&chain(&["half", "ok"], FallbackPolicy::new())).await;
    assert_eq!(
        (told.who().as_str(), told.notices()),
        ("Connect", vec!["by a".to_owned()])
    );
    assert_eq!(told.error().partial().unwrap().text(), "half");

    let told = ask(&chain(
        &["half", "ok"],
        FallbackPolicy::new().with_mid_stream(MidStream::Restart),
    ))
    .await;
    assert_eq!(told.notices(), ["by a", "restarted", "by b"]);
    assert_eq!(
        told.answer.unwrap().text(),
        "Hi.",
        "what came before the restart is void"
    );
}

#[tokio::test]
async fn each_is_asked_for_its_own_model() {
    let (a, b) = (
        provider("a", [failing(LlmErrorKind::Server)]),
        provider("b", steps("ok ok")),
    );
    let all = fallback([
        Candidate::new(a.clone()),
        Candidate::new(b.clone()).with_model("large-2"),
    ]);
    let told = tell(&all, Call::new(request().with_model("gpt-5"))).await;
    assert_eq!(told.answer.unwrap().answered_by.unwrap().model, "large-2");
    assert_eq!(
        (a.requests()[0].model.as_str(), b.requests()[0].model.as_str()),
        ("gpt-5", "large-2")
    );
    assert_eq!(all.model(), "a-1", "it says of itself what its first says");
    assert_eq!(fallback([Candidate::new(b).with_model("large-2")]).model(), "large-2");
}

#[tokio::test]
async fn without_time_left_nobody_else_is_asked() {
    let clock = Arc::new(ManualClock::jumping());
    let slow =
        provider("a", [failing(LlmErrorKind::Server).with_delay(seconds(10))]).with_clock(Arc::clone(&clock) as _);
    let b = provider("b", steps("ok"));
    let candidates = [Candidate::new(slow), Candidate::new(b.clone())];
    let all = Fallback::new(candidates, FallbackPolicy::new(), clock, always(0.5)).unwrap();
    let told = tell(&all, Call::new(request()).with_deadline(seconds(10))).await;
    assert_eq!((told.who().as_str(), b.requests().len()), ("Server", 0));
}

#[tokio::test]
async fn a_cancelled_call_asks_nobody_else() {
    let b = provider("b", steps("ok"));
    let all = fallback([
        Candidate::new(provider("a", [ScriptStep::hang()])),
        Candidate::new(b.clone()),
    ]);
    let call = Call::new(request());
    let token = call.token.clone();
    let mut asked = Box::pin(tell(&all, call));
    assert!((&mut asked).now_or_never().is_none());
    token.cancel();
    assert_eq!(asked.await.who(), "Cancelled");
    assert!(b.requests().is_empty());
}

#[tokio::test]
async fn nothing_is_sent_before_the_first_poll() {
    let a = provider("a", steps("ok"));
    let all = fallback([Candidate::new(a.clone())]);
    let stream = all.open(Call::new(request()));
    assert!(a.requests().is_empty());
    let items: Vec<ReplyItem> = stream.collect().await;
    assert!(matches!(items.last(), Some(ReplyItem::End(Ok(())))));
}

/// Numbers 0.05, 0.15 … 0.95, over and over.
fn tenths() -> agcore_llm::Random {
    let next = AtomicUsize::new(0);
    Arc::new(move || (next.fetch_add(1, Ordering::Relaxed) % 10) as f64 / 10.0 + 0.05)
}

#[tokio::test]
async fn calls_are_spread_by_weight() {
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
        *count.entry(ask(&all).await.who()).or_default() += 1;
    }
    assert_eq!(
        count,
        BTreeMap::from([("a".into(), 70), ("b".into(), 20), ("c".into(), 10)])
    );
}

#[tokio::test]
async fn calls_of_one_trace_stay_together() {
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
        let (first, second) = (tell(&all, call()).await.who(), tell(&all, call()).await.who());
        assert_eq!(first, second);
        *count.entry(first).or_default() += 1;
    }
    assert!(
        count.values().all(|count| *count > 10),
        "and traces are spread: {count:?}"
    );
}

/// A subscriber that knows one span, in which everything happens, and keeps what is recorded in its fields.
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
async fn the_callers_span_is_told_who_answers() {
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
    assert_eq!(ask(&fallback(candidates)).await.who(), "b/team");
    let fields = recorder.fields.lock().unwrap();
    let told = ["gen_ai.provider.name", "gen_ai.request.model", "agcore.key"].map(|name| fields[name].as_str());
    assert_eq!(told, [r#""b""#, r#""b-1""#, r#""team""#]);
}
