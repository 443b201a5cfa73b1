//! [`ModelKey`]: a model behind a key.

use std::sync::Arc;

use agcore_llm::{Call, Capabilities, LlmProvider, ProviderInfo, ReplyStream};

use crate::catalog::spec::Model;

/// A model with one of the keys of its vendor: the description of the model, and the provider of the key.
#[derive(Debug)]
pub(super) struct ModelKey {
    pub(super) info: ProviderInfo,
    pub(super) key: Arc<dyn LlmProvider>,
}

impl LlmProvider for ModelKey {
    fn open(&self, call: Call) -> ReplyStream {
        self.key.open(call)
    }

    fn info(&self) -> &ProviderInfo {
        &self.info
    }
}

/// Describes a model. What the catalog does not state keeps its default.
pub(super) fn describe(vendor: &str, model: &Model) -> ProviderInfo {
    let mut capabilities = Capabilities::default();
    capabilities.context_window = model.context_window;
    capabilities.max_output_tokens = model.max_output_tokens;
    // The layers compare requests with the abilities of models that chat.
    if model.kind.is_chat() && !model.capabilities.is_empty() {
        let has = |name: &str| model.capabilities.iter().any(|known| known == name);
        capabilities.tools = has("tools");
        capabilities.json_schema = has("json_schema");
        capabilities.json_object = has("json_object") || has("json_schema");
        capabilities.images = has("images");
        capabilities.audio = has("audio");
        capabilities.files = has("files");
    }
    ProviderInfo::new(vendor, model.vendor_name.as_str()).with_capabilities(capabilities)
}
