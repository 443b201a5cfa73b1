//! [`OAuth`]: how a client is authorized, and [`Authorizer`], which lets a person sign in.

use std::{fmt, sync::Arc};

use async_trait::async_trait;

use super::store::TokenStore;

/// Lets a person sign in at an authorization server, usually in a browser.
#[async_trait]
pub trait Authorizer: Send + Sync {
    /// Returns the address to which the browser is sent after signing in, such as `http://127.0.0.1:8932/callback`.
    fn redirect_uri(&self) -> String;

    /// Opens the page at `url`, waits until the person has signed in, and returns the whole address to which the browser
    /// was sent, with its query.
    ///
    /// # Errors
    /// Why the person did not sign in.
    async fn authorize(&self, server: &str, url: &str) -> Result<String, String>;
}

/// Authorization of a client at a server over HTTP, with OAuth 2.1 as the Model Context Protocol describes it.
///
/// When the server asks for a token, its authorization server is discovered, the client is registered if necessary, and an
/// [`Authorizer`] lets a person sign in. The tokens are kept in a [`TokenStore`] under the URL of the server, and refreshed
/// before they expire. A server that asks for more scopes is asked for them once; the request that it refused is sent again.
/// Programs without a person use [`with_client_credentials`](Self::with_client_credentials).
///
/// ```
/// use std::sync::Arc;
///
/// use agcore_mcp::{HttpTransport, InMemoryTokenStore, OAuth};
///
/// let oauth = OAuth::new(Arc::new(InMemoryTokenStore::new())).with_client_credentials("my-service", "secret");
/// let transport = HttpTransport::new("https://mcp.example.org/mcp")?.with_oauth(oauth);
/// assert!(!format!("{transport:?}").contains("secret"));
/// # Ok::<(), agcore_mcp::McpError>(())
/// ```
#[derive(Clone)]
#[must_use]
pub struct OAuth {
    pub(super) store: Arc<dyn TokenStore>,
    pub(super) grant: Grant,
    pub(super) scopes: Vec<String>,
    pub(super) client_name: String,
}

/// The way in which tokens are obtained.
#[derive(Clone)]
pub(super) enum Grant {
    /// A person signs in.
    Person {
        /// Without one, a person has signed in before, or has to with another program.
        authorizer: Option<Arc<dyn Authorizer>>,
        /// The id and the secret of a client that is registered already.
        client: Option<(String, Option<String>)>,
        /// The address of a document that describes the client.
        metadata_url: Option<String>,
    },
    /// The client has its own credentials.
    Client { id: String, secret: String },
}

impl OAuth {
    /// Creates an authorization with the tokens of a store. Without an authorizer or credentials, a missing token is an
    /// error.
    pub fn new(store: Arc<dyn TokenStore>) -> Self {
        Self {
            store,
            grant: Grant::Person {
                authorizer: None,
                client: None,
                metadata_url: None,
            },
            scopes: Vec::new(),
            client_name: "agcore".to_owned(),
        }
    }

    /// Lets a person sign in when the server asks for it.
    ///
    /// Signing in counts as connecting: set
    /// [`ClientOptions::with_connect_timeout`](crate::ClientOptions::with_connect_timeout) to the time that a person needs.
    pub fn with_authorizer(mut self, new: impl Authorizer + 'static) -> Self {
        if let Grant::Person { authorizer, .. } = &mut self.grant {
            *authorizer = Some(Arc::new(new));
        }
        self
    }

    /// Uses a client that is registered at the authorization server, with its secret if it has one. Without it, the client
    /// is registered when a person signs in.
    pub fn with_client(mut self, id: impl Into<String>, secret: Option<String>) -> Self {
        if let Grant::Person { client, .. } = &mut self.grant {
            *client = Some((id.into(), secret));
        }
        self
    }

    /// Sets the HTTPS address of a document that describes the client, for authorization servers that read such documents
    /// instead of registering clients.
    pub fn with_client_metadata_url(mut self, url: impl Into<String>) -> Self {
        if let Grant::Person { metadata_url, .. } = &mut self.grant {
            *metadata_url = Some(url.into());
        }
        self
    }

    /// Gets tokens with the credentials of the client itself. No person signs in.
    pub fn with_client_credentials(mut self, id: impl Into<String>, secret: impl Into<String>) -> Self {
        self.grant = Grant::Client {
            id: id.into(),
            secret: secret.into(),
        };
        self
    }

    /// Sets the scopes that are requested. Without any, those that the server asks for.
    pub fn with_scopes<T: Into<String>>(mut self, scopes: impl IntoIterator<Item = T>) -> Self {
        self.scopes = scopes.into_iter().map(Into::into).collect();
        self
    }

    /// Sets the name that is shown to the person who signs in, instead of `agcore`.
    pub fn with_client_name(mut self, name: impl Into<String>) -> Self {
        self.client_name = name.into();
        self
    }
}

impl fmt::Debug for OAuth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let grant = match &self.grant {
            Grant::Person { authorizer: None, .. } => "stored tokens",
            Grant::Person { .. } => "a person",
            Grant::Client { .. } => "client credentials",
        };
        f.debug_struct("OAuth")
            .field("grant", &grant)
            .field("scopes", &self.scopes)
            .finish_non_exhaustive()
    }
}
