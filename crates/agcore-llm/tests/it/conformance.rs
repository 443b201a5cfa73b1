//! The conformance suite for the chat wire over HTTP in every dialect, for the scripted provider, and for retries
//! around them.

use std::sync::Arc;

use agcore_llm::{
    LlmError, LlmProvider, ProviderConfig,
    dialect::ALL,
    layer::retry::{Retry, RetryPolicy},
};
use agcore_testkit::{
    clock::ManualClock,
    conformance::{Behavior, Grid, ScriptSubject, ServerSubject, Subject, Suite},
    mock_server::MockServer,
};

fn openai(server: &MockServer) -> Result<Arc<dyn LlmProvider>, LlmError> {
    connect("openai", server)
}

fn connect(dialect: &str, server: &MockServer) -> Result<Arc<dyn LlmProvider>, LlmError> {
    ProviderConfig::parse(&format!("{dialect}:mock-model"))?
        .with_base_url(server.base_url())
        .build()
}

/// Wraps a provider with retries, on a clock that skips every wait.
fn retry(inner: Arc<dyn LlmProvider>) -> Arc<dyn LlmProvider> {
    let clock = Arc::new(ManualClock::jumping());
    Arc::new(Retry::new(inner, RetryPolicy::new(), clock, Arc::new(|| 0.5)))
}

async fn grid(subject: impl Subject) -> Grid {
    Suite::new().run(&subject).await
}

#[tokio::test]
async fn the_chat_wire_conforms() {
    let grid = grid(ServerSubject::new("chat wire over HTTP", openai)).await;
    grid.assert_passed();
    assert_eq!(grid.skips().count(), 0, "{grid}");
}

/// Returns the behaviors that depend on the dialect: requests, replies and refusals.
fn dialect_behaviors() -> impl Iterator<Item = Behavior> {
    let depends_on_dialect = |behavior: &Behavior| {
        let name = behavior.to_string();
        ["answer", "calls", "reasoning", "refused", "request"]
            .iter()
            .any(|group| name.starts_with(group))
    };
    Behavior::ALL.iter().copied().filter(depends_on_dialect)
}

#[tokio::test]
async fn every_dialect_conforms() {
    let suite = Suite::new().with_behaviors(dialect_behaviors());
    for dialect in ALL {
        let dialect = dialect();
        let name = dialect.name.clone();
        let mut subject = ServerSubject::new(&*dialect.name, move |server| connect(&name, server));
        if !dialect.streaming.usage_option {
            let reason = "it does not request usage, which the vendor always reports and the mock server does not";
            subject = subject
                .with_skip(Behavior::UsageDetails, reason)
                .with_skip(Behavior::SameInBothForms, reason);
        }
        suite.run(&subject).await.assert_passed();
    }
}

#[tokio::test]
async fn retries_around_the_chat_wire_conform() {
    let connect = |server: &MockServer| openai(server).map(retry);
    grid(ServerSubject::new("retry around the chat wire", connect))
        .await
        .assert_passed();
}

#[tokio::test]
async fn retries_around_a_script_conform() {
    let around = grid(ScriptSubject::new("retry around scripted").with_layer(retry)).await;
    around.assert_passed();
    let alone = grid(ScriptSubject::new("scripted")).await;
    assert_eq!(around.cells(), alone.cells(), "the layer changes nothing");
}

#[cfg(feature = "ollama")]
#[tokio::test]
async fn the_ollama_wire_conforms() {
    use agcore_chat::FaultKind;

    let connect = |server: &MockServer| {
        ProviderConfig::parse("ollama-native:mock-model")?
            .with_base_url(format!("{}/api", server.root_url()))
            .build()
    };
    let no_code = "errors of the API have a message, but no code that identifies this kind";
    let subject = ServerSubject::new("Ollama wire over HTTP", connect)
        .with_skip(Behavior::Refusal, "the API returns refusals as text")
        .with_skip(
            Behavior::UsageDetails,
            "the API does not count reasoning tokens separately",
        )
        .with_skip(Behavior::Refused(FaultKind::ContentFilter), no_code)
        .with_skip(Behavior::Refused(FaultKind::InvalidToolCall), no_code);
    grid(subject).await.assert_passed();
}

#[cfg(feature = "bedrock")]
#[tokio::test]
async fn the_bedrock_wire_conforms() {
    use agcore_chat::FaultKind;

    let connect = |server: &MockServer| {
        ProviderConfig::parse("bedrock:mock-model")?
            .with_base_url(server.root_url())
            .build()
    };
    let no_code = "errors of the API have a name, but none that identifies this kind";
    let subject = ServerSubject::new("Bedrock wire over HTTP", connect)
        .with_skip(Behavior::Refusal, "the API returns refusals as text")
        .with_skip(
            Behavior::UsageDetails,
            "the API does not count reasoning tokens separately",
        )
        .with_skip(Behavior::Refused(FaultKind::ContentFilter), no_code)
        .with_skip(Behavior::Refused(FaultKind::InvalidToolCall), no_code);
    grid(subject).await.assert_passed();
}

#[cfg(feature = "gemini")]
#[tokio::test]
async fn the_gemini_wire_conforms() {
    let connect = |server: &MockServer| {
        ProviderConfig::parse("gemini-native:mock-model")?
            .with_base_url(server.root_url())
            .build()
    };
    let subject = ServerSubject::new("Gemini wire over HTTP", connect)
        .with_skip(Behavior::Refusal, "the API returns refusals as text")
        .with_skip(
            Behavior::EmptyAnswer,
            "an answer without a token is a fault of the models, and may be repeated",
        );
    grid(subject).await.assert_passed();
}

#[cfg(feature = "anthropic")]
#[tokio::test]
async fn the_anthropic_wire_conforms() {
    use agcore_chat::FaultKind;

    let connect = |server: &MockServer| {
        ProviderConfig::parse("anthropic:mock-model")?
            .with_base_url(server.base_url())
            .build()
    };
    let no_code = "errors of the API have a type, but no code that identifies this kind";
    let subject = ServerSubject::new("Anthropic wire over HTTP", connect)
        .with_skip(Behavior::Refused(FaultKind::ContentFilter), no_code)
        .with_skip(Behavior::Refused(FaultKind::InvalidToolCall), no_code);
    grid(subject).await.assert_passed();
}

#[cfg(feature = "openai-responses")]
#[tokio::test]
async fn the_responses_wire_conforms() {
    let connect = |server: &MockServer| {
        ProviderConfig::parse("openai-responses:mock-model")?
            .with_base_url(server.base_url())
            .build()
    };
    let grid = grid(ServerSubject::new("Responses wire over HTTP", connect)).await;
    grid.assert_passed();
    assert_eq!(grid.skips().count(), 0, "{grid}");
}
