//! [`Subject`]: a vendor whose bodies are checked.

use agcore_chat::ChatRequest;
use agcore_wire::{
    Chat, EncodeOptions, LlmError, Wire,
    dialect::{self, Dialect},
    openai_chat::OpenAiChat,
};
use serde_json::Value;

use super::{Sample, native};

/// A vendor with its wire.
pub(super) struct Subject {
    /// The name of the vendor in `vendors.py`.
    pub(super) name: String,
    /// The folder with its recorded replies.
    pub(super) cases: &'static str,
    /// The dialect, for the Chat Completions API.
    pub(super) dialect: Option<Dialect>,
    /// Samples of features that only this vendor has.
    pub(super) samples: &'static [Sample],
    pub(super) wire: Box<dyn Wire<Chat>>,
}

impl Subject {
    pub(super) fn encode(&self, request: &ChatRequest, stream: bool) -> Result<Value, LlmError> {
        let options = EncodeOptions::new("some-model").with_stream(stream);
        let wire = self.wire.encode(request, &options)?;
        Ok(serde_json::from_slice(&wire.body).unwrap())
    }
}

/// Returns every dialect of the Chat Completions API, and every other API of this build.
pub(super) fn subjects() -> Vec<Subject> {
    let dialects = dialect::ALL.iter().map(|make| Subject {
        name: make().name.into_owned(),
        cases: "openai-chat",
        dialect: Some(make()),
        samples: &[],
        wire: Box::new(OpenAiChat::new(make())),
    });
    dialects.chain(native::subjects()).collect()
}
