//! Servers with the same two tools, with agcore and with rmcp alone.

use std::{convert::Infallible, future, str::FromStr, sync::Arc};

use agcore_benches::{Fallible, clock::cpu};
use agcore_mcp::{HttpServerOptions, McpServer};
use agcore_tools::{NoArguments, ToolRegistry, typed};
use hyper::{server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use rmcp::{
    ErrorData, RoleServer, ServerHandler, ServiceExt as _,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ListToolsResult, PaginatedRequestParams,
        ServerCapabilities, ServerConfig, Tool,
    },
    service::RequestContext,
    transport::{
        StreamableHttpServerConfig, StreamableHttpService, stdio_pipes,
        streamable_http_server::session::local::LocalSessionManager,
    },
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use tokio::net::TcpListener;

use crate::client::Transport;

/// The tool that adds two numbers.
pub(crate) const ADD: &str = "add";

/// The tool that returns the CPU time of the server's process, in microseconds.
pub(crate) const CPU: &str = "cpu";

/// The library that a client or a server is made with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Agcore,
    Rmcp,
}

impl Side {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Agcore => "agcore",
            Self::Rmcp => "rmcp",
        }
    }
}

impl FromStr for Side {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        match name {
            "agcore" => Ok(Self::Agcore),
            "rmcp" => Ok(Self::Rmcp),
            _ => Err(format!("there is no side `{name}`; use agcore or rmcp")),
        }
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Add {
    a: u64,
    b: u64,
    #[expect(dead_code, reason = "an argument like any other, but without an effect")]
    note: String,
}

/// Serves one client, or prints the URL of an endpoint and serves until the process is killed.
pub(crate) async fn serve(side: Side, transport: Transport) -> Fallible {
    match (side, transport) {
        (Side::Agcore, Transport::Stdio) => ours()?.serve_stdio().await?,
        (Side::Rmcp, Transport::Stdio) => {
            Bare.serve(stdio_pipes()).await?.waiting().await?;
        }
        (side, Transport::Http) => {
            let listener = TcpListener::bind("127.0.0.1:0").await?;
            println!("http://{}/mcp", listener.local_addr()?);
            match side {
                Side::Agcore => {
                    let options = HttpServerOptions::new();
                    ours()?.serve_http(listener, options, future::pending()).await?;
                }
                Side::Rmcp => serve_bare(listener).await?,
            }
        }
    }
    Ok(())
}

fn ours() -> Fallible<McpServer> {
    let tools = ToolRegistry::new();
    tools.register(typed(ADD, "Adds two numbers.", |add: Add| async move {
        Ok((add.a + add.b).to_string())
    }))?;
    let micros = |_: NoArguments| async { Ok(cpu().as_micros().to_string()) };
    tools.register(typed(CPU, "Returns the CPU time of the server.", micros))?;
    Ok(McpServer::new(tools))
}

/// A server that is made with rmcp alone.
#[derive(Debug, Clone)]
struct Bare;

impl ServerHandler for Bare {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let schema = |schema: schemars::Schema| match schema.to_value() {
            Value::Object(schema) => Arc::new(schema),
            _ => Arc::default(),
        };
        Ok(ListToolsResult::with_all_items(vec![
            Tool::new(ADD, "Adds two numbers.", schema(schemars::schema_for!(Add))),
            Tool::new(
                CPU,
                "Returns the CPU time of the server.",
                schema(schemars::schema_for!(NoArguments)),
            ),
        ]))
    }

    async fn call_tool(
        &self,
        params: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let text = if params.name == CPU {
            cpu().as_micros().to_string()
        } else {
            let arguments = Value::Object(params.arguments.unwrap_or_default());
            let invalid = |error: serde_json::Error| ErrorData::invalid_params(error.to_string(), None);
            let add: Add = serde_json::from_value(arguments).map_err(invalid)?;
            (add.a + add.b).to_string()
        };
        Ok(CallToolResponse::Complete(CallToolResult::success(vec![
            ContentBlock::text(text),
        ])))
    }
}

async fn serve_bare(listener: TcpListener) -> Fallible {
    let sessions = Arc::new(LocalSessionManager::default());
    let service = StreamableHttpService::new(|| Ok(Bare), sessions, StreamableHttpServerConfig::default());
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        let service = service.clone();
        let answer = service_fn(move |request| {
            let service = service.clone();
            async move { Ok::<_, Infallible>(service.handle(request).await) }
        });
        tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), answer));
    }
}
