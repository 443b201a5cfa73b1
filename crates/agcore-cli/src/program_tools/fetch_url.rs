//! `fetch_url`: reads a web page.

mod address;
mod page;

use std::{net::IpAddr, time::Duration};

use agcore::{
    llm::{
        transport::{
            Transport,
            http::{HttpOptions, HttpTransport, Timeouts},
        },
        wire::WireRequest,
    },
    tools::{Registration, State, ToolError, permission::Glob, tool},
};
use futures_util::StreamExt;
use url::{Host, Url};

use self::{address::is_public, page::Page};

/// The name of the tool.
pub(crate) const FETCH_URL: &str = "fetch_url";

/// The longest time that a page may take.
const LIMIT: Duration = Duration::from_secs(30);

/// The largest part of a page that is read, in bytes.
const MAX_BODY: usize = 2 * 1024 * 1024;

/// The URLs on private addresses that the settings allow.
#[derive(Debug, Clone, Default)]
pub(crate) struct AllowedUrls(pub(crate) Vec<Glob>);

/// Creates the tool.
pub(super) fn tool() -> Registration {
    fetch_url_tool()
}

/// Reads a web page with a GET request, and returns its text. HTML is converted into plain text. Redirects are
/// reported and not followed.
#[tool(permissions(network), read_only, open_world)]
#[serde(deny_unknown_fields)]
async fn fetch_url(
    /// The address, beginning with http:// or https://.
    url: String,
    State(allowed): State<AllowedUrls>,
) -> Result<String, ToolError> {
    let url = parsed(&url)?;
    fetched(&url, &allowed).await?.text(&url)
}

fn parsed(text: &str) -> Result<Url, ToolError> {
    let url = Url::parse(text).map_err(|error| ToolError::failed(format!("{text} is not a URL: {error}")))?;
    if !["http", "https"].contains(&url.scheme()) {
        return Err(ToolError::failed(format!(
            "{text} does not begin with http:// or https://"
        )));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(ToolError::failed("a URL with a user name or password is not fetched"));
    }
    Ok(url)
}

async fn fetched(url: &Url, allowed: &AllowedUrls) -> Result<Page, ToolError> {
    let timeouts = Timeouts::new()
        .with_connect(LIMIT)
        .with_first_byte(LIMIT)
        .with_total(LIMIT);
    let options = HttpOptions::new(url.origin().ascii_serialization())
        .with_header("accept", "text/html, text/*;q=0.9, application/json;q=0.9, */*;q=0.1")
        .with_timeouts(timeouts)
        .with_address(address(url, allowed).await?);
    let failed = |error: &dyn std::fmt::Display| ToolError::failed(format!("cannot fetch {url}: {error}"));
    let transport = HttpTransport::new(options).map_err(|error| failed(&error))?;
    let path = match url.query() {
        Some(query) => format!("{}?{query}", url.path()),
        None => url.path().to_owned(),
    };
    let mut reply = transport
        .send(WireRequest::get(path), false)
        .await
        // Of a redirect, the message has the target, and what it means for the API of a model.
        .map_err(|error| failed(&error.message().split("; redirects are not followed").next().unwrap_or_default()))?;
    let mut page = Page::new(reply.head.status.as_u16(), &reply.head.headers);
    while let Some(piece) = reply.body.next().await {
        page.body.extend_from_slice(&piece.map_err(|error| failed(&error))?);
        if page.body.len() > MAX_BODY {
            page.body.truncate(MAX_BODY);
            page.is_cut = true;
            break;
        }
    }
    Ok(page)
}

/// Returns an address of the host that may be used. The connection uses exactly this one, so that a second answer of the name
/// server cannot lead elsewhere.
async fn address(url: &Url, allowed: &AllowedUrls) -> Result<IpAddr, ToolError> {
    let addresses: Vec<IpAddr> = match url.host() {
        Some(Host::Ipv4(address)) => vec![address.into()],
        Some(Host::Ipv6(address)) => vec![address.into()],
        Some(Host::Domain(name)) => {
            let port = url.port_or_known_default().unwrap_or(443);
            let found = tokio::time::timeout(LIMIT, tokio::net::lookup_host((name, port))).await;
            let found = found.map_err(|_| ToolError::failed(format!("the name server did not answer about {name}")))?;
            let found = found.map_err(|error| ToolError::failed(format!("cannot find the host {name}: {error}")))?;
            found.map(|address| address.ip()).collect()
        }
        None => Vec::new(),
    };
    let is_allowed = allowed.0.iter().any(|glob| glob.matches(url.as_str()));
    let usable = addresses.into_iter().find(|address| is_allowed || is_public(*address));
    usable.ok_or_else(|| {
        ToolError::failed(format!(
            "{url} is on a private or local address, which is not fetched; the user can allow it with `allow = \
             [\"fetch_url({}/*)\"]` in the table [permissions] of agcore.toml",
            url.origin().ascii_serialization()
        ))
    })
}
