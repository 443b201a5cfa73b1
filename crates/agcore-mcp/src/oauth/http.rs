//! [`AuthorizationHttp`]: requests to authorization servers.

use std::{error::Error, fmt, time::Duration};

use rmcp::transport::auth::{OAuthHttpClient, OAuthHttpClientFuture, OAuthHttpRedirectPolicy, OAuthHttpRequest};

/// The largest answer of an authorization server, in bytes.
const MAX_ANSWER: usize = 1024 * 1024;

/// The time that a request may take.
const TIMEOUT: Duration = Duration::from_secs(30);

/// The largest number of redirects that are followed where the protocol allows it.
const MAX_REDIRECTS: usize = 3;

/// Requests to authorization servers, with the TLS and the limits of this crate.
pub(super) struct AuthorizationHttp(pub(super) reqwest::Client);

/// An answer that is too large, or too many redirects.
#[derive(Debug)]
struct Refused(&'static str);

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl Error for Refused {}

impl OAuthHttpClient for AuthorizationHttp {
    fn execute(&self, request: OAuthHttpRequest) -> OAuthHttpClientFuture<'_> {
        Box::pin(async move {
            let follows = request.redirect_policy == OAuthHttpRedirectPolicy::Follow;
            let mut request = reqwest::Request::try_from(request.request)?;
            *request.timeout_mut() = Some(TIMEOUT);
            let mut redirects = 0;
            let mut response = loop {
                let again = request.try_clone().filter(|_| follows);
                let response = self.0.execute(request).await.map_err(reqwest::Error::without_url)?;
                let target = next(&response);
                match (again, target) {
                    (Some(_), Some(_)) if redirects == MAX_REDIRECTS => {
                        return Err(Refused("the authorization server redirects too often").into());
                    }
                    (Some(mut again), Some(target)) => {
                        *again.url_mut() = target;
                        request = again;
                        redirects += 1;
                    }
                    _ => break response,
                }
            };
            let mut answer = ::http::Response::builder().status(response.status());
            for (name, value) in response.headers() {
                answer = answer.header(name, value);
            }
            let mut body = Vec::new();
            while let Some(chunk) = response.chunk().await.map_err(reqwest::Error::without_url)? {
                if body.len() + chunk.len() > MAX_ANSWER {
                    return Err(Refused("the answer of the authorization server is larger than 1 MiB").into());
                }
                body.extend_from_slice(&chunk);
            }
            Ok(answer.body(body)?)
        })
    }
}

/// Returns the target of a redirect to the same origin. Another one is not followed.
fn next(response: &reqwest::Response) -> Option<url::Url> {
    if !response.status().is_redirection() {
        return None;
    }
    let location = response.headers().get(::http::header::LOCATION)?.to_str().ok()?;
    let target = response.url().join(location).ok()?;
    (target.origin() == response.url().origin()).then_some(target)
}
