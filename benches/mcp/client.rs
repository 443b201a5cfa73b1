//! [`Client`]: calls the tools of a server, with agcore or with rmcp alone.

use std::{env, process::Stdio, str::FromStr, time::Duration};

use agcore_benches::Fallible;
use agcore_mcp::{HttpTransport, McpClient, McpTransport, StdioTransport, ToolCallRequest};
use futures_util::future::try_join_all;
use rmcp::{
    RoleClient,
    model::{CallToolRequestParams, ProtocolVersion},
    service::{ClientLifecycleMode, RunningService, serve_client_with_lifecycle},
    transport::{StreamableHttpClientTransport, streamable_http_client::StreamableHttpClientTransportConfig},
};
use serde_json::json;
use tokio::{
    io::{AsyncBufReadExt as _, BufReader},
    process::{Child, Command},
};

use crate::server::{ADD, CPU, Side};

/// The way in which client and server talk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Transport {
    Stdio,
    Http,
}

impl Transport {
    fn name(self) -> &'static str {
        match self {
            Self::Stdio => "stdio",
            Self::Http => "http",
        }
    }
}

impl FromStr for Transport {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        match name {
            "stdio" => Ok(Self::Stdio),
            "http" => Ok(Self::Http),
            _ => Err(format!("there is no transport `{name}`; use stdio or http")),
        }
    }
}

/// A connected client. The process of the server ends with it.
pub(crate) struct Client {
    inner: Inner,
    /// Unless the client itself started it.
    _server: Option<Child>,
}

enum Inner {
    Agcore(McpClient),
    Rmcp(RunningService<RoleClient, ()>),
}

impl Client {
    /// Starts a server and connects to it.
    pub(crate) async fn connect(client: Side, server: Side, transport: Transport) -> Fallible<Self> {
        let program = env::current_exe()?;
        let arguments = ["serve", server.name(), transport.name()];
        let mut command = Command::new(&program);
        command.args(arguments).stdout(Stdio::piped()).kill_on_drop(true);
        let (inner, server) = match (client, transport) {
            (Side::Agcore, Transport::Stdio) => {
                let transport = StdioTransport::new(program).with_args(arguments);
                (Inner::Agcore(McpClient::connect("server", transport).await?), None)
            }
            (Side::Rmcp, Transport::Stdio) => {
                let mut child = command.stdin(Stdio::piped()).spawn()?;
                let pipes = child.stdout.take().zip(child.stdin.take());
                let pipes = pipes.ok_or("the server has no pipes")?;
                let service = serve_client_with_lifecycle((), pipes, mode()).await?;
                (Inner::Rmcp(service), Some(child))
            }
            (_, Transport::Http) => {
                let mut child = command.spawn()?;
                let stdout = child.stdout.take().ok_or("the server has no stdout")?;
                let url = BufReader::new(stdout).lines().next_line().await?;
                let url = url.ok_or("the server ended")?;
                (Inner::over_http(client, &url).await?, Some(child))
            }
        };
        Ok(Self { inner, _server: server })
    }

    /// Lets the server add numbers, with `at_once` calls at the same time, and checks all results.
    pub(crate) async fn add_all(&self, calls: u64, at_once: u64) -> Fallible {
        for first in (0..calls).step_by(usize::try_from(at_once)?) {
            if at_once == 1 {
                self.add(first).await?;
            } else {
                try_join_all((first..first + at_once).map(|number| self.add(number))).await?;
            }
        }
        Ok(())
    }

    async fn add(&self, number: u64) -> Fallible {
        let arguments = json!({"a": number, "b": 1, "note": "The numbers are added, and this text is ignored."});
        let sum = self.call(ADD, arguments).await?;
        if sum != (number + 1).to_string() {
            return Err(format!("the server added {number} and 1 and returned {sum}").into());
        }
        Ok(())
    }

    /// Returns the CPU time that the server has used.
    pub(crate) async fn server_cpu(&self) -> Fallible<Duration> {
        Ok(Duration::from_micros(self.call(CPU, json!({})).await?.parse()?))
    }

    /// Calls a tool and returns the text of its result.
    async fn call(&self, name: &'static str, arguments: serde_json::Value) -> Fallible<String> {
        let serde_json::Value::Object(arguments) = arguments else {
            return Err("arguments are an object".into());
        };
        match &self.inner {
            Inner::Agcore(client) => {
                let call = ToolCallRequest::new(name).with_arguments(arguments);
                let output = client.call_tool(call, |_| {}).await??;
                Ok(output.into_content().ok_or("the result is empty")?.text().into_owned())
            }
            Inner::Rmcp(client) => {
                let call = CallToolRequestParams::new(name).with_arguments(arguments);
                let result = client.call_tool(call).await?;
                let text = result.content.into_iter().next().and_then(|block| match block {
                    rmcp::model::ContentBlock::Text(text) => Some(text.text),
                    _ => None,
                });
                Ok(text.ok_or("the result has no text")?)
            }
        }
    }
}

impl Inner {
    async fn over_http(client: Side, url: &str) -> Fallible<Self> {
        Ok(match client {
            Side::Agcore => {
                let transport = McpTransport::from(HttpTransport::new(url)?);
                Self::Agcore(McpClient::connect("server", transport).await?)
            }
            Side::Rmcp => {
                let config = StreamableHttpClientTransportConfig::with_uri(url);
                let client = agcore_benches::client::reqwest::client()?;
                let transport = StreamableHttpClientTransport::with_client(client, config);
                Self::Rmcp(serve_client_with_lifecycle((), transport, mode()).await?)
            }
        })
    }
}

/// The newest revision, as agcore's client prefers it.
fn mode() -> ClientLifecycleMode {
    ClientLifecycleMode::Auto {
        preferred_versions: vec![ProtocolVersion::V_2026_07_28],
        legacy_version: Some(ProtocolVersion::LATEST_WITH_INITIALIZE),
    }
}
