//! The server that the SDKs of other languages are tested with: `cargo xtask mcp-sdks` starts it.
//!
//! ```sh
//! cargo run -p agcore-mcp --all-features --example sdk_server           # over stdio
//! cargo run -p agcore-mcp --all-features --example sdk_server -- http   # prints its URL; ends with stdin
//! ```
#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "this is a program, which reads its arguments and prints its address"
)]

use std::{
    error::Error,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use agcore_chat::Progress;
use agcore_mcp::{HttpServerOptions, Identity, McpServer};
use agcore_tools::{
    NoArguments, ToolContext, ToolError, ToolRegistry,
    schemars::{self, JsonSchema},
    tools, typed,
};
use serde::Deserialize;
use tokio::{io::AsyncReadExt as _, net::TcpListener};

/// The time between two steps: the TypeScript SDK loses progress that it reads together with the result.
const STEP: Duration = Duration::from_millis(20);

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let identity = Identity::new("agcore-sdk-server", env!("CARGO_PKG_VERSION"));
    let server = McpServer::new(registry()?).with_identity(identity);
    if std::env::args().nth(1).as_deref() != Some("http") {
        return Ok(server.serve_stdio().await?);
    }
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("http://{}/mcp", listener.local_addr()?);
    let end = async {
        // An error is an end, too.
        let _ = tokio::io::stdin().read_to_end(&mut Vec::new()).await;
    };
    server.serve_http(listener, HttpServerOptions::new(), end).await?;
    Ok(())
}

#[derive(Deserialize, JsonSchema)]
struct Add {
    a: i64,
    b: i64,
}

/// Reports progress until the call is cancelled, which is counted.
async fn wait(context: ToolContext, cancelled: Arc<AtomicUsize>) -> Result<(), ToolError> {
    let token = context.cancellation().clone();
    // The call is dropped when it is cancelled, and this is not.
    tokio::spawn(async move {
        token.cancelled().await;
        cancelled.fetch_add(1, Ordering::SeqCst);
    });
    context.report_progress(Progress::amount(1.0, None));
    std::future::pending().await
}

fn registry() -> Result<ToolRegistry, ToolError> {
    let registry = ToolRegistry::new();
    let cancelled = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&cancelled);
    registry.register_all(tools![
        typed("add", "Adds two numbers.", |add: Add| async move {
            Ok((add.a + add.b).to_string())
        }),
        typed("fail", "Fails.", |_: NoArguments| async {
            Err::<(), _>(ToolError::failed("the disk is full"))
        }),
        typed(
            "steps",
            "Reports progress three times.",
            |_: NoArguments, context: ToolContext| async move {
                for step in 1..=3 {
                    context.report_progress(Progress::amount(f64::from(step), Some(3.0)));
                    tokio::time::sleep(STEP).await;
                }
                Ok("done")
            }
        ),
        typed(
            "wait",
            "Waits until it is cancelled.",
            move |_: NoArguments, context: ToolContext| wait(context, Arc::clone(&cancelled))
        ),
        typed(
            "cancelled",
            "Returns how many calls were cancelled.",
            move |_: NoArguments| {
                let count = counter.load(Ordering::SeqCst);
                async move { Ok(count.to_string()) }
            }
        ),
    ])?;
    Ok(registry)
}
