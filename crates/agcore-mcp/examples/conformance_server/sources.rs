//! The prompts and resources that the suite asks for.

use std::collections::BTreeMap;

use agcore_chat::Message;
use agcore_mcp::{
    McpError, McpPeer, Prompt, PromptArgument, PromptInfo, PromptSource, ResourceContents, ResourceInfo,
    ResourceSource, ResourceTemplate,
};
use async_trait::async_trait;
use serde_json::json;
use tokio::sync::broadcast;

use crate::content::{PNG, image, resource};

/// The prompts that the suite asks for.
pub(crate) struct Prompts;

#[async_trait]
impl PromptSource for Prompts {
    async fn list(&self) -> Result<Vec<PromptInfo>, McpError> {
        let argument = |name| PromptArgument::new(name, "A test argument.").required();
        Ok(vec![
            PromptInfo::new("test_simple_prompt", "A prompt without arguments."),
            PromptInfo::new("test_prompt_with_arguments", "A prompt with two arguments.")
                .with_argument(argument("arg1"))
                .with_argument(argument("arg2")),
            PromptInfo::new("test_prompt_with_embedded_resource", "A prompt with a resource.")
                .with_argument(argument("resourceUri")),
            PromptInfo::new("test_prompt_with_image", "A prompt with an image."),
            PromptInfo::new("test_input_required_result_prompt", "A prompt that asks."),
        ])
    }

    async fn get(
        &self,
        name: &str,
        arguments: &BTreeMap<String, String>,
        client: &McpPeer,
    ) -> Result<Option<Prompt>, McpError> {
        let value = |name: &str| arguments.get(name).cloned().unwrap_or_default();
        let text = match name {
            "test_simple_prompt" => "This is a simple prompt for testing.".to_owned(),
            "test_prompt_with_arguments" => {
                format!(
                    "Prompt with arguments: arg1='{}', arg2='{}'",
                    value("arg1"),
                    value("arg2")
                )
            }
            "test_prompt_with_embedded_resource" => {
                let embedded = "Embedded resource content for testing.";
                let part = resource(&value("resourceUri"), "text/plain", embedded);
                let text = Message::user("Please process the embedded resource above.");
                return Ok(Some(Prompt::new([Message::user(vec![part]), text])));
            }
            "test_prompt_with_image" => {
                let text = Message::user("Please analyze the image above.");
                return Ok(Some(Prompt::new([Message::user(vec![image()]), text])));
            }
            "test_input_required_result_prompt" => {
                let schema = json!({"type": "object", "properties": {"context": {"type": "string"}},
                    "required": ["context"]});
                let question = client.elicit("user_context", "What context should the prompt use?", schema);
                match question.await?.into_content() {
                    Some(answer) => format!("Use this context: {}", answer["context"]),
                    None => "Use no context.".to_owned(),
                }
            }
            _ => return Ok(None),
        };
        Ok(Some(Prompt::new([Message::user(text)])))
    }

    async fn complete(&self, _: &str, _: &str, start: &str) -> Result<Vec<String>, McpError> {
        let known = ["paris", "park", "party"]
            .into_iter()
            .filter(|word| word.starts_with(start));
        Ok(known.map(str::to_owned).collect())
    }
}

/// The resources that the suite asks for.
pub(crate) struct Resources(pub(crate) broadcast::Sender<String>);

#[async_trait]
impl ResourceSource for Resources {
    async fn list(&self) -> Result<Vec<ResourceInfo>, McpError> {
        Ok(vec![
            ResourceInfo::new("test://static-text", "static-text").with_mime_type("text/plain"),
            ResourceInfo::new("test://static-binary", "static-binary").with_mime_type("image/png"),
            ResourceInfo::new("test://watched-resource", "watched-resource").with_mime_type("text/plain"),
        ])
    }

    async fn templates(&self) -> Result<Vec<ResourceTemplate>, McpError> {
        let template = ResourceTemplate::new("test://template/{id}/data", "template");
        Ok(vec![template.with_mime_type("application/json")])
    }

    async fn read(&self, uri: &str, _: &McpPeer) -> Result<Option<Vec<ResourceContents>>, McpError> {
        let contents = match uri {
            "test://static-text" => ResourceContents::text(uri, "This is the content of the static text resource."),
            "test://static-binary" => ResourceContents::base64(uri, "image/png", PNG),
            "test://watched-resource" => ResourceContents::text(uri, "watched"),
            _ => {
                let id = uri
                    .strip_prefix("test://template/")
                    .and_then(|rest| rest.strip_suffix("/data"));
                let Some(id) = id.filter(|id| !id.contains('/')) else {
                    return Ok(None);
                };
                let data = json!({"id": id, "templateTest": true, "data": format!("Data for ID: {id}")});
                ResourceContents::text(uri, data.to_string()).with_mime_type("application/json")
            }
        };
        Ok(Some(vec![contents]))
    }

    fn changes(&self) -> Option<broadcast::Receiver<String>> {
        Some(self.0.subscribe())
    }
}
