//! The server that the official conformance suite tests: `cargo xtask mcp-conformance` starts it.
//!
//! ```sh
//! cargo run -p agcore-mcp --all-features --example conformance_server -- 127.0.0.1:8931
//! ```
#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "this is a program, which reads its arguments and prints its address"
)]

use std::{collections::BTreeMap, error::Error, future::pending, sync::Arc, time::Duration};

use agcore_chat::{ContentPart, Message, Progress};
use agcore_mcp::{
    HttpServerOptions, Identity, McpError, McpPeer, McpServer, Prompt, PromptArgument, PromptInfo, PromptSource,
    ResourceContents, ResourceInfo, ResourceSource, ResourceTemplate,
};
use agcore_tools::{
    Arguments, BaseTool, NoArguments, ToolContext, ToolError, ToolOutput, ToolRegistry,
    schemars::{self, JsonSchema},
    tools, typed,
};
use async_trait::async_trait;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::{net::TcpListener, sync::broadcast};

/// A picture of one red pixel.
const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";

/// A recording without a sample.
const WAV: &str = "UklGRiQAAABXQVZFZm10IBAAAAABAAEARKwAAIhYAQACABAAZGF0YQAAAAA=";

/// The time between two log messages, which the suite prescribes.
const STEP: Duration = Duration::from_millis(50);

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let address = std::env::args().nth(1).ok_or("usage: conformance_server HOST:PORT")?;
    let listener = TcpListener::bind(&address).await?;
    let address = listener.local_addr()?;
    println!("serving MCP at http://{address}/mcp");
    let server = McpServer::new(registry()?)
        .with_identity(Identity::new("agcore-conformance-server", env!("CARGO_PKG_VERSION")))
        .with_prompts(Prompts)
        .with_resources(Resources(broadcast::Sender::new(16)));
    // The suite also sends requests in the way of a web page on the same machine.
    let origins = [
        format!("http://{address}"),
        format!("http://localhost:{}", address.port()),
    ];
    let options = HttpServerOptions::new().with_allowed_origins(origins);
    server.serve_http(listener, options, pending()).await?;
    Ok(())
}

/// The argument of two tools.
#[derive(Deserialize, JsonSchema)]
struct Sampling {
    /// The prompt to send to the LLM.
    prompt: String,
}

#[derive(Deserialize, JsonSchema)]
struct Asking {
    /// The message to show the user.
    message: String,
}

fn registry() -> Result<ToolRegistry, ToolError> {
    let registry = ToolRegistry::new();
    registry.register_all(plain_tools())?;
    registry.register_all(active_tools())?;
    registry.register_all(asking_tools())?;
    registry.register_all(form_tools())?;
    registry.register(SchemaTool::new())?;
    Ok(registry)
}

/// An embedded resource, in the form of the protocol.
fn resource(uri: &str, mime_type: &str, text: &str) -> ContentPart {
    ContentPart::Other(json!({"type": "resource", "resource": {"uri": uri, "mimeType": mime_type, "text": text}}))
}

fn image() -> ContentPart {
    ContentPart::image_url(format!("data:image/png;base64,{PNG}"))
}

fn plain_tools() -> [agcore_tools::Registration; 6] {
    tools![
        typed("test_simple_text", "Returns text.", |_: NoArguments| async {
            Ok("This is a simple text response for testing.")
        }),
        typed("test_image_content", "Returns an image.", |_: NoArguments| async {
            Ok(ToolOutput::content(vec![image()]))
        }),
        typed("test_audio_content", "Returns audio.", |_: NoArguments| async {
            Ok(ToolOutput::content(vec![ContentPart::input_audio(WAV, "wav")]))
        }),
        typed(
            "test_embedded_resource",
            "Returns a resource.",
            |_: NoArguments| async {
                let text = "This is an embedded resource content.";
                Ok(ToolOutput::content(vec![resource(
                    "test://embedded-resource",
                    "text/plain",
                    text,
                )]))
            }
        ),
        typed(
            "test_multiple_content_types",
            "Returns several kinds.",
            |_: NoArguments| async {
                let text = r#"{"test":"data","value":123}"#;
                let mixed = resource("test://mixed-content-resource", "application/json", text);
                Ok(ToolOutput::content(vec![
                    ContentPart::text("Multiple content types test:"),
                    image(),
                    mixed,
                ]))
            }
        ),
        typed("test_error_handling", "Fails.", |_: NoArguments| async {
            Err::<(), _>(ToolError::failed(
                "This tool intentionally returns an error for testing",
            ))
        }),
    ]
}

/// Returns the client, which every call over MCP has.
fn client(context: &ToolContext) -> Result<Arc<McpPeer>, ToolError> {
    let client = context.extension::<McpPeer>();
    client.ok_or_else(|| ToolError::failed("this tool works only over MCP"))
}

async fn ask(context: &ToolContext, message: &str, schema: Value) -> Result<String, ToolError> {
    let answer = client(context)?.ask(message, schema).await;
    let answer = answer.map_err(|error| ToolError::failed(error.to_string()))?;
    Ok(format!("action=accept, content={answer}"))
}

/// Logs three messages.
async fn log(context: ToolContext) -> Result<&'static str, ToolError> {
    let client = client(&context)?;
    client.log("info", None, "Tool execution started").await;
    tokio::time::sleep(STEP).await;
    client.log("info", None, "Tool processing data").await;
    tokio::time::sleep(STEP).await;
    client.log("info", None, "Tool execution completed").await;
    Ok("logged")
}

fn active_tools() -> [agcore_tools::Registration; 3] {
    tools![
        typed(
            "test_logging_tool",
            "Logs.",
            |_: NoArguments, context: ToolContext| log(context)
        ),
        typed(
            "test_tool_with_logging",
            "Logs.",
            |_: NoArguments, context: ToolContext| log(context)
        ),
        typed(
            "test_tool_with_progress",
            "Reports progress.",
            |_: NoArguments, context: ToolContext| async move {
                for done in [0.0, 50.0, 100.0] {
                    context.report_progress(Progress::amount(done, Some(100.0)));
                    tokio::time::sleep(STEP).await;
                }
                Ok("done")
            }
        ),
    ]
}

fn asking_tools() -> [agcore_tools::Registration; 2] {
    tools![
        typed(
            "test_sampling",
            "Asks the client's model.",
            |call: Sampling, context: ToolContext| async move {
                let answer = client(&context)?.sample(&call.prompt, 100).await;
                let answer = answer.map_err(|error| ToolError::failed(error.to_string()))?;
                Ok(format!("LLM response: {answer}"))
            }
        ),
        typed(
            "test_elicitation",
            "Asks the user.",
            |call: Asking, context: ToolContext| async move {
                let schema = json!({"type": "object", "properties": {
                "username": {"type": "string", "description": "User's response"},
                "email": {"type": "string", "description": "User's email address"},
            }, "required": ["username", "email"]});
                Ok(format!(
                    "User response: {}",
                    ask(&context, &call.message, schema).await?
                ))
            }
        ),
    ]
}

fn form_tools() -> [agcore_tools::Registration; 2] {
    tools![
        typed(
            "test_elicitation_sep1034_defaults",
            "Asks.",
            |_: NoArguments, context: ToolContext| async move {
                let schema = json!({"type": "object", "properties": {
                    "name": {"type": "string", "default": "John Doe"},
                    "age": {"type": "integer", "default": 30},
                    "score": {"type": "number", "default": 95.5},
                    "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
                    "verified": {"type": "boolean", "default": true},
                }});
                Ok(format!(
                    "Elicitation completed: {}",
                    ask(&context, "Please check.", schema).await?
                ))
            }
        ),
        typed(
            "test_elicitation_sep1330_enums",
            "Asks.",
            |_: NoArguments, context: ToolContext| async move {
                let titled =
                    |names: [(&str, &str); 3]| names.map(|(value, title)| json!({"const": value, "title": title}));
                let first = titled([
                    ("value1", "First Option"),
                    ("value2", "Second Option"),
                    ("value3", "Third Option"),
                ]);
                let many = titled([
                    ("value1", "First Choice"),
                    ("value2", "Second Choice"),
                    ("value3", "Third Choice"),
                ]);
                let options = ["option1", "option2", "option3"];
                let schema = json!({"type": "object", "properties": {
                    "untitledSingle": {"type": "string", "enum": options},
                    "titledSingle": {"type": "string", "oneOf": first},
                    "legacyEnum": {"type": "string", "enum": ["opt1", "opt2", "opt3"],
                        "enumNames": ["Option One", "Option Two", "Option Three"]},
                    "untitledMulti": {"type": "array", "items": {"type": "string", "enum": options}},
                    "titledMulti": {"type": "array", "items": {"anyOf": many}},
                }});
                Ok(format!(
                    "Elicitation completed: {}",
                    ask(&context, "Please choose.", schema).await?
                ))
            }
        ),
    ]
}

/// A tool whose schema must arrive unchanged.
struct SchemaTool(Value);

impl SchemaTool {
    fn new() -> Self {
        let address = json!({"$anchor": "addressDef", "type": "object", "properties": {
            "street": {"type": "string"}, "city": {"type": "string"}}});
        let contact =
            json!([{"properties": {"phone": {"type": "string"}}}, {"properties": {"email": {"type": "string"}}}]);
        Self(json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "$defs": {"address": address},
            "properties": {
                "name": {"type": "string"},
                "address": {"$ref": "#/$defs/address"},
                "contactMethod": {"type": "string", "enum": ["phone", "email"]},
                "phone": {"type": "string"},
                "email": {"type": "string"},
            },
            "allOf": [{"anyOf": contact}],
            "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
            "then": {"required": ["phone"]},
            "else": {"required": ["email"]},
            "additionalProperties": false,
        }))
    }
}

#[async_trait]
impl BaseTool for SchemaTool {
    fn name(&self) -> &str {
        "json_schema_2020_12_tool"
    }

    fn description(&self) -> &str {
        "Has a schema with many keywords."
    }

    fn parameters(&self) -> &Value {
        &self.0
    }

    async fn execute(&self, arguments: &Arguments, _: &ToolContext) -> Result<ToolOutput, ToolError> {
        Ok(ToolOutput::text(arguments.as_value().to_string()))
    }
}

/// The prompts that the suite asks for.
struct Prompts;

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
        ])
    }

    async fn get(&self, name: &str, arguments: &BTreeMap<String, String>) -> Result<Option<Prompt>, McpError> {
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
struct Resources(broadcast::Sender<String>);

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

    async fn read(&self, uri: &str) -> Result<Option<Vec<ResourceContents>>, McpError> {
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
