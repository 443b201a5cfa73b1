//! [`Ollama`]: an Ollama server on this machine.

use std::{net::IpAddr, time::Duration};

use agcore::llm::{
    ProviderConfig, ProviderType,
    transport::http::{Proxy, Timeouts},
};
use url::{Host, Url};

/// The time that a server on this machine has to list its models.
const LIMIT: Duration = Duration::from_secs(2);

/// The port of Ollama.
const PORT: u16 = 11434;

/// An Ollama server on this machine.
#[derive(Debug, Clone)]
pub(super) struct Ollama {
    pub(super) provider: ProviderType,
    /// The base URL, if it is not the default.
    pub(super) base_url: Option<String>,
    pub(super) models: Vec<String>,
}

/// Asks the server at the address in `OLLAMA_HOST`, or at the default, for its models. Other machines are not asked.
pub(super) async fn find_ollama(host: Option<&str>) -> Option<Ollama> {
    let base_url = match host {
        Some(host) => Some(local_url(host)?),
        None => None,
    };
    let provider: ProviderType = "ollama".parse().ok()?;
    let timeouts = Timeouts::new()
        .with_connect(LIMIT)
        .with_first_byte(LIMIT)
        .with_total(LIMIT);
    let config = ProviderConfig::new(provider.clone(), "")
        .with_timeouts(timeouts)
        .with_proxy(Proxy::None);
    let config = match &base_url {
        Some(url) => config.with_base_url(url.as_str()),
        None => config,
    };
    let models = config.list_models().await.ok()?;
    Some(Ollama {
        base_url: base_url.filter(|url| Some(url.as_str()) != provider.base_url()),
        provider,
        models: models.into_iter().flatten().map(|model| model.id).collect(),
    })
}

/// Returns the base URL for an address in `OLLAMA_HOST`, if it is one of this machine.
fn local_url(host: &str) -> Option<String> {
    let text = if host.contains("://") {
        host.to_owned()
    } else {
        format!("http://{host}")
    };
    let url = Url::parse(&text).ok()?;
    let port = url.port().unwrap_or(if host.contains("://") {
        url.port_or_known_default()?
    } else {
        PORT
    });
    let name = match url.host()? {
        Host::Domain(name) if name.eq_ignore_ascii_case("localhost") => "localhost".to_owned(),
        Host::Domain(_) => return None,
        // The address at which the server listens on all interfaces.
        Host::Ipv4(address) if address.is_unspecified() => "localhost".to_owned(),
        Host::Ipv6(address) if address.is_unspecified() => "localhost".to_owned(),
        Host::Ipv4(address) if IpAddr::V4(address).is_loopback() => address.to_string(),
        Host::Ipv6(address) if address.is_loopback() => format!("[{address}]"),
        Host::Ipv4(_) | Host::Ipv6(_) => return None,
    };
    Some(format!("{}://{name}:{port}/v1", url.scheme()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_addresses_of_this_machine_are_asked() {
        let check = |host: &str, expected: Option<&str>| assert_eq!(local_url(host).as_deref(), expected, "{host}");
        check("127.0.0.1:11435", Some("http://127.0.0.1:11435/v1"));
        check("localhost", Some("http://localhost:11434/v1"));
        check("0.0.0.0", Some("http://localhost:11434/v1"));
        check("0.0.0.0:8080", Some("http://localhost:8080/v1"));
        check("http://127.0.0.1:9/", Some("http://127.0.0.1:9/v1"));
        check("[::1]:9", Some("http://[::1]:9/v1"));
        check("https://localhost", Some("https://localhost:443/v1"));
        check("example.com:11434", None);
        check("10.0.0.1", None);
        check("localhost.example.com", None);
        check("http://", None);
    }
}
