//! [`SignIn`]: obtains tokens when a server asks for them.

use std::sync::Arc;

use rmcp::transport::auth::{
    AuthError, AuthorizationManager, AuthorizationRequest, AuthorizationSession, ClientCredentialsConfig,
    CredentialStore as _, OAuthHttpClient,
};
use url::Url;

use super::{
    settings::{Grant, OAuth},
    store::Entry,
};

/// Obtains the tokens of one server when it asks for them.
pub(super) struct SignIn {
    pub(super) server: String,
    pub(super) url: Url,
    pub(super) oauth: OAuth,
    pub(super) http: Arc<dyn OAuthHttpClient>,
    /// One person signs in at a time.
    pub(super) turn: tokio::sync::Mutex<()>,
}

impl SignIn {
    /// Returns a manager of the tokens of the server.
    pub(super) async fn manager(&self) -> Result<AuthorizationManager, AuthError> {
        let http = Arc::clone(&self.http);
        let mut manager = AuthorizationManager::new_with_oauth_http_client(self.url.clone(), http).await?;
        manager.set_credential_store(self.entry());
        Ok(manager)
    }

    fn entry(&self) -> Entry {
        Entry {
            store: Arc::clone(&self.oauth.store),
            url: self.url.to_string(),
        }
    }

    /// Obtains new tokens. `challenge` is the header of the server that asks for them, `scope` what it misses.
    pub(super) async fn run(&self, challenge: &str, scope: Option<&str>) -> Result<(), AuthError> {
        let _turn = self.turn.lock().await;
        let mut manager = self.manager().await?;
        let resolved = manager.resolve_metadata_from_challenge(Some(challenge)).await?;
        manager.set_metadata(resolved.metadata);
        match &self.oauth.grant {
            Grant::Client { id, secret } => self.with_credentials(manager, id, secret, scope).await,
            Grant::Person { .. } => self.with_person(manager, challenge, scope).await,
        }
    }

    async fn with_credentials(
        &self,
        mut manager: AuthorizationManager,
        id: &str,
        secret: &str,
        scope: Option<&str>,
    ) -> Result<(), AuthError> {
        let config = ClientCredentialsConfig::ClientSecret {
            client_id: id.to_owned(),
            client_secret: secret.to_owned(),
            scopes: self.scopes(&manager, scope).await?,
            resource: Some(self.url.to_string()),
        };
        manager.configure_client_credentials(&config)?;
        manager.exchange_client_credentials(&config).await.map(drop)
    }

    async fn with_person(
        &self,
        manager: AuthorizationManager,
        challenge: &str,
        scope: Option<&str>,
    ) -> Result<(), AuthError> {
        let Grant::Person {
            authorizer: Some(authorizer),
            client,
            metadata_url,
        } = &self.oauth.grant
        else {
            return Err(AuthError::AuthorizationRequired);
        };
        let mut request = AuthorizationRequest::new(authorizer.redirect_uri())
            .with_client_name(&self.oauth.client_name)
            .with_scopes(self.scopes(&manager, scope).await?)
            .with_challenge(challenge);
        if let Some((id, secret)) = client {
            request = request.with_preregistered_client(id);
            if let Some(secret) = secret {
                request = request.with_client_secret(secret);
            }
        }
        if let Some(url) = metadata_url {
            request = request.with_client_metadata_url(url);
        }
        let session = AuthorizationSession::new(manager, request).await;
        let session = session.map_err(|(_, error)| error)?;
        let redirected = authorizer
            .authorize(&self.server, session.get_authorization_url())
            .await
            .map_err(AuthError::AuthorizationFailed)?;
        session.handle_callback_url(&redirected).await.map(drop)
    }

    /// Returns the scopes to request: those of the settings, else those that the server asks for. What was granted before
    /// is requested again.
    async fn scopes(&self, manager: &AuthorizationManager, missing: Option<&str>) -> Result<Vec<String>, AuthError> {
        let mut scopes = match self.oauth.scopes.is_empty() {
            true => manager.select_scopes(missing, &[]),
            false => self.oauth.scopes.clone(),
        };
        let granted = match missing {
            Some(_) => self.entry().load().await?.map(|saved| saved.granted_scopes),
            None => None,
        };
        let missing = missing.into_iter().flat_map(str::split_whitespace).map(str::to_owned);
        for scope in granted.into_iter().flatten().chain(missing) {
            if !scopes.contains(&scope) {
                scopes.push(scope);
            }
        }
        Ok(scopes)
    }
}
