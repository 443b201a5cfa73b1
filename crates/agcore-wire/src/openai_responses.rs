#![doc = include_str!("openai_responses/docs.md")]

mod vendor;
mod encode;
mod decode;

use agcore_chat::{Block, ChatRequest, VendorData};
use serde_json::Value;

use self::decode::ResponseReader;
use crate::{
    decode::{model_list::ModelsDecoder, reply_decoder::ReplyDecoder, tool_names},
    error::LlmError,
    operation::ListModels,
    wire::{Chat, Decoder, EncodeOptions, ReplyHead, Wire, WireRequest},
};

/// The OpenAI Responses API.
///
/// ```
/// use agcore_chat::{ChatRequest, Message};
/// use agcore_wire::{Chat, EncodeOptions, Wire, openai_responses::OpenAiResponses};
///
/// let wire = OpenAiResponses::new();
/// let request = ChatRequest::new([Message::user("Hi")]).with_max_tokens(100);
/// let encoded = Wire::<Chat>::encode(&wire, &request, &EncodeOptions::new("gpt-5-mini"))?;
/// assert_eq!(
///     encoded.body,
///     // The encrypted form of reasoning is requested from models that reason, so that it can be sent back.
///     r#"{"model":"gpt-5-mini","input":[{"role":"user","content":"Hi"}],"max_output_tokens":100,"include":["reasoning.encrypted_content"]}"#
/// );
/// # Ok::<(), agcore_wire::LlmError>(())
/// ```
#[derive(Debug, Clone, Copy, Default)]
#[non_exhaustive]
#[must_use = "a wire does nothing until it encodes or decodes"]
pub struct OpenAiResponses {
    parsed_arguments: bool,
}

impl OpenAiResponses {
    /// Creates the wire, for OpenAI and for servers that implement the same API.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets whether the server parses the arguments of calls in the history, as servers other than OpenAI's do. Arguments
    /// that are not a JSON object are wrapped in one then, because such a server would reject the whole request. By default
    /// they are sent as the model wrote them.
    pub fn with_parsed_arguments(mut self, parsed: bool) -> Self {
        self.parsed_arguments = parsed;
        self
    }
}

/// Returns an item of this API as a block of an assistant message: the output of a hosted tool that the application has run.
///
/// Such tools (`shell`, `apply_patch`, `computer`, a client's tool search, an MCP approval) have items of their own instead of
/// calls. A reply that waits for one ends with the finish reason `hosted_tool_calls`. Append the reply and then an assistant
/// message with the outputs to the conversation, and send it again.
///
/// ```
/// use agcore_chat::{AssistantMessage, Block, ChatRequest, Message};
/// use agcore_wire::{Chat, EncodeOptions, Wire, openai_responses::{OpenAiResponses, item}};
/// use serde_json::{Value, json};
///
/// let call = json!({"type": "shell_call", "call_id": "call_1", "action": {"commands": ["ls"]}});
/// let output = json!({"type": "shell_call_output", "call_id": "call_1", "output": [
///     {"stdout": "src", "stderr": "", "outcome": {"type": "exit", "exit_code": 0}},
/// ]});
/// let reply = AssistantMessage::from_blocks([item(call)]); // as received
/// let result = AssistantMessage::from_blocks([item(output.clone())]);
/// let request = ChatRequest::new([Message::user("List the files."), reply.into(), result.into()]);
///
/// let encoded = Wire::<Chat>::encode(&OpenAiResponses::new(), &request, &EncodeOptions::new("gpt-5.1"))?;
/// let body: Value = serde_json::from_slice(&encoded.body).unwrap();
/// assert_eq!(body["input"][2], output);
/// # Ok::<(), agcore_wire::LlmError>(())
/// ```
pub fn item(item: Value) -> Block {
    Block::Hosted(VendorData::new(vendor::VENDOR, item))
}

impl Wire<Chat> for OpenAiResponses {
    fn encode(&self, request: &ChatRequest, options: &EncodeOptions<'_>) -> Result<WireRequest, LlmError> {
        encode::encode(self.parsed_arguments, request, options)
    }

    fn decoder(&self, head: &ReplyHead) -> Box<dyn Decoder<Chat>> {
        Box::new(ReplyDecoder::new(head, ResponseReader::default()))
    }

    fn decoder_for(&self, head: &ReplyHead, request: &ChatRequest) -> Box<dyn Decoder<Chat>> {
        tool_names::restore(Wire::<Chat>::decoder(self, head), request)
    }
}

impl Wire<ListModels> for OpenAiResponses {
    fn encode(&self, (): &(), _: &EncodeOptions<'_>) -> Result<WireRequest, LlmError> {
        Ok(WireRequest::get("/models"))
    }

    fn decoder(&self, head: &ReplyHead) -> Box<dyn Decoder<ListModels>> {
        Box::new(ModelsDecoder::new(head))
    }
}
