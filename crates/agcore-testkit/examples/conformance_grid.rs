//! Prints the conformance grids of agcore's own providers: the scripted one, the chat wire over HTTP, and retries around
//! either. The tests judge the same grids; this shows them.
#![expect(clippy::print_stdout, reason = "the grids are what this program is for")]

use std::sync::Arc;

use agcore_llm::{LlmError, LlmProvider, ProviderConfig, Retry, RetryPolicy};
use agcore_testkit::{
    clock::ManualClock,
    conformance::{ScriptSubject, ServerSubject, Subject, Suite},
    mock_server::MockServer,
};

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let subjects: [&dyn Subject; 4] = [
        &ScriptSubject::new("scripted"),
        &ScriptSubject::new("retry around scripted").with_layer(retry),
        &ServerSubject::new("chat wire over HTTP", chat_wire),
        &ServerSubject::new("retry around the chat wire", |server| chat_wire(server).map(retry)),
    ];
    for subject in subjects {
        println!("{}\n", Suite::new().run(subject).await);
    }
}

fn chat_wire(server: &MockServer) -> Result<Arc<dyn LlmProvider>, LlmError> {
    ProviderConfig::of("openai:mock-model")?
        .with_base_url(server.base_url())
        .build()
}

/// On a clock that jumps over every wait.
fn retry(inner: Arc<dyn LlmProvider>) -> Arc<dyn LlmProvider> {
    let clock = Arc::new(ManualClock::jumping());
    Arc::new(Retry::new(inner, RetryPolicy::new(), clock, Arc::new(|| 0.5)))
}
