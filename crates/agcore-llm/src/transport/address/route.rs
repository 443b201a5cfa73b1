//! [`route`]: looks up a host, and decides whether it may be reached.

use std::{error::Error, fmt, io, net::IpAddr, time::Duration};

use super::{is_private_name, is_public, literal};

/// The way in which a server is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Route {
    /// Directly, at this address, which was checked.
    Address(IpAddr),
    /// Through the proxy, which finds the server.
    Proxy,
}

/// The reason a server is not reached.
#[derive(Debug)]
#[non_exhaustive]
pub enum Refusal {
    /// It is on an address that is not [public](super::is_public), or has a name that only a private network knows.
    Private,
    /// Its host was not found.
    NotFound(io::Error),
    /// The name server did not answer in time.
    NoAnswer,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Private => "the server is on a private or local address",
            Self::NotFound(_) => "the host was not found",
            Self::NoAnswer => "the name server did not answer in time",
        })
    }
}

impl Error for Refusal {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::NotFound(error) => Some(error),
            Self::Private | Self::NoAnswer => None,
        }
    }
}

/// Returns how the server with the host and the port of a URL is reached. `is_allowed` is whether it may be on a private or local
/// address, `is_proxied` whether requests to it are sent through a proxy, and `limit` the longest time for the name server.
///
/// The connection must use exactly the address that is returned, so that a second answer of the name server cannot lead elsewhere.
/// A proxy asks its own name server: names that only a private network knows, and those that this machine finds there, are
/// refused before.
///
/// # Errors
/// When the server is on a private or local address, which is not allowed, or its host is not found.
pub async fn route(
    (host, port): (&str, u16),
    is_allowed: bool,
    is_proxied: bool,
    limit: Duration,
) -> Result<Route, Refusal> {
    if !is_proxied {
        let mut found = addresses(host, port, limit).await?.into_iter();
        let usable = found.find(|address| is_allowed || is_public(*address));
        return usable.map(Route::Address).ok_or(Refusal::Private);
    }
    if is_allowed {
        return Ok(Route::Proxy);
    }
    if literal(host).is_none() && is_private_name(host) {
        return Err(Refusal::Private);
    }
    match addresses(host, port, limit).await {
        // The proxy may choose any of them.
        Ok(found) if found.is_empty() || !found.iter().all(|address| is_public(*address)) => Err(Refusal::Private),
        // Behind a proxy, this machine often knows no name of the internet.
        Ok(_) | Err(_) => Ok(Route::Proxy),
    }
}

/// Returns the addresses of a host.
async fn addresses(host: &str, port: u16, limit: Duration) -> Result<Vec<IpAddr>, Refusal> {
    if let Some(address) = literal(host) {
        return Ok(vec![address]);
    }
    let found = tokio::time::timeout(limit, tokio::net::lookup_host((host, port))).await;
    let found = found.map_err(|_| Refusal::NoAnswer)?.map_err(Refusal::NotFound)?;
    Ok(found.map(|address| address.ip()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn find(host: &str, is_allowed: bool, is_proxied: bool) -> Result<Route, Refusal> {
        route((host, 80), is_allowed, is_proxied, Duration::from_secs(30)).await
    }

    #[tokio::test]
    async fn private_hosts_are_refused_unless_they_are_allowed() {
        for host in ["127.0.0.1", "[::1]", "169.254.169.254", "localhost"] {
            for is_proxied in [false, true] {
                let refused = find(host, false, is_proxied).await.unwrap_err();
                assert!(matches!(refused, Refusal::Private), "{host}: {refused}");
            }
            assert_eq!(find(host, true, true).await.unwrap(), Route::Proxy, "{host}");
            assert!(matches!(find(host, true, false).await, Ok(Route::Address(_))), "{host}");
        }
        let public = find("1.1.1.1", false, false).await.unwrap();
        assert_eq!(public, Route::Address("1.1.1.1".parse().unwrap()));
    }
}
