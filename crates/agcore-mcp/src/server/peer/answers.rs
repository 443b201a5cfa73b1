//! The client as an [`Elicitor`] and a [`Sampler`], for code that does not know about servers.

use agcore_chat::text::prefix;
use async_trait::async_trait;

use super::McpPeer;
use crate::ask::{Elicitation, ElicitationAnswer, Elicitor, SampleAnswer, SampleRequest, Sampler};

/// The longest part of a text in a key, in bytes.
const KEY_BYTES: usize = 64;

/// Passes questions on to the client, such as those of another server: a client takes this as its
/// [elicitor](crate::ClientOptions::with_elicitor). A question that cannot be asked is cancelled.
///
/// The key of a question is its text, and how often that was asked before.
#[async_trait]
impl Elicitor for McpPeer {
    async fn ask(&self, question: &Elicitation) -> ElicitationAnswer {
        let key = self.key(&question.message);
        match self
            .elicit(&key, question.message.clone(), question.schema.clone())
            .await
        {
            Ok(answer) => answer,
            Err(error) => {
                tracing::warn!(%error, "a question cannot be passed on to the MCP client");
                ElicitationAnswer::Cancel
            }
        }
    }
}

/// Passes requests to a model on to the client. The key is the text of the last message, and how often that was sent before.
#[async_trait]
impl Sampler for McpPeer {
    async fn sample(&self, request: &SampleRequest) -> Result<SampleAnswer, String> {
        let text = request.messages.last().map(|message| message.text().into_owned());
        let key = self.key(&text.unwrap_or_default());
        Self::sample(self, &key, request.clone())
            .await
            .map_err(|error| error.message().to_owned())
    }
}

impl McpPeer {
    fn key(&self, text: &str) -> String {
        let text = prefix(text, KEY_BYTES);
        match &self.rounds {
            Some(rounds) => format!("{text}#{}", rounds.count(text)),
            None => text.to_owned(),
        }
    }
}
