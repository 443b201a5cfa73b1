//! Reading a session: whether it can be continued, the message with which its last turn began, and the model that answered.

use agcore::session::{CostEntry, MessageFilter, MessageRole, RunFilter, Session, SessionStatus};

use serde_json::Value;

use super::{FIRST_MODEL, FLOW_OPTIONS, KIND, Sessions};
use crate::exit::Failure;

/// The number of messages among which an answer is looked for.
const CHECKED: u64 = 20;

/// The provider and the model of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Answered {
    pub(crate) provider: String,
    pub(crate) model: String,
}

impl Sessions {
    /// Returns whether there is a conversation to continue: an answer, or an open turn. A chat whose first turns failed has
    /// neither, and its conversation is empty. Tasks and flows keep what they did elsewhere.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub(super) async fn is_started(&self, session: &Session) -> Result<bool, Failure> {
        let may_be_empty = match session.status {
            SessionStatus::Failed => true,
            SessionStatus::Pending => session.pending_tool_call_id.is_none(),
            SessionStatus::Running | SessionStatus::Completed => false,
        };
        if !may_be_empty
            || [KIND, FLOW_OPTIONS]
                .iter()
                .any(|name| session.metadata.contains_key(*name))
        {
            return Ok(true);
        }
        let (tenant, id) = (session.tenant(), &session.id);
        let filter = MessageFilter::new().with_first(CHECKED);
        let messages = self.store.messages(tenant, id, &filter).await?;
        let is_answered = messages.iter().any(|message| message.role == MessageRole::Assistant);
        if is_answered || messages.len() == usize::try_from(CHECKED).unwrap_or(usize::MAX) {
            return Ok(true);
        }
        let open = RunFilter::new().open().with_last(1);
        Ok(!self.store.runs(tenant, id, &open).await?.is_empty())
    }

    /// Returns the newest message of the user, with which the last turn began.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub(crate) async fn last_input(&self, id: &str) -> Result<Option<String>, Failure> {
        let tenant = Self::owner().tenant;
        let messages = self.store.messages(&tenant, id, &MessageFilter::new()).await?;
        let mut newest = messages.into_iter().rev();
        let input = newest.find(|message| message.role == MessageRole::User && !message.content.trim().is_empty());
        Ok(input.map(|message| message.content))
    }

    /// Returns what the newest answer came from, if that is known. Before the first answer, it is what was asked for it.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub(crate) async fn last_answer(&self, id: &str) -> Result<Option<Answered>, Failure> {
        let tenant = Self::owner().tenant;
        let messages = self.store.messages(&tenant, id, &MessageFilter::new()).await?;
        let calls = messages.iter().rev().filter_map(|message| CostEntry::of(message).pop());
        let mut answered = calls.map(|call| Answered {
            provider: call.provider.to_string(),
            model: call.model.to_string(),
        });
        if let Some(last) = answered.find(|answered| !answered.model.is_empty()) {
            return Ok(Some(last));
        }
        let session = self.store.get_session(&tenant, id).await?;
        Ok(session.as_ref().and_then(first_model))
    }
}

fn first_model(session: &Session) -> Option<Answered> {
    let first = session.metadata.get(FIRST_MODEL).and_then(Value::as_str)?;
    let (provider, model) = first.split_once(':')?;
    Some(Answered {
        provider: provider.to_owned(),
        model: model.to_owned(),
    })
}
