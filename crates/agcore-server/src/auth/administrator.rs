//! [`Administrator`]: who may look after tenants, and [`AdminAuthenticator`], which finds out.

use std::fmt::Debug;

use agcore_chat::Text;
use async_trait::async_trait;

use super::{AuthError, Client};

/// Somebody who may look after tenants: with the routes below `/api/v1/admin`, and with no others.
///
/// ```
/// use agcore_server::Administrator;
///
/// let support = Administrator::new("support").with_tenant("acme");
/// assert!(support.manages("acme") && !support.manages("other") && !support.manages_all());
/// assert!(Administrator::new("operator").manages_all());
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Administrator {
    /// The name, for the log.
    pub name: String,
    /// The only tenants that the administrator looks after; all if there are none.
    pub tenants: Vec<Text>,
}

/// Finds out which administrator makes a request. Credentials of administrators are not those of users: an
/// [`Authenticator`](super::Authenticator) must not accept them.
///
/// A server asks in order. The first one that finds credentials of its kind decides.
#[async_trait]
pub trait AdminAuthenticator: Send + Sync + Debug {
    /// Returns the administrator; `None` if the request has no credentials of an administrator.
    ///
    /// # Errors
    /// When the credentials are not valid, or cannot be checked.
    async fn administrator(&self, client: &Client<'_>) -> Result<Option<Administrator>, AuthError>;

    /// Returns whether the credentials are those of an administrator, if that is known at once. Such requests are refused by the
    /// routes of users, also by a server that accepts requests of users without credentials.
    fn recognizes(&self, client: &Client<'_>) -> bool {
        let _ = client;
        false
    }
}

impl Administrator {
    /// Creates an administrator of all tenants.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            tenants: Vec::new(),
        }
    }

    /// Adds a tenant to those that the administrator looks after, and to no others. Can be called several times.
    #[must_use]
    pub fn with_tenant(mut self, tenant: impl Into<Text>) -> Self {
        self.tenants.push(tenant.into());
        self
    }

    /// Returns whether the administrator looks after a tenant.
    pub fn manages(&self, tenant: &str) -> bool {
        self.manages_all() || self.tenants.iter().any(|known| known == tenant)
    }

    /// Returns whether the administrator looks after all tenants, and after the processes that work for them.
    pub fn manages_all(&self) -> bool {
        self.tenants.is_empty()
    }
}
