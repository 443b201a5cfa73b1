//! Prints the conformance grids of agcore's own providers side by side: the APIs over HTTP, retries around Chat
//! Completions, and the scripted provider. The tests assert on the same grids.
#![expect(clippy::print_stdout, reason = "this program prints the grid")]

use std::sync::Arc;

use agcore_chat::FaultKind;
use agcore_llm::{
    LlmError, LlmProvider, ProviderConfig,
    layer::retry::{Retry, RetryPolicy},
};
use agcore_testkit::{
    clock::ManualClock,
    conformance::{Behavior, ScriptSubject, ServerSubject, SideBySide, Subject, Suite},
    mock_server::MockServer,
};

const NO_CODE: &str = "the API's errors have no code for it";

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let openai = |server: &MockServer| connect("openai", server.base_url());
    let subjects: [&dyn Subject; 8] = [
        &ServerSubject::new("chat", openai),
        &ServerSubject::new("responses", |server| connect("openai-responses", server.base_url())),
        &ServerSubject::new("anthropic", |server| connect("anthropic", server.base_url()))
            .with_skip(Behavior::Refused(FaultKind::ContentFilter), NO_CODE)
            .with_skip(Behavior::Refused(FaultKind::InvalidToolCall), NO_CODE),
        &ServerSubject::new("ollama", |server| {
            connect("ollama-native", format!("{}/api", server.root_url()))
        })
        .with_skip(Behavior::Refusal, "the API reports refusals as text")
        .with_skip(Behavior::UsageDetails, "the API does not count reasoning separately")
        .with_skip(Behavior::Refused(FaultKind::ContentFilter), NO_CODE)
        .with_skip(Behavior::Refused(FaultKind::InvalidToolCall), NO_CODE),
        &ServerSubject::new("bedrock", |server| connect("bedrock", server.root_url()))
            .with_skip(Behavior::Refusal, "the API reports refusals as text")
            .with_skip(Behavior::UsageDetails, "the API does not count reasoning separately")
            .with_skip(Behavior::Refused(FaultKind::ContentFilter), NO_CODE)
            .with_skip(Behavior::Refused(FaultKind::InvalidToolCall), NO_CODE),
        &ServerSubject::new("gemini", |server| connect("gemini-native", server.root_url()))
            .with_skip(Behavior::Refusal, "the API reports refusals as text")
            .with_skip(
                Behavior::EmptyAnswer,
                "an answer without a token is a fault of the models",
            ),
        &ServerSubject::new("retry", move |server| openai(server).map(retry)),
        &ScriptSubject::new("scripted"),
    ];
    let mut grids = Vec::new();
    for subject in subjects {
        grids.push(Suite::new().run(subject).await);
    }
    println!("{}", SideBySide::new(grids));
}

fn connect(api: &str, base_url: String) -> Result<Arc<dyn LlmProvider>, LlmError> {
    ProviderConfig::parse(&format!("{api}:mock-model"))?
        .with_base_url(base_url)
        .build()
}

/// Adds retries on a clock that jumps over every delay.
fn retry(inner: Arc<dyn LlmProvider>) -> Arc<dyn LlmProvider> {
    let clock = Arc::new(ManualClock::jumping());
    Arc::new(Retry::new(inner, RetryPolicy::new(), clock, Arc::new(|| 0.5)))
}
