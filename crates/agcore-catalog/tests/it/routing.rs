//! Providers of a catalog against the mock server: grants, limits, meters, fallbacks, and replacement under load.
#![cfg(feature = "router")]

use std::{collections::BTreeMap, sync::Arc};

use agcore_catalog::{Catalog, CatalogDocument, CatalogProvider, CatalogRouter, Format, RoutingOptions};
use agcore_chat::{Actor, ChatRequest, ChatResponse, Message, PriceQuery, Usage};
use agcore_llm::{Call, LlmError, LlmErrorKind, LlmProviderExt, SystemClock, credential::Secret, system_random};
use agcore_testkit::mock_server::{ApiError, MockServer, RecordedRequest, Reply};
use futures_util::future::join_all;

/// Finds every key except those whose name contains `MISSING`.
fn options() -> RoutingOptions {
    let resolver = |name: &str| (!name.contains("MISSING")).then(|| Secret::from(format!("sk-{name}")));
    RoutingOptions::new(Arc::new(SystemClock::new()), system_random(), resolver)
}

fn catalog(text: &str) -> Catalog {
    Catalog::parse("test.yaml", Format::Yaml, text).unwrap_or_else(|error| panic!("{error}"))
}

/// Returns a catalog with one vendor at the server, with these rows of keys and models.
fn vendor(server: &MockServer, keys: &str, models: &str) -> String {
    format!(
        "vendors:\n- name: mock\n  endpoints: [{{name: chat, api: compatible, base_url: '{}', kinds: [text]}}]\n  \
         keys: [{keys}]\n  models: [{models}]\n",
        server.base_url()
    )
}

async fn echo() -> MockServer {
    MockServer::start(|request: &RecordedRequest| Reply::text(format!("You wrote: {}", request.prompt().last_user())))
        .await
        .unwrap()
}

async fn ask(provider: &CatalogProvider, actor: Actor, text: &str) -> Result<ChatResponse, LlmError> {
    let request = ChatRequest::new([Message::user(text)]);
    provider.chat_call(Call::new(request).with_actor(actor)).await
}

/// Returns the number of requests for each key.
fn requests_by_key(server: &MockServer) -> BTreeMap<String, u64> {
    let mut counts = BTreeMap::new();
    for request in server.requests() {
        let key = request
            .header("authorization")
            .unwrap()
            .trim_start_matches("Bearer sk-")
            .to_owned();
        *counts.entry(key).or_default() += 1;
    }
    counts
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn meters_of_three_keys_equal_the_counts_of_the_server() {
    let server = echo().await;
    let key = |name: &str| format!("{{name: {name}, secret: '${{{name}}}', users: ['*'], requests_per_minute: 30}}");
    let keys = ["A", "B", "C"].map(key).join(", ");
    let router = CatalogRouter::new(catalog(&vendor(&server, &keys, "{name: m}")), options()).unwrap();
    let provider = router.provider("m").unwrap();
    let calls = (0..64).map(|number| {
        let provider = provider.clone();
        tokio::spawn(async move {
            ask(&provider, Actor::user(format!("user-{number}")), "Hi")
                .await
                .unwrap()
        })
    });
    let mut tokens = BTreeMap::<String, (u64, u64)>::new();
    for response in join_all(calls).await {
        let response = response.unwrap();
        let (key, usage) = (response.answered_by.unwrap().key.unwrap(), response.usage.unwrap());
        let sum = tokens.entry(key.to_string()).or_default();
        sum.0 += usage.prompt_tokens.unwrap();
        sum.1 += usage.completion_tokens.unwrap();
    }
    let counts = requests_by_key(&server);
    assert_eq!(counts.values().sum::<u64>(), 64);
    assert_eq!(counts.len(), 3, "{counts:?}");
    for usage in router.key_usage() {
        assert!(usage.requests <= 30 && usage.is_available, "{usage:?}");
        assert_eq!(usage.requests, counts[&usage.key]);
        assert_eq!(usage.replies_with_usage, usage.requests);
        assert_eq!((usage.prompt_tokens, usage.completion_tokens), tokens[&usage.key]);
    }
}

#[tokio::test]
async fn a_call_gets_only_keys_that_are_granted_to_its_actor() {
    let server = echo().await;
    let keys = "{name: A, secret: '${A}', users: [ann]}, {name: B, secret: '${B}', lines: [support]}, \
                {name: C, secret: '${MISSING_C}', users: [tim]}";
    let router = CatalogRouter::new(catalog(&vendor(&server, keys, "{name: m}")), options()).unwrap();
    let provider = router.provider("m").unwrap();
    for _ in 0..3 {
        ask(&provider, Actor::user("ann"), "Hi").await.unwrap();
        ask(&provider, Actor::user("bob").with_line("support"), "Hi")
            .await
            .unwrap();
    }
    assert_eq!(
        requests_by_key(&server),
        BTreeMap::from([("A".to_owned(), 3), ("B".to_owned(), 3)])
    );
    let refused = ask(&provider, Actor::user("bob"), "Hi").await.unwrap_err();
    assert_eq!(refused.kind(), LlmErrorKind::Permission);
    assert!(refused.message().contains("is granted to local/bob"), "{refused}");
    let missing = ask(&provider, Actor::user("tim"), "Hi").await.unwrap_err();
    assert_eq!(missing.kind(), LlmErrorKind::Authentication);
    assert!(missing.message().contains("set MISSING_C"), "{missing}");
    assert_eq!(server.requests().len(), 6);
    assert_eq!(
        router
            .key_usage()
            .iter()
            .map(|usage| usage.is_available)
            .collect::<Vec<_>>(),
        [true, true, false]
    );
    assert!(!format!("{router:?} {provider:?} {:?}", router.key_usage()).contains("sk-"));
}

#[tokio::test]
async fn a_limited_key_is_followed_by_the_next() {
    let server = echo().await;
    let keys =
        "{name: A, secret: '${A}', users: ['*'], requests_per_minute: 1}, {name: B, secret: '${B}', users: ['*']}";
    let router = CatalogRouter::new(catalog(&vendor(&server, keys, "{name: m}, {name: n}")), options()).unwrap();
    // The limit belongs to the key, so both models share it.
    let (m, n) = (router.provider("m").unwrap(), router.provider("n").unwrap());
    for provider in [&m, &n, &m, &n] {
        ask(provider, Actor::user("ann"), "Hi").await.unwrap();
    }
    assert_eq!(
        requests_by_key(&server),
        BTreeMap::from([("A".to_owned(), 1), ("B".to_owned(), 3)])
    );
}

#[tokio::test]
async fn fallbacks_are_priced_by_the_model_that_answered() {
    let server = MockServer::start(|request: &RecordedRequest| match request.json()["model"].as_str() {
        Some("vendor-first") => Reply::error(ApiError::new(500)),
        _ => Reply::text("Hi."),
    })
    .await
    .unwrap();
    let price = |rate: &str| format!("[{{currency: CNY, tiers: [{{input: {rate}, output: {rate}}}]}}]");
    let models = format!(
        "{{name: first, vendor_name: vendor-first, fallbacks: [second], prices: {}}}, {{name: second, prices: {}}}",
        price("1"),
        price("7")
    );
    let router = CatalogRouter::new(
        catalog(&vendor(&server, "{name: A, secret: '${A}', users: ['*']}", &models)),
        options(),
    )
    .unwrap();
    let provider = router.provider("first").unwrap();
    let routes: Vec<String> = provider.routes("").iter().map(|route| route.model.to_owned()).collect();
    assert_eq!(routes, ["vendor-first", "second"]);
    let response = ask(&provider, Actor::user("ann"), "Hi").await.unwrap();
    let by = response.answered_by.unwrap();
    assert_eq!((&*by.provider, &*by.model), ("mock", "second"));
    let usage = Usage::new(1_000_000, 0);
    let query = PriceQuery::new(&by.model, &usage, std::time::SystemTime::UNIX_EPOCH).with_provider(&by.provider);
    assert_eq!(
        router.price_fn()(&query).unwrap().money().unwrap().to_string(),
        "7.000000 CNY"
    );
    assert_eq!(router.provider("third").unwrap_err().kind(), LlmErrorKind::NotFound);
}

#[tokio::test]
async fn what_cannot_be_built_is_an_error_and_the_old_catalog_stays() {
    let server = echo().await;
    let text = vendor(&server, "{name: A, secret: '${A}', users: ['*']}", "{name: m}");
    let router = CatalogRouter::new(catalog(&text), options()).unwrap();
    let provider = router.provider("m").unwrap();
    let source = |text: String| CatalogDocument::new("new.yaml", Format::Yaml, move || Ok(text.clone()));
    let unknown = router
        .reload(&source(text.replace("compatible", "compatibel")))
        .await
        .unwrap_err();
    assert!(unknown.to_string().contains("compatibel"), "{unknown}");
    let wrong = router.reload(&source(text.replace("['*']", "[]"))).await.unwrap_err();
    assert!(wrong.to_string().contains("new.yaml:4:"), "{wrong}");
    ask(&provider, Actor::user("ann"), "Hi").await.unwrap();
    // A model that no longer exists fails at its next call, and works again when it is back.
    router
        .reload(&source(text.replace("name: m}", "name: n}")))
        .await
        .unwrap();
    assert_eq!(
        ask(&provider, Actor::user("ann"), "Hi").await.unwrap_err().kind(),
        LlmErrorKind::NotFound
    );
    router.reload(&source(text)).await.unwrap();
    ask(&provider, Actor::user("ann"), "Hi").await.unwrap();
    assert_eq!(router.key_usage()[0].requests, 2);
}

/// Two catalogs that differ in everything are exchanged while calls run: no call mixes them, and none is lost.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_call_sees_half_a_catalog() {
    let server = echo().await;
    let text = |name: &str| {
        let key = format!("{{name: {name}, secret: '${{{name}}}', users: ['*']}}");
        vendor(&server, &key, &format!("{{name: m, vendor_name: model-{name}}}"))
    };
    let texts = ["OLD", "NEW"].map(text);
    let router = CatalogRouter::new(catalog(&texts[0]), options()).unwrap();
    let provider = router.provider("m").unwrap();
    let calls: Vec<_> = (0..1_000)
        .map(|number: usize| {
            let provider = provider.clone();
            tokio::spawn(async move { ask(&provider, Actor::user("ann"), &format!("call {number}")).await })
        })
        .collect();
    for round in 0..40 {
        router.replace(catalog(&texts[(round + 1) % 2])).unwrap();
        tokio::task::yield_now().await;
    }
    for (number, response) in join_all(calls).await.into_iter().enumerate() {
        assert_eq!(response.unwrap().unwrap().text(), format!("You wrote: call {number}"));
    }
    let requests = server.requests();
    assert_eq!(requests.len(), 1_000);
    for request in requests {
        let key = request
            .header("authorization")
            .unwrap()
            .trim_start_matches("Bearer sk-");
        assert_eq!(request.json()["model"], format!("model-{key}"));
    }
    // A key that comes back continues to count.
    let counts = requests_by_key(&server);
    for (name, text) in ["OLD", "NEW"].iter().zip(&texts) {
        router.replace(catalog(text)).unwrap();
        assert_eq!(router.key_usage()[0].requests, counts.get(*name).copied().unwrap_or(0));
    }
}
