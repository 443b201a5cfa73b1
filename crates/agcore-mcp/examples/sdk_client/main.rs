//! The client that the SDKs of other languages and the reference servers are tested with: `cargo xtask mcp-sdks` starts it.
//!
//! ```sh
//! cargo run -p agcore-mcp --all-features --example sdk_client -- sdk COMMAND [ARGUMENT…]
//! cargo run -p agcore-mcp --all-features --example sdk_client -- sdk http://127.0.0.1:8080/mcp
//! cargo run -p agcore-mcp --all-features --example sdk_client -- filesystem FOLDER COMMAND [ARGUMENT…]
//! ```
//!
//! The first argument is the kind of server: `sdk`, `everything`, `filesystem` or `memory`. Each check prints `ok NAME` or
//! `FAILED NAME: REASON`.
#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "this is a program, which reads its arguments and prints its results"
)]

mod checks;
mod sdk;
mod reference;

use std::{error::Error, process::ExitCode};

use agcore_mcp::{HttpTransport, McpClient, StdioTransport};

use self::checks::Checks;

#[tokio::main]
async fn main() -> Result<ExitCode, Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let kind = arguments.next().ok_or("usage: sdk_client KIND [FOLDER] COMMAND|URL")?;
    let folder = match &*kind {
        "filesystem" => arguments.next().ok_or("the folder is missing")?,
        _ => String::new(),
    };
    let server = arguments.next().ok_or("the command or URL is missing")?;
    let client = if server.starts_with("http://") {
        McpClient::connect(&kind, HttpTransport::new(&server)?).await?
    } else {
        let transport = StdioTransport::new(server).with_args(arguments);
        let transport = match std::env::var("MEMORY_FILE_PATH") {
            Ok(path) => transport.with_env("MEMORY_FILE_PATH", path),
            Err(_) => transport,
        };
        McpClient::connect(&kind, transport).await?
    };
    println!("revision {}", client.server().protocol);
    let mut checks = Checks::default();
    match &*kind {
        "sdk" => sdk::check(&client, &mut checks).await,
        "everything" => reference::everything(&client, &mut checks).await,
        "filesystem" => reference::filesystem(&client, &mut checks, &folder).await,
        "memory" => reference::memory(&client, &mut checks).await,
        other => return Err(format!("there is no kind of server named {other:?}").into()),
    }
    client.close().await;
    Ok(checks.exit_code())
}
