//! A router: two keys of one vendor, and a second vendor as a fallback.
//!
//! A key that hits a rate limit cools down while the other one is used, and a vendor that fails is skipped. The cooldowns are
//! saved and restored, as across a restart. The first vendor is a mock server on loopback that fails on purpose.
//!
//! Run it: `cargo run --example fallback`. With a real model, as the [README](README.md) describes, that model is the second
//! vendor.

use std::{error::Error, sync::Arc};

use agcore::{
    ChatRequest, LlmError, LlmProvider, LlmProviderExt, Message,
    llm::{
        LlmErrorKind, ProviderConfig, SystemClock,
        layer::{
            failures::Failures,
            key_pool::PoolKey,
            rate_limit::RateLimits,
            router::{Route, Router, RouterState},
        },
        system_random,
    },
};
use agcore_testkit::{
    mock_server::{ApiError, MockServer, Reply, Script},
    scripted::{ScriptStep, ScriptedProvider},
};

fn router(first: &MockServer, second: Arc<dyn LlmProvider>) -> Result<Router, Box<dyn Error>> {
    let openai = |key: &str| -> Result<Arc<dyn LlmProvider>, LlmError> {
        let config = ProviderConfig::parse("openai:gpt-5-mini")?.with_base_url(first.base_url());
        config.with_api_key(key).build()
    };
    let keys = [
        PoolKey::new("team", openai("sk-team")?),
        PoolKey::new("spare", openai("sk-spare")?),
    ];
    let limits = RateLimits::new().with_requests_per_minute(500);
    Ok(Router::builder(SystemClock::shared(), system_random())
        .with_route(Route::from_keys("openai", keys).with_limits(limits))
        .with_route(Route::new("second", second))
        .build()?)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let first = MockServer::start(failing_vendor()).await?;
    let second = agcore_examples::model(offline())?;

    // The key `team` hits a rate limit. `spare` takes over at once.
    let router = router(&first, second.clone())?;
    ask(&router, "What is the capital of France?").await?;
    let is_cooling_down = router.status()["openai"][0].cooldown.is_some();
    println!("the key `team` cools down: {is_cooling_down}");

    // The first vendor is down.
    ask(&router, "What is the capital of Spain?").await?;

    // The program restarts. The saved state contains labels and times, but no keys.
    let saved = serde_json::to_string(&router.export())?;
    let router = self::router(&first, second)?;
    router.import(&serde_json::from_str::<RouterState>(&saved)?)?;
    ask(&router, "What is the capital of Italy?").await?;

    // Both vendors fail, for different reasons.
    let refused = LlmError::new(LlmErrorKind::Authentication, "the key is unknown");
    let router = self::router(&first, Arc::new(ScriptedProvider::new([ScriptStep::error(refused)])))?;
    if let Err(error) = ask(&router, "What is the capital of Peru?").await {
        println!("failed, retryable: {}", error.is_retryable());
        for failure in Failures::from_error(&error).into_iter().flat_map(Failures::iter) {
            println!("  {}: {}", failure.name, failure.error);
        }
    }
    Ok(())
}

/// Prints the answer and who gave it.
async fn ask(router: &Router, question: &str) -> Result<(), LlmError> {
    let response = router.chat(ChatRequest::new([Message::user(question)])).await?;
    println!("{}", response.text());
    if let Some(by) = response.answered_by {
        println!(
            "  answered by {}, with the key `{}`",
            by.provider,
            by.key.unwrap_or_default()
        );
    }
    Ok(())
}

/// The first vendor: one rate limit, and it is down for the second and the last question.
fn failing_vendor() -> Script {
    Script::new([
        Reply::error(ApiError::new(429).with_retry_after("60")),
        Reply::text("Paris."),
        Reply::error(ApiError::new(503)),
        Reply::text("Rome."),
        Reply::error(ApiError::new(503)),
        Reply::error(ApiError::new(503)),
    ])
}

/// The second vendor that is used without `AGCORE_MODEL`.
fn offline() -> ScriptedProvider {
    ScriptedProvider::new([ScriptStep::text("Madrid.")])
}
