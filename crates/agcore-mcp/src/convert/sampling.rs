//! Requests to the model of a client, and its answers.
#![expect(deprecated, reason = "sampling is part of the revisions up to 2025-11-25")]

use agcore_chat::{Content, Message};
use rmcp::model::{
    CreateMessageRequestParams, CreateMessageResult, ModelHint, ModelPreferences, Role, SamplingMessage,
    SamplingMessageContentBlock,
};

use super::blocks::blocks;
use crate::ask::{SampleAnswer, SampleRequest};

/// Converts a request. A system message becomes the system prompt, unless there is one.
pub(crate) fn sample_params(request: SampleRequest) -> Result<CreateMessageRequestParams, String> {
    let messages = request.messages.into_iter().map(message).collect::<Result<_, _>>()?;
    let mut params = CreateMessageRequestParams::new(messages, request.max_tokens);
    params.system_prompt = request.system_prompt;
    params.temperature = request.temperature;
    params.stop_sequences = (!request.stop_sequences.is_empty()).then_some(request.stop_sequences);
    if !request.model_hints.is_empty() {
        let hints = request.model_hints.into_iter().map(ModelHint::new).collect();
        params.model_preferences = Some(ModelPreferences::new().with_hints(hints));
    }
    Ok(params)
}

fn message(mut message: Message) -> Result<SamplingMessage, String> {
    let role = match message {
        Message::User(_) => Role::User,
        Message::Assistant(_) => Role::Assistant,
        _ => return Err("it has a message that is neither of the user nor of the assistant".to_owned()),
    };
    let text = message.text().into_owned();
    let content = match message.content_mut() {
        Some(content) => std::mem::replace(content, Content::Text(String::new())),
        None => Content::Text(text),
    };
    let mut contents = Vec::new();
    for block in blocks(content) {
        // The blocks have the same form.
        let block = serde_json::to_value(block).and_then(serde_json::from_value::<SamplingMessageContentBlock>);
        contents.push(block.map_err(|_| "it has a part that is neither text, image nor audio".to_owned())?);
    }
    match contents.len() {
        1 => Ok(SamplingMessage::new(role, contents.swap_remove(0))),
        _ => Ok(SamplingMessage::new_multiple(role, contents)),
    }
}

/// Converts an answer. Parts that are not text are left out.
pub(crate) fn sample_answer(result: CreateMessageResult) -> SampleAnswer {
    let blocks = result.message.content.into_vec().into_iter();
    let texts = blocks.filter_map(|block| match block {
        SamplingMessageContentBlock::Text(text) => Some(text.text),
        _ => None,
    });
    SampleAnswer::new(texts.collect::<Vec<_>>().join("\n"), result.model)
}
