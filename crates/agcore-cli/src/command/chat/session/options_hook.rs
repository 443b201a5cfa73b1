//! [`OptionsHook`]: the parameters of `--option` in the requests of all agents of a flow.

use std::sync::Arc;

use agcore::{
    agent::Parameters,
    chat::ChatRequest,
    llm::{Hook, HookContext, RequestVerdict},
};
use agcore_args::ModelOption;
use async_trait::async_trait;

/// Sets parameters in every request.
#[derive(Debug)]
pub(in crate::command::chat) struct OptionsHook(Vec<ModelOption>);

impl OptionsHook {
    /// Creates the hook; `None` if there are no options.
    ///
    /// # Errors
    /// When a value has the wrong type.
    pub(in crate::command::chat) fn new(options: &[ModelOption]) -> Result<Option<Self>, String> {
        ModelOption::applied(options, &Parameters::default())?;
        Ok((!options.is_empty()).then(|| Self(options.to_vec())))
    }
}

#[async_trait]
impl Hook for OptionsHook {
    fn name(&self) -> &'static str {
        "options"
    }

    fn fails_closed(&self) -> bool {
        true
    }

    async fn pre_request(&self, _: &HookContext<'_>, request: &Arc<ChatRequest>) -> RequestVerdict {
        let mut bare = ChatRequest::clone(request);
        let (messages, tools) = (std::mem::take(&mut bare.messages), std::mem::take(&mut bare.tools));
        match ModelOption::applied(&self.0, &Parameters(bare)) {
            Ok(Parameters(mut request)) => {
                (request.messages, request.tools) = (messages, tools);
                RequestVerdict::Replace(Arc::new(request))
            }
            Err(reason) => RequestVerdict::Block(reason),
        }
    }
}
