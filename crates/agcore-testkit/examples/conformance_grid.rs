//! Prints the conformance grid of agcore's own providers: the four wires over HTTP, retries around the chat wire, and the
//! scripted provider, side by side. The tests judge the same grids; this shows them.
#![expect(clippy::print_stdout, reason = "the grid is what this program is for")]

use std::sync::Arc;

use agcore_chat::FaultKind;
use agcore_llm::{LlmError, LlmProvider, ProviderConfig, Retry, RetryPolicy};
use agcore_testkit::{
    clock::ManualClock,
    conformance::{Behaviour, ScriptSubject, ServerSubject, SideBySide, Subject, Suite},
    mock_server::MockServer,
};

const NO_CODE: &str = "the API's errors have no code that could tell it";

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let openai = |server: &MockServer| connect("openai", server.base_url());
    let subjects: [&dyn Subject; 6] = [
        &ServerSubject::new("chat", openai),
        &ServerSubject::new("responses", |server| connect("openai-responses", server.base_url())),
        &ServerSubject::new("anthropic", |server| connect("anthropic", server.base_url()))
            .with_skip(Behaviour::Refused(FaultKind::ContentFilter), NO_CODE)
            .with_skip(Behaviour::Refused(FaultKind::InvalidToolCall), NO_CODE),
        &ServerSubject::new("ollama", |server| {
            connect("ollama-native", format!("{}/api", server.root_url()))
        })
        .with_skip(Behaviour::Refusal, "the API has no refusals: they are text")
        .with_skip(Behaviour::UsageDetails, "the API does not count reasoning apart")
        .with_skip(Behaviour::Refused(FaultKind::ContentFilter), NO_CODE)
        .with_skip(Behaviour::Refused(FaultKind::InvalidToolCall), NO_CODE),
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
    ProviderConfig::of(&format!("{api}:mock-model"))?
        .with_base_url(base_url)
        .build()
}

/// On a clock that jumps over every wait.
fn retry(inner: Arc<dyn LlmProvider>) -> Arc<dyn LlmProvider> {
    let clock = Arc::new(ManualClock::jumping());
    Arc::new(Retry::new(inner, RetryPolicy::new(), clock, Arc::new(|| 0.5)))
}
