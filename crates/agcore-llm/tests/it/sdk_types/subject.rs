//! [`Subject`]: a vendor whose bodies are looked at.

use agcore_chat::ChatRequest;
use agcore_llm::{
    dialect::{self, Dialect},
    error::LlmError,
    wire::{Chat, EncodeOptions, Wire, openai_chat::OpenAiChat},
};
use serde_json::Value;

use super::{Sample, native};

/// A vendor with the wire that it speaks.
pub(super) struct Subject {
    /// The name under which `vendors.py` has its types.
    pub(super) name: String,
    /// The folder of its recorded replies.
    pub(super) cases: &'static str,
    /// What it takes, where that is data.
    pub(super) dialect: Option<Dialect>,
    /// Samples of what only it has.
    pub(super) own: &'static [Sample],
    pub(super) wire: Box<dyn Wire<Chat>>,
}

impl Subject {
    pub(super) fn encode(&self, request: &ChatRequest, stream: bool) -> Result<Value, LlmError> {
        let options = EncodeOptions::new("some-model").with_stream(stream);
        let wire = self.wire.encode(request, &options)?;
        Ok(serde_json::from_slice(&wire.body).unwrap())
    }
}

/// Every dialect of the chat wire, and every other wire of this build.
pub(super) fn subjects() -> Vec<Subject> {
    let dialects = dialect::ALL.iter().map(|make| Subject {
        name: make().name.into_owned(),
        cases: "openai-chat",
        dialect: Some(make()),
        own: &[],
        wire: Box::new(OpenAiChat::new(make())),
    });
    dialects.chain(native::subjects()).collect()
}
