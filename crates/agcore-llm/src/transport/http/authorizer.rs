//! [`Authorizer`]: puts the credential into requests.

use http::{HeaderName, HeaderValue, header::Entry};
use reqwest::Request;

use crate::credential::{Credential, KeyHeader, RequestSigner, Secret, SecretGuard};
use agcore_wire::{LlmError, LlmErrorKind, WireRequest};

use super::base::BaseUrl;

/// Puts the credential into requests, and tells the guard what it put there.
#[derive(Debug)]
pub(super) struct Authorizer {
    credential: Credential,
    header: KeyHeader,
    /// The header of a fixed key.
    fixed: Option<HeaderValue>,
    guard: SecretGuard,
}

impl Authorizer {
    pub(super) fn new(credential: Credential, header: KeyHeader, guard: SecretGuard) -> Result<Self, LlmError> {
        let fixed = match &credential {
            Credential::Key(key) => {
                guard.learn(key);
                Some(header_value(&header, key)?)
            }
            _ => None,
        };
        Ok(Self {
            credential,
            header,
            fixed,
            guard,
        })
    }

    /// The name of the header that the credential needs for itself.
    pub(super) fn header_name(&self) -> Option<HeaderName> {
        matches!(self.credential, Credential::Key(_) | Credential::Token(_)).then(|| self.header.name())
    }

    /// Whether tokens are used.
    pub(super) fn needs_token(&self) -> bool {
        matches!(self.credential, Credential::Token(_))
    }

    /// The token to send now, where tokens are used; a new one when the server refused one.
    pub(super) async fn token(&self, refused: Option<&Secret>) -> Result<Option<Secret>, LlmError> {
        let Credential::Token(source) = &self.credential else {
            return Ok(None);
        };
        let token = match refused {
            None => source.token().await?,
            Some(refused) => source.refresh(refused).await?,
        };
        self.guard.learn(&token);
        Ok(Some(token))
    }

    /// Who signs requests, where they are signed.
    pub(super) fn signer(&self) -> Option<&dyn RequestSigner> {
        match &self.credential {
            Credential::Signer(signer) => Some(signer.as_ref()),
            _ => None,
        }
    }

    /// The request with its key or token, as it goes out. A header that the caller set stands.
    pub(super) fn finish(
        &self,
        mut request: WireRequest,
        base: &BaseUrl,
        token: Option<&Secret>,
    ) -> Result<Request, LlmError> {
        let value = match token {
            Some(token) => Some(header_value(&self.header, token)?),
            None => self.fixed.clone(),
        };
        if let Some(value) = value
            && let Entry::Vacant(entry) = request.headers.entry(self.header.name())
        {
            entry.insert(value);
        }
        let mut finished = Request::new(request.method, base.join(&request.path)?);
        *finished.headers_mut() = request.headers;
        *finished.body_mut() = Some(request.body.into());
        Ok(finished)
    }
}

fn header_value(header: &KeyHeader, key: &Secret) -> Result<HeaderValue, LlmError> {
    key.header_value(match header {
        KeyHeader::Bearer => "Bearer ",
        KeyHeader::Named(_) => "",
    })
}

/// The request with its signature, as it goes out.
pub(super) async fn signed(
    signer: &dyn RequestSigner,
    request: WireRequest,
    base: &BaseUrl,
) -> Result<Request, LlmError> {
    let url = base.join(&request.path)?;
    let mut plain = http::Request::new(request.body);
    *plain.method_mut() = request.method;
    *plain.headers_mut() = request.headers;
    *plain.uri_mut() = url
        .as_str()
        .parse()
        .map_err(|error: http::uri::InvalidUri| unsendable(error))?;
    signer.sign(&mut plain).await?;
    Request::try_from(plain).map_err(|error| unsendable(error.without_url()))
}

fn unsendable(error: impl std::error::Error + Send + Sync + 'static) -> LlmError {
    LlmError::new(LlmErrorKind::InvalidRequest, "the request cannot be sent as it is").with_source(error)
}
