//! `fetch_url`: reads a web page.

mod access;
mod page;

pub use self::access::WebAccess;

use std::time::Duration;

use agcore::{
    llm::{
        transport::{
            Transport, TransportReply,
            address::Route,
            http::{HttpOptions, HttpTransport, Timeouts},
        },
        wire::WireRequest,
    },
    tools::{Registration, State, ToolError, tool},
};
use futures_util::StreamExt;
use http::{StatusCode, header};
use url::Url;

use self::page::Page;

/// The name of the tool.
pub(crate) const FETCH_URL: &str = "fetch_url";

/// The longest time that a page may take, with all redirects.
const LIMIT: Duration = Duration::from_secs(30);

/// The largest part of a page that is read, in bytes.
const MAX_BODY: usize = 2 * 1024 * 1024;

/// The largest number of redirects that are followed.
const MAX_REDIRECTS: usize = 5;

/// Creates the tool.
pub(super) fn tool() -> Registration {
    fetch_url_tool().with_precondition(|arguments, context| {
        let url = parsed(arguments["url"].as_str().unwrap_or_default())?;
        match context.extension::<WebAccess>() {
            Some(access) => access.check_address(&url),
            None => Ok(()),
        }
    })
}

/// Reads a web page with a GET request, and returns its text. HTML is converted into plain text. Redirects are followed, to
/// other hosts only if the rules of the user allow these.
#[tool(permissions(network), read_only, open_world)]
#[serde(deny_unknown_fields)]
async fn fetch_url(
    /// The address, beginning with http:// or https://.
    url: String,
    State(access): State<WebAccess>,
) -> Result<String, ToolError> {
    let url = parsed(&url)?;
    let fetched = tokio::time::timeout(LIMIT, fetched(url.clone(), &access)).await;
    fetched.unwrap_or_else(|_| {
        Err(ToolError::failed(format!(
            "{url} took longer than {} s",
            LIMIT.as_secs()
        )))
    })
}

fn parsed(text: &str) -> Result<Url, ToolError> {
    let url = Url::parse(text).map_err(|error| ToolError::failed(format!("{text} is not a URL: {error}")))?;
    check_form(&url)?;
    Ok(url)
}

fn check_form(url: &Url) -> Result<(), ToolError> {
    if !url.username().is_empty() || url.password().is_some() {
        return Err(ToolError::failed("a URL with a user name or password is not fetched"));
    }
    if !["http", "https"].contains(&url.scheme()) {
        return Err(ToolError::failed(format!(
            "{url} does not begin with http:// or https://"
        )));
    }
    Ok(())
}

/// Fetches a page. Each redirect passes the same checks as the URL of the call. Nothing but the URL is sent: no cookies, and no
/// header that depends on an earlier reply.
async fn fetched(mut url: Url, access: &WebAccess) -> Result<String, ToolError> {
    access.check(&url)?;
    for _ in 0..=MAX_REDIRECTS {
        let reply = replied(&url, access).await?;
        let Some(target) = target_of(&url, &reply)? else {
            return read(&url, reply).await?.text(&url);
        };
        access.check_redirect(&url, &target)?;
        url = target;
    }
    Err(ToolError::failed(format!(
        "more than {MAX_REDIRECTS} redirects, the last one to {url}"
    )))
}

async fn replied(url: &Url, access: &WebAccess) -> Result<TransportReply, ToolError> {
    let timeouts = Timeouts::new()
        .with_connect(LIMIT)
        .with_first_byte(LIMIT)
        .with_total(LIMIT);
    let mut options = HttpOptions::new(url.origin().ascii_serialization())
        .with_header("accept", "text/html, text/*;q=0.9, application/json;q=0.9, */*;q=0.1")
        .with_timeouts(timeouts)
        .with_proxy(access.proxy.clone())
        .with_redirects_returned();
    if let Route::Address(address) = access.route(url, LIMIT).await? {
        options = options.with_address(address);
    }
    let transport = HttpTransport::new(options).map_err(|error| failed(url, &error))?;
    let path = match url.query() {
        Some(query) => format!("{}?{query}", url.path()),
        None => url.path().to_owned(),
    };
    let reply = transport.send(WireRequest::get(path), false).await;
    reply.map_err(|error| failed(url, &error.message()))
}

/// Returns where a reply redirects to.
///
/// # Errors
/// When that is not the URL of a web page.
fn target_of(url: &Url, reply: &TransportReply) -> Result<Option<Url>, ToolError> {
    const REDIRECTS: [StatusCode; 5] = [
        StatusCode::MOVED_PERMANENTLY,
        StatusCode::FOUND,
        StatusCode::SEE_OTHER,
        StatusCode::TEMPORARY_REDIRECT,
        StatusCode::PERMANENT_REDIRECT,
    ];
    if !REDIRECTS.contains(&reply.head.status) {
        return Ok(None);
    }
    let Some(location) = reply.head.headers.get(header::LOCATION) else {
        return Ok(None);
    };
    let target = location.to_str().ok().and_then(|location| url.join(location).ok());
    let target = target.ok_or_else(|| failed(url, &"it redirects to something that is not a URL"))?;
    check_form(&target).map_err(|error| failed(url, &format_args!("it redirects, and {error}")))?;
    Ok(Some(target))
}

/// Reads the beginning of the body.
async fn read(url: &Url, mut reply: TransportReply) -> Result<Page, ToolError> {
    let mut page = Page::new(reply.head.status.as_u16(), &reply.head.headers);
    while let Some(piece) = reply.body.next().await {
        page.body
            .extend_from_slice(&piece.map_err(|error| failed(url, &error))?);
        if page.body.len() > MAX_BODY {
            page.body.truncate(MAX_BODY);
            page.is_cut = true;
            break;
        }
    }
    Ok(page)
}

fn failed(url: &Url, problem: &dyn std::fmt::Display) -> ToolError {
    ToolError::failed(format!("cannot fetch {url}: {problem}"))
}
