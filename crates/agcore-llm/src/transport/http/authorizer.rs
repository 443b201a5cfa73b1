//! [`Authorizer`]: adds the credential to requests.

use bytes::Bytes;
use http::{HeaderName, HeaderValue, Request, header::Entry};

use crate::credential::{BEARER, Credential, KeyHeader, RequestSigner, Secret, SecretGuard};
use agcore_wire::{LlmError, WireRequest};

use super::base_url::BaseUrl;

/// Adds the credential to requests, and registers every secret that it sends with the guard.
#[derive(Debug)]
pub(super) struct Authorizer {
    credential: Credential,
    /// The header of the key or token.
    header: KeyHeader,
    /// The value of the header of a fixed key.
    fixed: Option<HeaderValue>,
    guard: SecretGuard,
}

impl Authorizer {
    /// `header` is the one of keys.
    pub(super) fn new(credential: Credential, header: KeyHeader, guard: SecretGuard) -> Result<Self, LlmError> {
        let fixed = match &credential {
            Credential::Key(key) => {
                guard.add(key);
                Some(header_value(&header, key)?)
            }
            Credential::Signer(signer) => {
                signer.secrets().iter().for_each(|secret| guard.add(secret));
                None
            }
            _ => None,
        };
        let header = match &credential {
            Credential::Token(_) => KeyHeader::Bearer,
            Credential::TokenIn(header, _) => header.clone(),
            _ => header,
        };
        Ok(Self {
            credential,
            header,
            fixed,
            guard,
        })
    }

    /// Returns the name of the header that is reserved for the credential.
    pub(super) fn header_name(&self) -> Option<HeaderName> {
        let has_header = matches!(self.credential, Credential::Key(_)) || self.needs_token();
        has_header.then(|| self.header.name())
    }

    /// Returns whether the credential is a token source.
    pub(super) fn needs_token(&self) -> bool {
        matches!(self.credential, Credential::Token(_) | Credential::TokenIn(..))
    }

    /// Returns the token to send, if the credential is a token source. Refreshes it if the server `refused` one.
    pub(super) async fn token(&self, refused: Option<&Secret>) -> Result<Option<Secret>, LlmError> {
        let (Credential::Token(source) | Credential::TokenIn(_, source)) = &self.credential else {
            return Ok(None);
        };
        let token = match refused {
            None => source.token().await?,
            Some(refused) => source.refresh(refused).await?,
        };
        self.guard.add(&token);
        Ok(Some(token))
    }

    /// Returns the signer of requests, if the credential is one.
    pub(super) fn signer(&self) -> Option<&dyn RequestSigner> {
        match &self.credential {
            Credential::Signer(signer) => Some(signer.as_ref()),
            _ => None,
        }
    }

    /// Returns the final request with its key or token. A header set by the caller takes precedence.
    pub(super) fn authorize(
        &self,
        mut request: WireRequest,
        base: &BaseUrl,
        token: Option<&Secret>,
    ) -> Result<Request<Bytes>, LlmError> {
        let value = match token {
            Some(token) => Some(header_value(&self.header, token)?),
            None => self.fixed.clone(),
        };
        if let Some(value) = value
            && let Entry::Vacant(entry) = request.headers.entry(self.header.name())
        {
            entry.insert(value);
        }
        complete(request, base)
    }
}

/// Returns a request with its whole URL.
fn complete(request: WireRequest, base: &BaseUrl) -> Result<Request<Bytes>, LlmError> {
    let uri = base.join(&request.path)?;
    let mut complete = Request::new(request.body);
    *complete.method_mut() = request.method;
    *complete.uri_mut() = uri;
    *complete.headers_mut() = request.headers;
    Ok(complete)
}

fn header_value(header: &KeyHeader, key: &Secret) -> Result<HeaderValue, LlmError> {
    key.header_value(match header {
        KeyHeader::Bearer => BEARER,
        KeyHeader::Named(_) => "",
    })
}

/// Returns the final request with its signature.
pub(super) async fn sign(
    signer: &dyn RequestSigner,
    request: WireRequest,
    base: &BaseUrl,
) -> Result<Request<Bytes>, LlmError> {
    let mut signed = complete(request, base)?;
    signer.sign(&mut signed).await?;
    Ok(signed)
}
