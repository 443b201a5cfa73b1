//! Prompts and resources of a server, in the types of this crate.

use agcore_chat::{Content, ContentPart, Message};
use rmcp::model;

use super::content::part;
use crate::{
    prompt::{Prompt, PromptArgument, PromptInfo},
    resource::{ResourceBody, ResourceContents, ResourceInfo, ResourceTemplate},
};

/// Converts the description of a prompt.
pub(crate) fn prompt_info(prompt: model::Prompt) -> PromptInfo {
    let argument = |argument: model::PromptArgument| PromptArgument {
        name: argument.name,
        description: argument.description,
        is_required: argument.required.unwrap_or(false),
    };
    PromptInfo {
        name: prompt.name,
        title: prompt.title,
        description: prompt.description,
        arguments: prompt.arguments.into_iter().flatten().map(argument).collect(),
    }
}

/// Converts the messages of a prompt. Parts of an assistant's message that are not text are left out.
pub(crate) fn prompt(result: model::GetPromptResult) -> Prompt {
    let messages = result.messages.into_iter();
    Prompt {
        description: result.description,
        messages: messages
            .map(|one| message(matches!(one.role, model::Role::Assistant), one.content))
            .collect(),
    }
}

/// Converts a message of a prompt.
pub(super) fn message(is_assistant: bool, content: model::ContentBlock) -> Message {
    let content = match part(content) {
        ContentPart::Text(part) => Content::Text(part.text),
        other => Content::Parts(vec![other]),
    };
    match is_assistant {
        true => Message::assistant(content.text()),
        false => Message::user(content),
    }
}

/// Converts the description of a resource.
pub(crate) fn resource_info(resource: model::Resource) -> ResourceInfo {
    ResourceInfo {
        uri: resource.uri,
        name: resource.name,
        title: resource.title,
        description: resource.description,
        mime_type: resource.mime_type,
        size: resource.size,
    }
}

/// Converts the description of a family of resources.
pub(crate) fn resource_template(template: model::ResourceTemplate) -> ResourceTemplate {
    ResourceTemplate {
        uri_template: template.uri_template,
        name: template.name,
        title: template.title,
        description: template.description,
        mime_type: template.mime_type,
    }
}

/// Converts the contents of a resource. Returns `None` for a form that a later revision of the protocol may have.
pub(crate) fn resource_contents(contents: model::ResourceContents) -> Option<ResourceContents> {
    match contents {
        model::ResourceContents::TextResourceContents {
            uri, mime_type, text, ..
        } => Some(ResourceContents {
            uri,
            mime_type,
            body: ResourceBody::Text(text),
        }),
        model::ResourceContents::BlobResourceContents {
            uri, mime_type, blob, ..
        } => Some(ResourceContents {
            uri,
            mime_type,
            body: ResourceBody::Base64(blob),
        }),
        _ => None,
    }
}
