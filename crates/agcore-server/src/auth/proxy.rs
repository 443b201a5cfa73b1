//! [`TrustedProxy`]: users that a proxy has authenticated.

use std::{
    net::IpAddr,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use agcore_chat::Actor;
use async_trait::async_trait;
use http::{HeaderName, HeaderValue};

use super::{AuthError, Authenticator, Client};

/// Trusts the headers of a proxy that authenticates users: `x-agcore-user` and `x-agcore-tenant`.
///
/// Only connections from the addresses of the proxy are trusted. The proxy must remove these headers from the requests of its
/// clients. Requests from other addresses that have the header are refused.
///
/// ```
/// use agcore_server::{Authenticator, Client, TrustedProxy};
/// use http::HeaderMap;
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let proxy = TrustedProxy::new(["10.0.0.7".parse().unwrap()]);
/// let mut headers = HeaderMap::new();
/// headers.insert("x-agcore-user", "ann".parse().unwrap());
/// headers.insert("x-agcore-tenant", "acme".parse().unwrap());
///
/// let actor = proxy.authenticate(&Client::new(&headers, "10.0.0.7".parse().unwrap())).await?;
/// assert_eq!(actor.unwrap().to_string(), "acme/ann");
/// assert!(proxy.authenticate(&Client::new(&headers, "10.0.0.8".parse().unwrap())).await.is_err());
/// # Ok::<(), agcore_server::AuthError>(())
/// # }).unwrap();
/// ```
#[derive(Debug, Clone)]
pub struct TrustedProxy {
    addresses: Vec<IpAddr>,
    user: HeaderName,
    tenant: HeaderName,
    /// Whether the log has the warning about a missing tenant.
    has_warned: Arc<AtomicBool>,
}

impl TrustedProxy {
    /// Trusts a proxy at these addresses.
    pub fn new(addresses: impl IntoIterator<Item = IpAddr>) -> Self {
        Self {
            addresses: addresses.into_iter().collect(),
            user: HeaderName::from_static("x-agcore-user"),
            tenant: HeaderName::from_static("x-agcore-tenant"),
            has_warned: Arc::default(),
        }
    }

    /// Sets the header with the user.
    #[must_use]
    pub fn with_user_header(mut self, name: HeaderName) -> Self {
        self.user = name;
        self
    }

    /// Sets the header with the tenant. A request without it is one of the tenant `local`; the first one is logged as a warning.
    #[must_use]
    pub fn with_tenant_header(mut self, name: HeaderName) -> Self {
        self.tenant = name;
        self
    }
}

#[async_trait]
impl Authenticator for TrustedProxy {
    async fn authenticate(&self, client: &Client<'_>) -> Result<Option<Actor>, AuthError> {
        let mut users = client.headers.get_all(&self.user).iter();
        let Some(user) = users.next() else {
            return Ok(None);
        };
        let mut tenants = client.headers.get_all(&self.tenant).iter();
        let tenant = tenants.next();
        // Two values mean that the proxy has passed on that of its client.
        let is_doubled = users.next().is_some() || tenants.next().is_some();
        if is_doubled || !self.addresses.contains(&client.address.to_canonical()) {
            return Err(AuthError::Invalid);
        }
        let user = text(user)?;
        Ok(Some(match tenant {
            Some(tenant) => Actor::new(text(tenant)?, user),
            None => {
                self.warn();
                Actor::user(user)
            }
        }))
    }
}

impl TrustedProxy {
    /// Warns about the first request without a tenant: perhaps the proxy was meant to name one.
    fn warn(&self) {
        if !self.has_warned.swap(true, Ordering::Relaxed) {
            tracing::warn!(
                header = %self.tenant,
                "the proxy names no tenant, so its users share the tenant `local`; have it send the header if they belong to several customers"
            );
        }
    }
}

fn text(value: &HeaderValue) -> Result<&str, AuthError> {
    let text = value.to_str().unwrap_or_default().trim();
    match text.is_empty() || text.len() > 256 {
        true => Err(AuthError::Invalid),
        false => Ok(text),
    }
}
