//! The model: the one that `AGCORE_MODEL` names, or a function that needs no network.

use std::{env, sync::Arc};

use agcore::{
    ChatResponse, LlmError, LlmProvider,
    chat::{Role, ToolCall},
    llm::{ProviderConfig, provider_fn},
};
use serde_json::json;

/// Returns the model that `AGCORE_MODEL` names as `TYPE:MODEL`, or [`offline`] if the variable is not set.
///
/// The key is read from `AGCORE_API_KEY`, else from the variable of the vendor, such as `OPENAI_API_KEY`. `AGCORE_BASE_URL` is
/// the address of another server, which the type `compatible` needs.
pub fn from_environment() -> Result<Arc<dyn LlmProvider>, LlmError> {
    let Ok(name) = env::var("AGCORE_MODEL") else {
        eprintln!("AGCORE_MODEL is not set: src/model.rs answers, not a language model.");
        return Ok(Arc::new(offline()));
    };
    let mut config = ProviderConfig::parse(&name)?;
    let variables = [Some("AGCORE_API_KEY"), config.provider_type.key_variable()];
    // An empty variable counts as not set.
    let value = |name: &str| env::var(name).ok().filter(|value| !value.is_empty());
    let key = variables.into_iter().flatten().find_map(value);
    if let Some(key) = key {
        config = config.with_api_key(key);
    }
    if let Some(url) = value("AGCORE_BASE_URL") {
        config = config.with_base_url(url);
    }
    config.build()
}

/// Returns a stand-in for a model. It calls the tool `word_count` with the question, and repeats the result.
pub fn offline() -> impl LlmProvider + 'static {
    provider_fn(|call| async move {
        let last = call.request.messages.last();
        let text = last.map(|message| message.text()).unwrap_or_default();
        if last.is_some_and(|message| message.role() == Role::Tool) {
            let answer = format!("The tool counts {text} words.");
            return Ok(ChatResponse::from_text(answer));
        }
        let arguments = json!({ "text": text }).to_string();
        let call = ToolCall::function("call_1", "word_count", arguments);
        Ok(ChatResponse::from_calls([call]))
    })
}
