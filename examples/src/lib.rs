//! The model of the examples: a script that runs offline, or a real model if `AGCORE_MODEL` is set.
//!
//! ```sh
//! cargo run --example basic_chat
//! AGCORE_MODEL=openai:gpt-5-mini OPENAI_API_KEY=sk-… cargo run --example basic_chat
//! AGCORE_MODEL=ollama:llama3.2 cargo run --example basic_chat
//! AGCORE_MODEL=compatible:my-model AGCORE_BASE_URL=http://localhost:1234/v1 cargo run --example basic_chat
//! ```
//!
//! In your own program, this whole file is one line: `agcore::model("openai:gpt-5-mini", key)?`.

use std::{env, sync::Arc};

use agcore::{LlmError, LlmProvider, llm::ProviderConfig};

/// Returns the model named by `AGCORE_MODEL`, or `offline` if the variable is not set.
///
/// The key is read from `AGCORE_API_KEY` or the vendor's own variable, such as `OPENAI_API_KEY`, and the address from
/// `AGCORE_BASE_URL`. The default address is the vendor's.
///
/// # Errors
/// Returns an error if the model is not of the form `TYPE:MODEL`, or if the key is missing.
pub fn model(offline: impl LlmProvider + 'static) -> Result<Arc<dyn LlmProvider>, LlmError> {
    let Ok(name) = env::var("AGCORE_MODEL") else {
        return Ok(Arc::new(offline));
    };
    let mut config = ProviderConfig::parse(&name)?;
    let key_variables = ["AGCORE_API_KEY"]
        .into_iter()
        .chain(config.provider_type.key_variable());
    if let Some(key) = key_variables.into_iter().find_map(|variable| env::var(variable).ok()) {
        config = config.with_api_key(key);
    }
    if let Ok(url) = env::var("AGCORE_BASE_URL") {
        config = config.with_base_url(url);
    }
    config.build()
}

/// Compiles the programs of the README and of the guide.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
#[doc = include_str!("../../docs/guide/getting-started.md")]
#[doc = include_str!("../../docs/guide/providers-and-keys.md")]
#[doc = include_str!("../../docs/guide/streaming.md")]
#[doc = include_str!("../../docs/guide/tools.md")]
#[doc = include_str!("../../docs/guide/typed-output.md")]
#[doc = include_str!("../../docs/guide/approvals.md")]
#[doc = include_str!("../../docs/guide/sessions.md")]
#[doc = include_str!("../../docs/guide/durable-sessions.md")]
#[doc = include_str!("../../docs/guide/agents-and-tasks.md")]
#[doc = include_str!("../../docs/guide/mcp.md")]
#[doc = include_str!("../../docs/guide/files-and-commands.md")]
#[doc = include_str!("../../docs/guide/flows.md")]
#[doc = include_str!("../../docs/guide/memory.md")]
#[doc = include_str!("../../docs/guide/knowledge.md")]
#[doc = include_str!("../../docs/guide/models-and-kinds.md")]
#[doc = include_str!("../../docs/guide/cost-and-budgets.md")]
#[doc = include_str!("../../docs/guide/observability.md")]
#[doc = include_str!("../../docs/guide/evaluation.md")]
#[doc = include_str!("../../docs/guide/recipes.md")]
#[doc = include_str!("../../docs/guide/security.md")]
#[doc = include_str!("../../docs/guide/service.md")]
#[doc = include_str!("../../docs/guide/testing.md")]
struct Pages;
