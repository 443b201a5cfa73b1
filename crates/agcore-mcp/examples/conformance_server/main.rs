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

mod content;
mod schema_tool;
mod asking;
mod input_required;
mod sources;

use std::{error::Error, future::pending, time::Duration};

use agcore_chat::{ContentPart, Progress};
use agcore_mcp::{HttpServerOptions, Identity, McpServer};
use agcore_tools::{NoArguments, ToolContext, ToolError, ToolOutput, ToolRegistry, tools, typed};
use tokio::{net::TcpListener, sync::broadcast};

use self::{
    asking::{asking_tools, client, form_tools},
    content::{WAV, image, resource},
    input_required::{input_tools, round_tools},
    schema_tool::SchemaTool,
    sources::{Prompts, Resources},
};

/// The time between two log messages, which the suite prescribes.
const STEP: Duration = Duration::from_millis(50);

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let address = std::env::args().nth(1).ok_or("usage: conformance_server HOST:PORT")?;
    let listener = TcpListener::bind(&address).await?;
    let address = listener.local_addr()?;
    println!("serving MCP at http://{address}/mcp");
    let server = McpServer::new(registry()?)
        // A test needs no secret.
        .with_state_key(*b"the key of the conformance tests")
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

fn registry() -> Result<ToolRegistry, ToolError> {
    let registry = ToolRegistry::new();
    registry.register_all(plain_tools())?;
    registry.register_all(active_tools())?;
    registry.register_all(asking_tools())?;
    registry.register_all(form_tools())?;
    registry.register_all(input_tools())?;
    registry.register_all(round_tools(&registry))?;
    registry.register(SchemaTool::new())?;
    Ok(registry)
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
