//! The layers together: scripts, and who answers.

use std::sync::Arc;

use agcore_chat::{Clock, EventKind, ModelEvent};
use agcore_llm::{
    Call, LlmError, LlmErrorKind, LlmProvider, LlmProviderExt,
    layer::{
        breaker::BreakerPolicy,
        fallback::FallbackPolicy,
        key_pool::{KeyPoolPolicy, PoolKey},
        rate_limit::RateLimits,
        retry::{MidStream, Retry, RetryPolicy},
        router::{Route, Router, RouterBuilder, RouterConfig, RouterState},
    },
};
use agcore_testkit::{clock::ManualClock, scripted::ScriptedProvider};
use futures_util::StreamExt;

use crate::router_support::{Told, always, ask, clocks, provider, seconds, steps, tell};

/// Keys by label.
type Keys = Vec<(String, ScriptedProvider)>;

/// Routes as they are written in the table: `main = team: 429 ok, spare: ok; backup * 2 = only: ok`.
struct Written {
    routes: Vec<(String, Option<f64>, Keys)>,
}

impl Written {
    fn read(written: &str) -> Self {
        let route = |route: &str| {
            let (name, keys) = route.split_once('=').unwrap();
            let (name, weight) = match name.split_once('*') {
                Some((name, weight)) => (name, Some(weight.trim().parse().unwrap())),
                None => (name, None),
            };
            let key = |key: &str| {
                let (label, script) = key
                    .trim()
                    .split_once(": ")
                    .unwrap_or((key.trim().trim_end_matches(':'), ""));
                (label.to_owned(), provider(name.trim(), steps(script)))
            };
            (name.trim().to_owned(), weight, keys.split(',').map(key).collect())
        };
        Self {
            routes: written.split(';').map(route).collect(),
        }
    }

    fn router(&self, clock: Arc<dyn Clock>) -> Router {
        let breaker = BreakerPolicy::new().with_failures_in_row(2);
        let mut builder = Router::builder(clock, always(0.7));
        for (name, weight, keys) in &self.routes {
            let keys = keys
                .iter()
                .map(|(label, provider)| PoolKey::new(label.as_str(), provider.clone()));
            let route = Route::of_keys(name, keys).with_breaker(Some(breaker.clone()));
            builder = builder.route(match weight {
                Some(weight) => route.with_weight(*weight),
                None => route,
            });
        }
        builder.build().unwrap()
    }

    fn unused(&self) -> usize {
        let keys = self.routes.iter().flat_map(|(_, _, keys)| keys);
        keys.map(|(_, provider)| provider.unused()).sum()
    }
}

/// Plays `c` (a call), `+20` (so many seconds pass), `r` (the program is restarted, its state is kept).
async fn play(written: &Written, moves: &str) -> Vec<String> {
    let (clock, handed) = clocks();
    let (mut router, mut who) = (written.router(Arc::clone(&handed)), Vec::new());
    for step in moves.split_whitespace() {
        match step {
            "c" => {
                let told = ask(&router).await;
                let hint = told.answer.as_ref().err().and_then(LlmError::retry_after);
                who.push(match hint {
                    Some(hint) => format!("{} in {}", told.who(), hint.as_secs()),
                    None => told.who(),
                });
            }
            "r" => {
                let state = serde_json::to_string(&router.export()).unwrap();
                router = written.router(Arc::clone(&handed));
                let state: RouterState = serde_json::from_str(&state).unwrap();
                assert!(router.import(&state).unwrap().is_empty());
            }
            pass => clock.advance(seconds(pass.trim_start_matches('+').parse().unwrap())),
        }
    }
    who
}

/// Scripts of each key, what happens, and who answers.
#[rustfmt::skip]
const TABLE: &[(&str, &str, &str)] = &[
    // Keys.
    ("a = k1: ok ok, k2: ok",                        "c c c",             "a/k1 a/k2 a/k1"),
    ("a = k1: 429:20 ok, k2: ok ok",                 "c +19 c +1 c",      "a/k2 a/k2 a/k1"),
    ("a = k1: 429 ok, k2: ok ok",                    "c +4 c +1 c",       "a/k2 a/k2 a/k1"),
    ("a = k1: 429 429 ok, k2: ok ok ok ok",          "c +5 c +9 c +1 c c", "a/k2 a/k2 a/k2 a/k1 a/k2"),
    ("a = k1: 402 ok, k2: ok ok",                    "c +3599 c +1 c",    "a/k2 a/k2 a/k1"),
    ("a = k1: 401, k2: ok ok",                       "c +99999 c",        "a/k2 a/k2"),
    ("a = k1: 403 ok, k2: ok ok",                    "c c c",             "a/k2 a/k1 a/k2"),
    ("a = k1: 429:30, k2: 429:20 ok",                "c c +20 c",         "RateLimit~in~20 RateLimit~in~20 a/k2"),
    ("a = k1: 401, k2: 401",                         "c c",               "Authentication Authentication"),
    ("a = k1: 429:30 ok, k2: ok ok",                 "c +10 r c +20 c",   "a/k2 a/k2 a/k1"),
    // Routes.
    ("a = k: ok; b = k:",                            "c",                 "a/k"),
    ("a = k: 500; b = k: ok",                        "c",                 "b/k"),
    ("a = k: 413; b = k: ok",                        "c",                 "b/k"),
    ("a = k: 404; b = k: ok",                        "c",                 "b/k"),
    ("a = k: 400; b = k:",                           "c",                 "InvalidRequest"),
    ("a = k: half; b = k:",                          "c",                 "Connect"),
    ("a = k: 429:20 ok; b = k: ok",                  "c +20 c",           "b/k a/k"),
    ("a = k1: 429:20, k2: 503; b = k: ok",           "c",                 "b/k"),
    ("a = k: 500; b = k: 429:9; c = k: ok",          "c",                 "c/k"),
    ("a = k: 500; b = k: 402; c = k: 401",           "c",                 "Server"),
    ("a = k: 429:20; b = k: 429:30",                 "c c +5 c",          "RateLimit~in~20 RateLimit~in~20 RateLimit~in~15"),
    // Breakers: open after two failures in a row, for 30 seconds.
    ("a = k: 500 503 ok ok; b = k: ok ok ok",        "c c c +30 c c",     "b/k b/k b/k a/k a/k"),
    ("a = k: 500 500 500 ok; b = k: ok ok ok ok",    "c c +30 c +59 c +1 c", "b/k b/k b/k b/k a/k"),
    ("a = k: 500 500",                               "c c c",             "Server Server Overloaded~in~30"),
    ("a = k: 429:1 429:1 ok",                        "c +1 c +1 c",       "RateLimit~in~1 RateLimit~in~1 a/k"),
    // Weights; the number drawn is always 0.7.
    ("a * 7 = k:; b * 3 = k: ok",                    "c",                 "b/k"),
    ("a * 8 = k: ok; b * 2 = k:",                    "c",                 "a/k"),
    ("a * 8 = k: 500; b * 2 = k: ok; c = k:",        "c",                 "b/k"),
    ("a * 8 = k: 500; b * 2 = k: 500; c = k: ok",    "c",                 "c/k"),
    ("a * 1 = k: 500; b * 0 = k:; c = k: ok",        "c",                 "c/k"),
];

#[tokio::test]
async fn scripts_and_who_answered() {
    for (routes, moves, expected) in TABLE {
        let written = Written::read(routes);
        let who = play(&written, moves).await;
        println!("{routes:<46} {moves:<22} {}", who.join(", "));
        let expected: Vec<String> = expected.split_whitespace().map(|who| who.replace('~', " ")).collect();
        assert_eq!(who, expected, "{routes}: {moves}");
        assert_eq!(written.unused(), 0, "{routes}: {moves}: steps that were not played");
    }
}

fn router_of(routes: impl IntoIterator<Item = Route>, clock: Arc<dyn Clock>) -> Result<Router, LlmError> {
    let builder = Router::builder(clock, always(0.5));
    routes.into_iter().fold(builder, RouterBuilder::route).build()
}

#[tokio::test]
async fn what_can_never_work_is_refused_when_it_is_built() {
    let ok = || provider("a", steps("ok"));
    let check = |routes: Vec<Route>, expected: &str| {
        let error = router_of(routes, Arc::new(ManualClock::new())).unwrap_err();
        assert_eq!(*error.kind(), LlmErrorKind::InvalidRequest);
        assert!(error.message().contains(expected), "{error}");
    };
    check(vec![], "there is nobody to ask");
    check(vec![Route::of_keys("a", [])], "route `a`: a key pool without keys");
    let twice = [PoolKey::new("k", ok()), PoolKey::new("k", ok())];
    check(vec![Route::of_keys("a", twice)], "two keys have the label `k`");
    check(
        vec![Route::new("a", ok()), Route::new("a", ok())],
        "two routes have the name `a`",
    );
    for weight in [-1.0, f64::NAN, f64::INFINITY] {
        check(vec![Route::new("a", ok()).with_weight(weight)], "the weight of `a`");
    }
    let weightless = |name| Route::new(name, ok()).with_weight(0.0);
    check(
        vec![weightless("a"), weightless("b"), Route::new("c", ok())],
        "all weights around `a` are 0",
    );
    let limits = RateLimits::new();
    for zero in [
        limits.clone().with_requests_per_minute(0),
        limits.with_tokens_per_minute(0),
    ] {
        check(vec![Route::new("a", ok()).with_limits(zero)], "per_minute` is 0");
    }
    let never = BreakerPolicy::new().with_failures_in_row(0);
    check(
        vec![Route::new("a", ok()).with_breaker(Some(never))],
        "`failures_in_row` is 0",
    );
}

#[tokio::test]
async fn a_limit_sends_calls_to_the_next_key_and_then_to_the_next_route() {
    let limits = RateLimits::new().with_requests_per_minute(1);
    let (clock, handed) = clocks();
    let keys = ["k1", "k2"].map(|label| PoolKey::new(label, provider("a", steps("ok ok"))));
    let routes = [
        Route::of_keys("a", keys).with_limits(limits),
        Route::new("b", provider("b", steps("ok"))),
    ];
    let router = router_of(routes, handed).unwrap();
    let mut who = Vec::new();
    for _ in 0..3 {
        who.push(ask(&router).await.who());
    }
    clock.advance(seconds(60));
    who.push(ask(&router).await.who());
    assert_eq!(who, ["a/k1", "a/k2", "b/default", "a/k1"]);
}

#[tokio::test]
async fn with_nobody_else_to_ask_a_call_waits() {
    let limits = RateLimits::new().with_requests_per_minute(1);
    let jumping = Arc::new(ManualClock::jumping());
    let one = Route::new("a", provider("a", steps("ok ok"))).with_limits(limits.clone());
    let router = router_of([one], Arc::clone(&jumping) as Arc<dyn Clock>).unwrap();
    assert_eq!(ask(&router).await.notices(), ["by a"]);
    assert_eq!(ask(&router).await.notices(), ["waiting 60", "by a"]);

    let keys = ["k1", "k2"].map(|label| PoolKey::new(label, provider("a", steps("ok ok"))));
    let router = router_of([Route::of_keys("a", keys).with_limits(limits)], jumping).unwrap();
    let told = [ask(&router).await, ask(&router).await, ask(&router).await];
    assert_eq!(told.each_ref().map(Told::who), ["a/k1", "a/k2", "a/k1"]);
    assert_eq!(told[2].notices(), ["retry 1 in 0", "retry 2 in 60", "by a"]);
}

#[tokio::test]
async fn retry_around_a_router_waits_until_the_first_key_is_free() {
    let clock = Arc::new(ManualClock::jumping());
    let written = Written::read("a = k1: 429:40 ok, k2: 429:30 ok");
    let router = written.router(Arc::clone(&clock) as Arc<dyn Clock>);
    let retry = Retry::new(
        router,
        RetryPolicy::new(),
        Arc::clone(&clock) as Arc<dyn Clock>,
        always(1.0),
    );
    let told = ask(&retry).await;
    assert_eq!((told.who().as_str(), clock.sleeps()), ("a/k2", vec![seconds(30)]));
    assert_eq!(
        told.notices(),
        ["retry 1 in 0", "retry 2 in 30", "by a"],
        "attempts are counted through"
    );
}

#[tokio::test]
async fn the_response_and_the_events_say_who_answered() {
    let written = Written::read("a = team: 500; b = spare: ok");
    let router = Arc::new(written.router(Arc::new(ManualClock::new())));
    let mut cycle = crate::support::cycle(&router);
    let mut stream = Box::pin(cycle.submit_stream("Hello"));
    let mut told = Vec::new();
    while let Some(event) = stream.next().await {
        match event.kind {
            EventKind::Model(ModelEvent::AnsweredBy(who)) => {
                told.push(format!("{}/{}", who.provider, who.key.unwrap()));
            }
            EventKind::Model(ModelEvent::RetryScheduled { attempt, .. }) => told.push(format!("retry {attempt}")),
            _ => {}
        }
    }
    assert_eq!(told, ["retry 1", "b/spare"]);
}

#[tokio::test]
async fn a_stream_that_dies_may_start_again_elsewhere() {
    let policy = FallbackPolicy::new().with_mid_stream(MidStream::Restart);
    let builder = Router::builder(Arc::new(ManualClock::new()), always(0.5)).fallback(policy);
    let router = builder
        .route(Route::new("a", provider("a", steps("half"))))
        .route(Route::new("b", provider("b", steps("ok"))))
        .build()
        .unwrap();
    let told = ask(&router).await;
    assert_eq!(told.answer.as_ref().unwrap().text(), "Hi.");
    assert_eq!(told.notices(), ["by a", "restarted", "by b"]);
}

#[tokio::test]
async fn state_of_other_times_is_read_or_refused_whole() {
    let written = Written::read("a = k: ok; b = k: ok");
    let router = written.router(Arc::new(ManualClock::new()));
    // 2026-01-01 is when the clock begins.
    let state = |version: u32| {
        let json = serde_json::json!({"routes": {
            "a": {"version": 1, "keys": [
                {"label": "k", "until_ms": 1_767_225_630_000_u64, "rest_ms": 60_000}, {"label": "old", "rest_ms": 5},
            ]},
            "b": {"version": version, "keys": []},
            "c": {"version": 1, "keys": []},
        }});
        serde_json::from_value::<RouterState>(json).unwrap()
    };
    let error = router.import(&state(2)).unwrap_err();
    assert!(error.message().contains("has version 2"), "{error}");
    assert_eq!(router.status()["a"][0].rests_for, None, "nothing was taken over");
    assert_eq!(router.import(&state(1)).unwrap(), ["a/old", "c"]);
    assert_eq!(router.status()["a"][0].rests_for, Some(seconds(30)));
    assert_eq!(ask(&router).await.who(), "b/k");
    assert!(router.pool("a").unwrap().restore("k"));
    assert_eq!(ask(&router).await.who(), "a/k");
    let error = router.pool("x").unwrap_err();
    assert!(error.message().contains("known are: a, b"), "{error}");
}

#[tokio::test]
async fn sixty_four_at_once_all_find_a_way() {
    let written = Written::read("a = k1: 429:5, k2: 429:5; b = k: ok");
    for (_, _, keys) in &written.routes {
        for (label, provider) in keys {
            let more = if label == "k" { "ok" } else { "429:5" };
            steps(&format!("{more} ").repeat(63))
                .into_iter()
                .for_each(|step| provider.push(step));
        }
    }
    let router = written.router(Arc::new(ManualClock::new()));
    let told = futures_util::future::join_all((0..64).map(|_| ask(&router))).await;
    assert!(told.iter().all(|told| told.who() == "b/k"));
    let asked: Vec<usize> = written.routes[0]
        .2
        .iter()
        .map(|(_, provider)| provider.requests().len())
        .collect();
    assert!(asked.iter().all(|asked| *asked >= 1), "{asked:?}");
    assert!(
        router.status()["a"]
            .iter()
            .all(|key| key.busy == 0 && key.rests_for == Some(seconds(5)))
    );
}

#[tokio::test]
async fn a_deadline_is_handed_on_as_what_is_left() {
    let clock = Arc::new(ManualClock::jumping());
    let raw = crate::support::RawProvider::new([]);
    let slow = provider("a", [steps("500").remove(0).with_delay(seconds(4))]).with_clock(Arc::clone(&clock) as _);
    let routes = [Route::new("a", slow), Route::new("b", raw.clone())];
    let router = router_of(routes, clock).unwrap();
    tell(
        &router,
        Call::new(crate::router_support::request()).with_deadline(seconds(10)),
    )
    .await;
    assert_eq!(raw.deadlines(), [Some(seconds(6))]);
}

#[test]
fn settings_make_a_router() {
    let clock = || Arc::new(ManualClock::new());
    let build = |settings: &str| {
        let config: RouterConfig = serde_json::from_str(settings).map_err(|error| error.to_string())?;
        config.build(clock(), always(0.5)).map_err(|error| error.to_string())
    };
    let router = build(
        r#"{"routes": [
            {"provider": {"type": "openai", "model": "gpt-5"}, "weight": 2, "model": "gpt-5-mini",
             "keys": [{"label": "a", "api_key": "sk-1"}, {"label": "b", "api_key": "sk-2"}],
             "limits": {"requests_per_minute": 60, "tokens_per_minute": 100000, "max_wait": 5},
             "pool": {"choice": "round_robin", "base": 1.5}, "breaker": {"failures_in_row": 3, "open_for": 10}},
            {"name": "spare", "provider": {"type": "deepseek", "model": "deepseek-chat", "api_key": "sk-3"}, "breaker": null}
        ], "fallback": {"on": "retryable", "mid_stream": "restart", "sticky": true}}"#,
    )
    .unwrap();
    assert_eq!((router.model(), router.status().len()), ("gpt-5-mini", 2));
    assert!(!format!("{router:?}").contains("sk-"), "no key is shown");

    let check = |settings: &str, expected: &str| {
        let error = build(settings).unwrap_err();
        assert!(error.contains(expected), "{error}");
    };
    check(r#"{"routes": []}"#, "nobody to ask");
    check(r#"{"routes": [], "color": 1}"#, "unknown field `color`");
    check(
        r#"{"routes": [{"provider": {"type": "openai"}}]}"#,
        "the API key is missing",
    );
    check(
        r#"{"routes": [{"provider": {"type": "ollama"}, "limits": {"requests_per_minute": 0}}]}"#,
        "route `ollama`: `requests_per_minute` is 0",
    );
    check(
        r#"{"routes": [{"provider": {"type": "ollama"}, "pool": {"cap": -1}}]}"#,
        "-1 is no number of seconds",
    );
}

#[test]
fn a_router_is_shared_between_tasks() {
    fn check<T: LlmProvider + Clone + 'static>() {}
    check::<Router>();
    let _: KeyPoolPolicy = serde_json::from_str("{}").unwrap();
}
