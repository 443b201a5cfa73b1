//! [`PlannedModel`]: a model in the process of the server, which writes by the [`Plan`] in the message of the user.

use agcore_llm::{Call, LlmError, LlmErrorKind, LlmProvider, ProviderInfo, ReplyDelta, ReplyItem, ReplyStream};
use futures_util::{StreamExt as _, stream};

use crate::plan::Plan;

/// A model that writes by a plan. The floor pays for the same timers.
#[derive(Debug)]
pub(crate) struct PlannedModel(ProviderInfo);

impl PlannedModel {
    pub(crate) fn new() -> Self {
        Self(ProviderInfo::new("planned", "planned-1"))
    }
}

impl LlmProvider for PlannedModel {
    fn open(&self, call: Call) -> ReplyStream {
        let message = call.request.messages.last();
        let plan = message.map(|message| message.text().parse::<Plan>());
        let Some(Ok(plan)) = plan else {
            let kind = LlmErrorKind::InvalidRequest;
            return ReplyStream::failed(LlmError::new(kind, "the message is not a plan"));
        };
        let deltas = plan.words().map(|word| {
            ReplyItem::Delta(ReplyDelta::Text {
                choice: 0,
                text: word.into(),
            })
        });
        ReplyStream::new(deltas.chain(stream::iter([ReplyItem::End(Ok(()))]))).with_token(call.token)
    }

    fn info(&self) -> &ProviderInfo {
        &self.0
    }
}
