//! `agcore mcp login` and `logout`: tokens of servers over HTTP.

use std::{
    io::{self, Write as _},
    sync::Arc,
    time::Duration,
};

use agcore::mcp::{Authorizer, McpClient, McpErrorKind, OAuth, TokenStore};
use agcore_args::{McpLoginArgs, McpLogoutArgs};
use agcore_settings::NamedServer;
use agcore_terminal::{process::variable, render::sanitized_line};
use agcore_workbench::mcp::{StoredTokens, options};
use async_trait::async_trait;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};

use super::find::{find, settings};

use crate::{
    exit::{Failure, FailureKind},
    stdout::print,
};

/// The time that a person has to sign in.
const LIMIT: Duration = Duration::from_secs(600);

/// The largest request that is read from a browser, in bytes.
const MAX_REQUEST: usize = 64 * 1024;

/// The path to which the browser is sent after signing in.
const PATH: &str = "/callback";

const PAGE: &str = "<!doctype html><title>agcore</title><p>You can close this page and return to the terminal.</p>";

/// Lets the user sign in at a server, and keeps the tokens.
///
/// # Errors
/// When there is no such server, it cannot be reached, or the user does not sign in.
pub(super) async fn login(args: &McpLoginArgs) -> Result<(), Failure> {
    let settings = settings(&args.policy)?;
    let server = find(&settings, &args.server)?;
    url(server)?;
    let browser = Browser::listen().await?;
    let oauth = OAuth::new(Arc::new(StoredTokens::of_user()))
        .with_scopes(args.scopes.iter().cloned())
        .with_authorizer(browser);
    let oauth = match &args.client_id {
        Some(id) => oauth.with_client(id.clone(), variable("AGCORE_MCP_CLIENT_SECRET")),
        None => oauth,
    };
    let transport = server.entry.transport(&server.name, &variable);
    let transport = transport.map_err(|error| Failure::usage(error.to_string()))?;
    let options = options(server).with_connect_timeout(LIMIT);
    let client = McpClient::connect_with(server.name.clone(), transport.with_oauth(oauth), options).await;
    let client = client.map_err(|error| {
        let kind = match error.kind() {
            McpErrorKind::Unauthorized => FailureKind::Key,
            _ => FailureKind::Unreachable,
        };
        Failure::new(kind, error.to_string())
    })?;
    client.close().await;
    print(&format!("{} accepts the client.\n", sanitized_line(&server.name)))
}

/// Removes the tokens of a server.
///
/// # Errors
/// When there is no such server, or the store of tokens cannot be written.
pub(super) async fn logout(args: &McpLogoutArgs) -> Result<(), Failure> {
    let settings = settings(&args.policy)?;
    let server = find(&settings, &args.server)?;
    let url = url(server)?;
    let tokens = StoredTokens::of_user();
    // The key is the parsed URL.
    let url = url::Url::parse(&url).map_or(url, |url| url.to_string());
    let deleted = tokens.delete(&url).await;
    deleted.map_err(|error| Failure::task(error.to_string()))?;
    print(&format!(
        "The tokens of {} are deleted.\n",
        sanitized_line(&server.name)
    ))
}

fn url(server: &NamedServer) -> Result<String, Failure> {
    let missing = || {
        Failure::usage(format!(
            "the MCP server {} is a command, which needs no tokens",
            sanitized_line(&server.name)
        ))
    };
    server.entry.url.clone().ok_or_else(missing)
}

/// A listener on this machine to which the browser is sent after signing in.
struct Browser {
    listener: TcpListener,
    port: u16,
}

impl Browser {
    async fn listen() -> Result<Self, Failure> {
        let listening = TcpListener::bind("127.0.0.1:0").await;
        let bound = listening.and_then(|listener| Ok((listener.local_addr()?.port(), listener)));
        let (port, listener) = bound.map_err(|error| Failure::task(format!("cannot listen on 127.0.0.1: {error}")))?;
        Ok(Self { listener, port })
    }
}

#[async_trait]
impl Authorizer for Browser {
    fn redirect_uri(&self) -> String {
        format!("http://127.0.0.1:{}{PATH}", self.port)
    }

    async fn authorize(&self, server: &str, url: &str) -> Result<String, String> {
        let (server, url) = (sanitized_line(server), sanitized_line(url));
        let text = format!("To sign in at {server}, open this address in a browser:\n{url}\n");
        io::stderr()
            .write_all(text.as_bytes())
            .map_err(|error| error.to_string())?;
        loop {
            let (stream, _) = self.listener.accept().await.map_err(|error| error.to_string())?;
            // Browsers also ask for an icon.
            if let Some(target) = answer(stream).await
                && target.starts_with(PATH)
            {
                return Ok(format!("http://127.0.0.1:{}{target}", self.port));
            }
        }
    }
}

/// Answers a request of a browser and returns its target, or `None` if it is not a request.
async fn answer(mut stream: TcpStream) -> Option<String> {
    let mut head = Vec::new();
    while !head.windows(4).any(|end| end == b"\r\n\r\n") {
        let mut chunk = [0; 4096];
        match stream.read(&mut chunk).await {
            Ok(count) if count > 0 && head.len() < MAX_REQUEST => head.extend_from_slice(&chunk[..count]),
            _ => return None,
        }
    }
    let line = String::from_utf8_lossy(&head);
    let target = line.strip_prefix("GET ")?.split(' ').next()?.to_owned();
    let reply = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{PAGE}",
        PAGE.len()
    );
    // The target arrived, whether or not the page is shown.
    let _ = stream.write_all(reply.as_bytes()).await;
    Some(target)
}
