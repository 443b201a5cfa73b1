//! All layers together: scripts of many calls, and who answers each of them.

use std::sync::Arc;

use agcore_chat::Clock;
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
    wire::Unsupported,
};
use agcore_testkit::{
    clock::ManualClock,
    scripted::{ScriptStep, ScriptedProvider},
};
use futures_util::future;

use crate::support::{Outcome, RawProvider, always, error, manual_clock, provider, request, run, seconds, send, steps};

/// Keys with their labels.
type Keys = Vec<(String, ScriptedProvider)>;

/// Routes in the notation of the table: `main = team: 429 ok, spare: ok; backup * 2 = only: ok`.
struct Routes(Vec<(String, Option<f64>, Keys)>);

impl Routes {
    fn parse(text: &str) -> Self {
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
        Self(text.split(';').map(route).collect())
    }

    fn router(&self, clock: Arc<dyn Clock>) -> Router {
        let breaker = BreakerPolicy::new().with_failures_in_row(2);
        let mut builder = Router::builder(clock, always(0.7));
        for (name, weight, keys) in &self.0 {
            let keys = keys
                .iter()
                .map(|(label, provider)| PoolKey::new(label.as_str(), provider.clone()));
            let route = Route::from_keys(name, keys).with_breaker(Some(breaker.clone()));
            builder = builder.with_route(match weight {
                Some(weight) => route.with_weight(*weight),
                None => route,
            });
        }
        builder.build().unwrap()
    }

    /// Returns the number of steps that were not used.
    fn unused(&self) -> usize {
        let keys = self.0.iter().flat_map(|(_, _, keys)| keys);
        keys.map(|(_, provider)| provider.unused()).sum()
    }
}

/// Runs the events: `c` (a call), `+20` (20 seconds pass), `r` (a restart that keeps the saved state). Returns who answered
/// each call.
async fn play(routes: &Routes, events: &str) -> Vec<String> {
    let (clock, shared) = manual_clock();
    let (mut router, mut answered_by) = (routes.router(Arc::clone(&shared)), Vec::new());
    for event in events.split_whitespace() {
        match event {
            "c" => {
                let outcome = send(&router).await;
                let hint = outcome.response.as_ref().err().and_then(LlmError::retry_after);
                answered_by.push(match hint {
                    Some(hint) => format!("{} in {}", outcome.answered_by(), hint.as_secs()),
                    None => outcome.answered_by(),
                });
            }
            "r" => {
                let state = serde_json::to_string(&router.export()).unwrap();
                router = routes.router(Arc::clone(&shared));
                let state: RouterState = serde_json::from_str(&state).unwrap();
                assert!(router.import(&state).unwrap().is_empty());
            }
            time => clock.advance(seconds(time.trim_start_matches('+').parse().unwrap())),
        }
    }
    answered_by
}

/// The scripts of all keys, the events, and who answers.
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
    // Weights. The random number is always 0.7.
    ("a * 7 = k:; b * 3 = k: ok",                    "c",                 "b/k"),
    ("a * 8 = k: ok; b * 2 = k:",                    "c",                 "a/k"),
    ("a * 8 = k: 500; b * 2 = k: ok; c = k:",        "c",                 "b/k"),
    ("a * 8 = k: 500; b * 2 = k: 500; c = k: ok",    "c",                 "c/k"),
    ("a * 1 = k: 500; b * 0 = k:; c = k: ok",        "c",                 "c/k"),
];

#[tokio::test]
async fn calls_are_answered_as_in_the_table() {
    for (script, events, expected) in TABLE {
        let routes = Routes::parse(script);
        let answered_by = play(&routes, events).await;
        println!("{script:<46} {events:<22} {}", answered_by.join(", "));
        let expected: Vec<String> = expected.split_whitespace().map(|who| who.replace('~', " ")).collect();
        assert_eq!(answered_by, expected, "{script}: {events}");
        assert_eq!(routes.unused(), 0, "{script}: {events}: unused steps");
    }
}

fn router(routes: impl IntoIterator<Item = Route>, clock: Arc<dyn Clock>) -> Result<Router, LlmError> {
    let builder = Router::builder(clock, always(0.5));
    routes.into_iter().fold(builder, RouterBuilder::with_route).build()
}

#[tokio::test]
async fn rejects_routes_that_can_never_work() {
    let ok = || provider("a", steps("ok"));
    let check = |routes: Vec<Route>, expected: &str| {
        let error = router(routes, Arc::new(ManualClock::new())).unwrap_err();
        assert_eq!(error.kind(), LlmErrorKind::InvalidRequest);
        assert!(error.message().contains(expected), "{error}");
    };
    check(vec![], "there are no providers");
    check(
        vec![Route::from_keys("a", [])],
        "route `a`: a key pool needs at least one key",
    );
    let twice = [PoolKey::new("k", ok()), PoolKey::new("k", ok())];
    check(vec![Route::from_keys("a", twice)], "two keys have the label `k`");
    check(
        vec![Route::new("a", ok()), Route::new("a", ok())],
        "two routes have the name `a`",
    );
    for weight in [-1.0, f64::NAN, f64::INFINITY] {
        let expected = format!("invalid weight {weight} of `a`");
        check(vec![Route::new("a", ok()).with_weight(weight)], &expected);
    }
    let weightless = |name| Route::new(name, ok()).with_weight(0.0);
    check(
        vec![weightless("a"), weightless("b"), Route::new("c", ok())],
        "all weights of the group that starts with `a` are 0",
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
    let (clock, shared) = manual_clock();
    let keys = ["k1", "k2"].map(|label| PoolKey::new(label, provider("a", steps("ok ok"))));
    let routes = [
        Route::from_keys("a", keys).with_limits(limits),
        Route::new("b", provider("b", steps("ok"))),
    ];
    let router = router(routes, shared).unwrap();
    let mut answered_by = Vec::new();
    for _ in 0..3 {
        answered_by.push(send(&router).await.answered_by());
    }
    clock.advance(seconds(60));
    answered_by.push(send(&router).await.answered_by());
    assert_eq!(answered_by, ["a/k1", "a/k2", "b/default", "a/k1"]);
}

#[tokio::test]
async fn a_call_waits_for_a_limit_if_there_is_no_alternative() {
    let limits = RateLimits::new().with_requests_per_minute(1);
    let jumping = Arc::new(ManualClock::jumping());
    let one = Route::new("a", provider("a", steps("ok ok"))).with_limits(limits.clone());
    let only_key = router([one], Arc::clone(&jumping) as Arc<dyn Clock>).unwrap();
    assert_eq!(send(&only_key).await.notices(), ["by a"]);
    assert_eq!(send(&only_key).await.notices(), ["waiting 60", "by a"]);

    let keys = ["k1", "k2"].map(|label| PoolKey::new(label, provider("a", steps("ok ok"))));
    let two_keys = router([Route::from_keys("a", keys).with_limits(limits)], jumping).unwrap();
    let outcomes = [send(&two_keys).await, send(&two_keys).await, send(&two_keys).await];
    assert_eq!(outcomes.each_ref().map(Outcome::answered_by), ["a/k1", "a/k2", "a/k1"]);
    assert_eq!(outcomes[2].notices(), ["retry 1 in 0", "retry 2 in 60", "by a"]);
}

#[tokio::test]
async fn retry_around_a_router_waits_for_the_first_key() {
    let clock = Arc::new(ManualClock::jumping());
    let routes = Routes::parse("a = k1: 429:40 ok, k2: 429:30 ok");
    let router = routes.router(Arc::clone(&clock) as Arc<dyn Clock>);
    let retry = Retry::new(
        router,
        RetryPolicy::new(),
        Arc::clone(&clock) as Arc<dyn Clock>,
        always(1.0),
    );
    let outcome = send(&retry).await;
    assert_eq!(
        (outcome.answered_by().as_str(), clock.sleeps()),
        ("a/k2", vec![seconds(30)])
    );
    assert_eq!(
        outcome.notices(),
        ["retry 1 in 0", "retry 2 in 30", "by a"],
        "attempts are numbered across layers"
    );
}

#[tokio::test]
async fn the_response_and_the_notices_state_who_answered() {
    let routes = Routes::parse("a = team: 500; b = spare: ok");
    let outcome = send(&routes.router(Arc::new(ManualClock::new()))).await;
    assert_eq!(outcome.notices(), ["retry 1 in 0", "by b"]);
    assert_eq!(outcome.answered_by(), "b/spare");
}

#[tokio::test]
async fn a_stream_that_fails_after_content_can_be_restarted_elsewhere() {
    let policy = FallbackPolicy::new().with_mid_stream(MidStream::Restart);
    let router = Router::builder(Arc::new(ManualClock::new()), always(0.5))
        .with_fallback(policy)
        .with_route(Route::new("a", provider("a", steps("half"))))
        .with_route(Route::new("b", provider("b", steps("ok"))))
        .build()
        .unwrap();
    let outcome = send(&router).await;
    assert_eq!(outcome.response.as_ref().unwrap().text(), "Hi.");
    assert_eq!(outcome.notices(), ["by a", "restarted", "by b"]);
}

#[tokio::test]
async fn saved_state_is_restored_or_rejected_as_a_whole() {
    let routes = Routes::parse("a = k: ok; b = k: ok");
    let router = routes.router(Arc::new(ManualClock::new()));
    // The clock starts at the beginning of 2026.
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
    assert_eq!(router.status()["a"][0].cooldown, None, "nothing was restored");
    assert_eq!(router.import(&state(1)).unwrap(), ["a/old", "c"]);
    assert_eq!(router.status()["a"][0].cooldown, Some(seconds(30)));
    assert_eq!(send(&router).await.answered_by(), "b/k");
    assert!(router.pool("a").unwrap().restore("k"));
    assert_eq!(send(&router).await.answered_by(), "a/k");
    let error = router.pool("x").unwrap_err();
    assert_eq!(error.message(), "there is no route `x`; the routes are: a, b");
}

#[tokio::test]
async fn all_concurrent_calls_are_answered() {
    let routes = Routes::parse("a = k1: 429:5, k2: 429:5; b = k: ok");
    for (_, _, keys) in &routes.0 {
        for (label, provider) in keys {
            let more = if label == "k" { "ok" } else { "429:5" };
            steps(&format!("{more} ").repeat(63))
                .into_iter()
                .for_each(|step| provider.push(step));
        }
    }
    let router = routes.router(Arc::new(ManualClock::new()));
    let outcomes = future::join_all((0..64).map(|_| send(&router))).await;
    assert!(outcomes.iter().all(|outcome| outcome.answered_by() == "b/k"));
    let (_, _, keys) = &routes.0[0];
    let requests: Vec<usize> = keys.iter().map(|(_, provider)| provider.requests().len()).collect();
    assert!(requests.iter().all(|requests| *requests >= 1), "{requests:?}");
    assert!(
        router.status()["a"]
            .iter()
            .all(|key| key.in_flight == 0 && key.cooldown == Some(seconds(5)))
    );
}

#[tokio::test]
async fn the_next_route_gets_the_rest_of_the_deadline() {
    let clock = Arc::new(ManualClock::jumping());
    let raw = RawProvider::new([]);
    let slow = provider("a", [steps("500").remove(0).with_delay(seconds(4))]).with_clock(Arc::clone(&clock) as _);
    let routes = [Route::new("a", slow), Route::new("b", raw.clone())];
    let router = router(routes, clock).unwrap();
    run(&router, Call::new(request()).with_deadline(seconds(10))).await;
    assert_eq!(raw.deadlines(), [Some(seconds(6))]);
}

#[test]
fn builds_a_router_from_settings() {
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
    assert!(!format!("{router:?}").contains("sk-"), "keys are not printed");

    let check = |settings: &str, expected: &str| {
        let error = build(settings).unwrap_err();
        assert!(error.contains(expected), "{error}");
    };
    check(r#"{"routes": []}"#, "there are no providers");
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
        "-1 is not a valid number of seconds",
    );
}

#[test]
fn a_router_can_be_shared_between_tasks() {
    fn check<T: LlmProvider + Clone + 'static>() {}
    check::<Router>();
    let _: KeyPoolPolicy = serde_json::from_str("{}").unwrap();
}

#[tokio::test]
async fn the_rule_of_a_router_decides_which_failures_go_on() {
    let router = |rule: fn(&LlmError) -> bool| {
        Router::builder(Arc::new(ManualClock::new()), always(0.5))
            .with_route(Route::new("a", provider("a", steps("400"))))
            .with_route(Route::new("b", provider("b", steps("ok"))))
            .with_rule(rule)
            .build()
            .unwrap()
    };
    let goes_on = router(|error| error.kind() == LlmErrorKind::InvalidRequest);
    assert_eq!(send(&goes_on).await.answered_by(), "b/default");
    assert_eq!(
        send(&router(LlmError::is_retryable)).await.answered_by(),
        "InvalidRequest"
    );
}

#[tokio::test]
async fn routes_adapt_requests_as_the_router_or_they_themselves_say() {
    for (router, route, is_adapted) in [
        (false, None, false),
        (true, None, true),
        (true, Some(false), false),
        (false, Some(true), true),
    ] {
        let refusal = error(LlmErrorKind::InvalidRequest).with_unsupported(Unsupported::new("seed"));
        let model = provider("a", [ScriptStep::error(refusal), ScriptStep::text("Hi.")]);
        let limits = RateLimits::new().with_requests_per_minute(1).with_max_wait(seconds(0));
        let mut only = Route::new("a", model.clone())
            .with_limits(limits)
            .with_request_map(|request| request.user = Some("mapped".into()));
        if let Some(adapted) = route {
            only = only.with_adapted_requests(adapted);
        }
        let router = Router::builder(Arc::new(ManualClock::new()), always(0.5))
            .with_adapted_requests(router)
            .with_route(only)
            .build()
            .unwrap();
        let mut request = request();
        request.seed = Some(7);
        let outcome = run(&router, Call::new(request)).await;
        let expected = if is_adapted { "a/default" } else { "InvalidRequest" };
        assert_eq!(outcome.answered_by(), expected);
        assert!(
            model
                .requests()
                .iter()
                .all(|sent| sent.user.as_deref() == Some("mapped"))
        );

        let outcome = send(&router).await;
        let expected = if is_adapted { "RateLimit" } else { "a/default" };
        assert_eq!(
            outcome.answered_by(),
            expected,
            "a refusal is not sent, so it does not count"
        );
    }
}

#[cfg(feature = "openai-chat")]
#[tokio::test]
async fn settings_decide_whether_requests_are_adapted() {
    let settings = |router: &str, route: &str| {
        let provider = r#"{"type": "zhipu", "base_url": "http://127.0.0.1:1", "model": "glm"}"#;
        let text = format!(r#"{{"routes": [{{"provider": {provider}{route}}}]{router}}}"#);
        let config: RouterConfig = serde_json::from_str(&text).unwrap();
        config.build(Arc::new(ManualClock::new()), always(0.5)).unwrap()
    };
    for (router, route, is_adapted) in [
        ("", "", false),
        (r#", "adapt_requests": true"#, "", true),
        (r#", "adapt_requests": true"#, r#", "adapt_requests": false"#, false),
        ("", r#", "adapt_requests": true"#, true),
    ] {
        let mut request = request();
        request.seed = Some(7);
        let error = settings(router, route).chat(request).await.unwrap_err();
        // An adapted request reaches the connection, which nothing accepts.
        assert_eq!(error.is_unsupported(), !is_adapted, "{router} {route}: {error}");
    }
}
