//! [`verifier`]: what checks the tokens of another service, by `[serve.jwt]`.

use std::{fs, path::Path, sync::Arc};

use agcore::llm::{
    SystemClock,
    transport::http::{HttpOptions, HttpTransport, Proxy},
};
use agcore_server::{JwkSetSource, JwtVerifier};
use agcore_settings::JwtTable;
use url::{Host, Url};

/// Returns the verifier of a table. `folder` is that of the settings, and `proxy` that of outgoing requests. Errors are added
/// to `problems`.
pub(super) fn verifier(
    table: &JwtTable,
    folder: Option<&Path>,
    proxy: &Proxy,
    problems: &mut Vec<String>,
) -> Option<JwtVerifier> {
    if table.audience.trim().is_empty() {
        problems.push("`audience` of [serve.jwt] is empty; set the name of this server in the tokens".to_owned());
    }
    let verifier = match (&table.keys, &table.keys_url) {
        (Some(keys), None) => from_file(&folder.unwrap_or(Path::new("")).join(keys), &table.audience),
        (None, Some(url)) => source(url, proxy)
            .map(|source| JwtVerifier::fetching(source, table.audience.as_str(), Arc::new(SystemClock::new())))
            .map_err(|error| format!("`keys_url` of [serve.jwt] is {url:?}: {error}")),
        (Some(_), Some(_)) => Err("[serve.jwt] has both `keys` and `keys_url`; remove one of them".to_owned()),
        (None, None) => Err("[serve.jwt] has no keys; set `keys` to a file, or `keys_url` to an address".to_owned()),
    };
    let mut verifier = verifier.map_err(|problem| problems.push(problem)).ok()?;
    if let Some(issuer) = &table.issuer {
        verifier = verifier.with_issuer(issuer.as_str());
    }
    if let Some(claim) = &table.user_claim {
        verifier = verifier.with_user_claim(claim.as_str());
    }
    if let Some(claim) = &table.tenant_claim {
        verifier = verifier.with_tenant_claim(claim.as_str());
    }
    match (&table.admin_claim, &table.admin_value) {
        (claim, Some(value)) if !value.trim().is_empty() => {
            verifier = verifier.with_admin_claim(claim.as_deref().unwrap_or("scope"), value.as_str());
        }
        (None, None) => {}
        _ => problems.push(
            "[serve.jwt] has no `admin_value`, or an empty one; set the value of `admin_claim` that makes administrators"
                .to_owned(),
        ),
    }
    Some(verifier)
}

fn from_file(path: &Path, audience: &str) -> Result<JwtVerifier, String> {
    let keys = fs::read_to_string(path).map_err(|error| error.to_string());
    let verifier = keys.and_then(|keys| {
        let clock = Arc::new(SystemClock::new());
        JwtVerifier::new(&keys, audience, clock).map_err(|error| error.to_string())
    });
    verifier.map_err(|error| format!("cannot use the keys in {}: {error}", path.display()))
}

fn source(text: &str, proxy: &Proxy) -> Result<JwkSetSource, String> {
    let url = Url::parse(text).map_err(|_| "it is not a URL".to_owned())?;
    let is_local = match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    };
    if url.scheme() != "https" && !(url.scheme() == "http" && is_local) {
        let problem = "it must begin with https://, because a network peer that changes the answer could sign tokens";
        return Err(problem.to_owned());
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err("it has a user name or a password, which are not sent; remove them".to_owned());
    }
    let path = match url.query() {
        Some(query) => format!("{}?{query}", url.path()),
        None => url.path().to_owned(),
    };
    let options = HttpOptions::new(url.origin().ascii_serialization()).with_proxy(proxy.clone());
    let transport = HttpTransport::new(options).map_err(|error| error.message().to_owned())?;
    Ok(JwkSetSource::new(Arc::new(transport), path))
}
