//! `agcore mcp serve`: the tools of the program for other MCP clients.

use std::{
    io::{self, Write as _},
    net::SocketAddr,
    sync::Arc,
};

use agcore::{
    mcp::{HttpServerOptions, Identity, McpError, McpServer},
    tools::Approver,
};
use agcore_args::McpServeArgs;
use agcore_terminal::{interrupt::Interrupts, process::variable};
use agcore_workbench::{permission_mode::AllowAll, tool_server};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use super::find::settings;

use crate::exit::Failure;

/// The variable with the token that clients must send over HTTP.
const TOKEN: &str = "AGCORE_MCP_TOKEN";

/// Serves until standard input ends, or over HTTP until Ctrl-C.
///
/// # Errors
/// When the settings are invalid, the address cannot be used, or the client breaks the protocol.
pub(super) async fn run(args: &McpServeArgs, interrupts: &Interrupts) -> Result<(), Failure> {
    let settings = settings(&args.policy)?;
    let approver = args.yes.then(|| Arc::new(AllowAll) as Arc<dyn Approver>);
    let server = tool_server(Identity::new("agcore", env!("CARGO_PKG_VERSION")), &settings, approver)?;
    match args.listen {
        None => server.serve_stdio().await.map_err(failure),
        Some(address) => serve_http(&server, address, interrupts).await,
    }
}

async fn serve_http(server: &McpServer, address: SocketAddr, interrupts: &Interrupts) -> Result<(), Failure> {
    let token = variable(TOKEN);
    if token.is_none() && !address.ip().is_loopback() {
        return Err(Failure::usage(format!(
            "other machines can reach {address}, so a token is needed\n\
             Set {TOKEN}, or listen on 127.0.0.1."
        )));
    }
    let listening = TcpListener::bind(address).await;
    let listener = listening.map_err(|error| Failure::usage(format!("cannot listen on {address}: {error}")))?;
    let address = listener.local_addr().unwrap_or(address);
    let mut options = HttpServerOptions::new();
    if let Some(token) = token {
        options = options.with_bearer(token);
    }
    writeln!(io::stderr(), "Serving MCP at http://{address}{}", options.path)
        .map_err(|error| Failure::output(&error))?;
    let stop = CancellationToken::new();
    let _meaning = interrupts.cancel(&stop);
    server
        .serve_http(listener, options, stop.cancelled_owned())
        .await
        .map_err(failure)
}

fn failure(error: McpError) -> Failure {
    Failure::task(error.to_string())
}
