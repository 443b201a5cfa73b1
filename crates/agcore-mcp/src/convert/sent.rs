//! Tools, prompts and resources of agcore, in the types of the protocol.

use std::sync::Arc;

use agcore_chat::{Content, Message};
use agcore_tools::RegisteredTool;
use rmcp::model;
use serde_json::Value;

use super::blocks::blocks;
use crate::{
    prompt::{Prompt, PromptArgument, PromptInfo},
    resource::{ResourceBody, ResourceContents, ResourceInfo, ResourceTemplate},
};

/// Converts the definition of a tool.
pub(crate) fn tool(registered: &RegisteredTool) -> model::Tool {
    let tool = registered.tool();
    let object = |schema: &Value| Arc::new(schema.as_object().cloned().unwrap_or_default());
    let description = tool.description().to_owned();
    let mut sent = model::Tool::new(registered.name().to_string(), description, object(tool.parameters()));
    if let Some(schema) = tool.output_schema().filter(|schema| schema.is_object()) {
        sent = sent.with_raw_output_schema(object(schema));
    }
    let annotations = registered.annotations();
    if let Some(title) = &annotations.title {
        sent = sent.with_title(title.clone());
    }
    let hints = model::ToolAnnotations::from_raw(
        None,
        annotations.read_only,
        annotations.destructive,
        annotations.idempotent,
        annotations.open_world,
    );
    if hints == model::ToolAnnotations::default() {
        sent
    } else {
        sent.with_annotations(hints)
    }
}

/// Converts the description of a prompt.
pub(crate) fn prompt_info(prompt: PromptInfo) -> model::Prompt {
    let argument = |argument: PromptArgument| {
        let sent = model::PromptArgument::new(argument.name).with_required(argument.is_required);
        match argument.description {
            Some(description) => sent.with_description(description),
            None => sent,
        }
    };
    let arguments: Vec<_> = prompt.arguments.into_iter().map(argument).collect();
    let arguments = (!arguments.is_empty()).then_some(arguments);
    let sent = model::Prompt::new(prompt.name, prompt.description, arguments);
    match prompt.title {
        Some(title) => sent.with_title(title),
        None => sent,
    }
}

/// Converts the messages of a prompt: one message for each part, as the protocol has it.
pub(crate) fn prompt(prompt: Prompt) -> model::GetPromptResult {
    let mut messages = Vec::new();
    for mut message in prompt.messages {
        let role = match message {
            Message::Assistant(_) => model::Role::Assistant,
            _ => model::Role::User,
        };
        let text = message.text().into_owned();
        let content = match message.content_mut() {
            Some(content) => std::mem::replace(content, Content::Text(String::new())),
            None => Content::Text(text),
        };
        let parts = blocks(content).into_iter();
        messages.extend(parts.map(|block| model::PromptMessage::new(role.clone(), block)));
    }
    let result = model::GetPromptResult::new(messages);
    match prompt.description {
        Some(description) => result.with_description(description),
        None => result,
    }
}

/// Converts the description of a resource.
pub(crate) fn resource_info(resource: ResourceInfo) -> model::Resource {
    let mut sent = model::Resource::new(resource.uri, resource.name);
    sent.title = resource.title;
    sent.description = resource.description;
    sent.mime_type = resource.mime_type;
    sent.size = resource.size;
    sent
}

/// Converts the description of a family of resources.
pub(crate) fn resource_template(template: ResourceTemplate) -> model::ResourceTemplate {
    let mut sent = model::ResourceTemplate::new(template.uri_template, template.name);
    sent.title = template.title;
    sent.description = template.description;
    sent.mime_type = template.mime_type;
    sent
}

/// Converts the contents of a resource.
pub(crate) fn resource_contents(contents: ResourceContents) -> model::ResourceContents {
    let sent = match contents.body {
        ResourceBody::Text(text) => model::ResourceContents::text(text, contents.uri),
        ResourceBody::Base64(data) => model::ResourceContents::blob(data, contents.uri),
    };
    match contents.mime_type {
        Some(mime_type) => sent.with_mime_type(mime_type),
        None => sent,
    }
}
