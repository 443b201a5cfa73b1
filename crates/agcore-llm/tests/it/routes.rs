//! The routes that a call may take, through every layer.

use std::sync::Arc;

use agcore_llm::{
    Call, Capabilities, LlmProvider, LlmProviderExt, ProviderInfo, ProviderRoute, SystemClock,
    layer::{
        breaker::{Breaker, BreakerPolicy},
        fallback::{Candidate, Fallback, FallbackPolicy},
        key_pool::{KeyPool, KeyPoolPolicy, PoolKey},
        rate_limit::{RateLimit, RateLimits},
        retry::{Retry, RetryPolicy},
        router::{Route, Router},
        trace::Trace,
    },
    system_random,
};
use agcore_testkit::scripted::ScriptedProvider;

use crate::support::{always, manual_clock, provider, request, run, steps};

/// Writes routes as `provider:model/key`.
fn routes(provider: &impl LlmProvider, model: &str) -> Vec<String> {
    let route = |route: &ProviderRoute<'_>| {
        let key = route.key.map(|key| format!("/{key}")).unwrap_or_default();
        format!("{}:{}{key}", route.provider, route.model)
    };
    provider.routes(model).iter().map(route).collect()
}

fn pool(name: &str, labels: [&str; 2]) -> KeyPool {
    let keys = labels.map(|label| PoolKey::new(label, provider(name, steps("ok"))));
    KeyPool::new(keys, KeyPoolPolicy::new(), Arc::new(SystemClock::new())).unwrap()
}

fn fallback(candidates: impl IntoIterator<Item = Candidate>) -> Fallback {
    let (_, clock) = manual_clock();
    Fallback::new(candidates, FallbackPolicy::new(), clock, always(0.5)).unwrap()
}

#[test]
fn a_provider_has_one_route_with_the_model_of_the_request() {
    let a = provider("a", steps("ok"));
    assert_eq!(routes(&a, ""), ["a:a-1"]);
    assert_eq!(routes(&a, "large-2"), ["a:large-2"]);
    assert_eq!(routes(&(Arc::new(a) as Arc<dyn LlmProvider>), ""), ["a:a-1"]);
}

#[test]
fn layers_around_one_provider_pass_its_routes_through() {
    let clock = || Arc::new(SystemClock::new());
    let limited = RateLimit::new(pool("a", ["team", "spare"]), RateLimits::new(), clock()).unwrap();
    let guarded = Breaker::new(limited, BreakerPolicy::new(), clock()).unwrap();
    let retried = Retry::new(guarded, RetryPolicy::new(), clock(), system_random());
    let traced = Trace::new(retried, clock());
    assert_eq!(routes(&traced, ""), ["a:a-1/team", "a:a-1/spare"]);
    assert_eq!(routes(&traced, "large-2"), ["a:large-2/team", "a:large-2/spare"]);
}

#[test]
fn a_fallback_lists_all_candidates_that_receive_calls() {
    let all = fallback([
        Candidate::new(pool("a", ["team", "spare"])),
        Candidate::new(provider("b", [])).with_model("small-2"),
        Candidate::new(provider("c", [])).with_weight(1.0),
        Candidate::new(provider("d", [])).with_weight(0.0),
    ]);
    assert_eq!(routes(&all, ""), ["a:a-1/team", "a:a-1/spare", "b:small-2", "c:c-1"]);
    assert_eq!(routes(&all, "x"), ["a:x/team", "a:x/spare", "b:small-2", "c:x"]);

    let outer = fallback([Candidate::new(all).with_model("y"), Candidate::new(provider("e", []))]);
    assert_eq!(
        routes(&outer, "x"),
        ["a:y/team", "a:y/spare", "b:small-2", "c:y", "e:x"]
    );
}

#[tokio::test]
async fn the_route_that_answers_is_one_of_those_listed() {
    let (_, clock) = manual_clock();
    for down in [0, 1, 2, 3] {
        let script = |at: usize| steps(if at < down { "429:20" } else { "ok" });
        let keys = [
            PoolKey::new("team", provider("a", script(0))),
            PoolKey::new("spare", provider("a", script(1))),
        ];
        let router = Router::builder(Arc::clone(&clock), always(0.5))
            .with_route(Route::from_keys("main", keys).with_model("large-2"))
            .with_route(Route::new("second", provider("b", script(2))))
            .with_route(Route::new("third", provider("c", script(3))))
            .build()
            .unwrap();
        let retried = Retry::new(router, RetryPolicy::never(), Arc::clone(&clock), always(0.0));
        let listed = routes(&retried, "asked");
        assert_eq!(
            listed,
            [
                "a:large-2/team",
                "a:large-2/spare",
                "b:asked/default",
                "c:asked/default"
            ]
        );
        let outcome = run(&retried, Call::new(request().with_model("asked"))).await;
        let who = outcome.response.unwrap().answered_by.unwrap();
        let answered_by = format!("{}:{}/{}", who.provider, who.model, who.key.unwrap());
        assert_eq!(answered_by, listed[down]);
    }
}

#[test]
fn common_capabilities_are_those_of_every_route() {
    let with = |name: &str, window, change: fn(&mut Capabilities)| {
        let mut capabilities = Capabilities::default().with_context_window(window);
        change(&mut capabilities);
        let info = ProviderInfo::new(name, "m").with_capabilities(capabilities);
        Candidate::new(ScriptedProvider::new([]).with_info(info))
    };
    let all = fallback([
        with("a", 100, |_| {}),
        with("b", 50, |capabilities| capabilities.json_schema = false),
        with("c", 70, |capabilities| capabilities.files = false),
    ]);
    let common = all.common_capabilities();
    assert!(!common.json_schema && !common.files && common.tools && common.json_object);
    assert_eq!(common.context_window, Some(50));
    assert!(
        all.capabilities().json_schema,
        "its own description is that of the first"
    );
    assert_eq!(provider("a", []).common_capabilities(), Capabilities::default());
}
