//! A router: two keys of one vendor, and a second vendor as a fallback.
//!
//! A key that hits a rate limit cools down while the other one is used, and a vendor that fails is skipped. The cooldowns are
//! saved and restored, as across a restart. The vendors are mock servers on loopback.
//!
//! Run it: `cargo run -p agcore-examples --example fallback`.

#![expect(clippy::print_stdout, reason = "an example prints what it does")]

use std::{error::Error, sync::Arc};

use agcore::{
    ChatRequest, LlmProvider, LlmProviderExt, Message,
    llm::{
        ProviderConfig, SystemClock,
        layer::{
            failures::Failures,
            key_pool::PoolKey,
            rate_limit::RateLimits,
            router::{Route, Router, RouterState},
        },
        system_random,
    },
};
use agcore_testkit::mock_server::{ApiError, MockServer, Reply, Script};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let first = MockServer::start(Script::new([
        Reply::error(ApiError::new(429).with_retry_after("60")),
        Reply::text("Paris."),
        Reply::error(ApiError::new(503)),
        Reply::text("Rome."),
        Reply::error(ApiError::new(503)),
    ]))
    .await?;
    let second = MockServer::start(Script::new([
        Reply::text("Madrid."),
        Reply::error(ApiError::new(401).with_message("Unknown key.")),
    ]))
    .await?;

    // The first call uses the key `team`, which hits a rate limit. `spare` takes over at once.
    let router = router(&first, &second)?;
    assert_eq!(ask(&router, "the capital of France").await?, "openai/spare");
    assert!(router.status()["openai"][0].cooldown.is_some());

    // The first vendor is down.
    assert_eq!(ask(&router, "the capital of Spain").await?, "deepseek/default");

    // The program restarts. The saved state contains labels and times, but no keys.
    let saved = serde_json::to_string(&router.export())?;
    println!("saved         {saved}");
    let router = self::router(&first, &second)?;
    let unknown = router.import(&serde_json::from_str::<RouterState>(&saved)?)?;
    assert!(unknown.is_empty(), "every label still belongs to a key");
    assert_eq!(ask(&router, "the capital of Italy").await?, "openai/spare");

    // Both vendors fail, for different reasons.
    let request = ChatRequest::new([Message::user("What is the capital of Peru?")]);
    let Err(error) = router.chat(request).await else {
        return Err("both vendors should fail".into());
    };
    println!("failed        {:?}, retryable: {}", error.kind(), error.is_retryable());
    let failures = Failures::from_error(&error).ok_or("the error should contain the failures of both vendors")?;
    for failure in failures.iter() {
        println!("  {:11} {}", failure.name, failure.error);
    }
    assert_eq!((failures.len(), error.is_retryable()), (2, true));

    // `team` was used once and then left alone.
    let keys: Vec<_> = first.shutdown().await.iter().map(key).collect();
    assert_eq!(keys, ["sk-team", "sk-spare", "sk-spare", "sk-spare", "sk-spare"]);
    assert_eq!(second.shutdown().await.len(), 2);
    Ok(())
}

fn router(first: &MockServer, second: &MockServer) -> Result<Router, Box<dyn Error>> {
    let provider = |name: &str, server: &MockServer, key: &str| -> Result<Arc<dyn LlmProvider>, Box<dyn Error>> {
        let config = ProviderConfig::parse(name)?.with_base_url(server.base_url());
        Ok(config.with_api_key(key).build()?)
    };
    let openai = |key| provider("openai:gpt-5-mini", first, key);
    let keys = [
        PoolKey::new("team", openai("sk-team")?),
        PoolKey::new("spare", openai("sk-spare")?),
    ];
    let limits = RateLimits::new().with_requests_per_minute(500);
    Ok(Router::builder(Arc::new(SystemClock::new()), system_random())
        .with_route(Route::from_keys("openai", keys).with_limits(limits))
        .with_route(Route::new(
            "deepseek",
            provider("deepseek:deepseek-chat", second, "sk-other")?,
        ))
        .build()?)
}

/// Asks a question, prints the answer, and returns who answered.
async fn ask(router: &Router, what: &str) -> Result<String, Box<dyn Error>> {
    let request = ChatRequest::new([Message::user(format!("What is {what}?"))]);
    let response = router.chat(request).await?;
    let who = response.answered_by.clone().ok_or("a router reports who answered")?;
    let key = who.key.unwrap_or_default();
    println!("{:13} {} ({}, key {key})", who.provider, response.text(), who.model);
    Ok(format!("{}/{key}", who.provider))
}

/// Returns the key of a request.
fn key(request: &agcore_testkit::mock_server::RecordedRequest) -> String {
    let header = request.header("authorization").unwrap_or_default();
    header.trim_start_matches("Bearer ").to_owned()
}
