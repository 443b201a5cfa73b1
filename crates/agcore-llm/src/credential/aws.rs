//! [`AwsSigner`]: signs requests with version 4 of Amazon's signatures.

use std::{fmt, sync::Arc};

use agcore_aws::{AwsKeys, RequestParts, Signer};
use agcore_chat::{Clock, SystemClock};
use async_trait::async_trait;
use bytes::Bytes;
use http::{HeaderName, HeaderValue, Request, uri::Scheme};

use super::{RequestSigner, secret::Secret};
use agcore_wire::{LlmError, LlmErrorKind};

/// The service in the signatures of requests to models, which is not that in the host (`bedrock-runtime`).
const SERVICE: &str = "bedrock";

/// Signs requests to Amazon Bedrock with the keys of an account, in place of an API key.
///
/// ```
/// use agcore_llm::credential::{AwsKeys, AwsSigner, Credential};
///
/// let keys = AwsKeys::new("AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY");
/// let credential = Credential::signer(AwsSigner::new(keys, "eu-central-1"));
/// assert_eq!(format!("{credential:?}"), "Signer(…)");
/// ```
#[derive(Clone)]
pub struct AwsSigner {
    signer: Signer,
    keys: AwsKeys,
    clock: Arc<dyn Clock>,
}

impl AwsSigner {
    /// Creates a signer for a region, with the clock of the system.
    pub fn new(keys: AwsKeys, region: impl Into<String>) -> Self {
        Self {
            signer: Signer::new(SERVICE, region),
            keys,
            clock: Arc::new(SystemClock::new()),
        }
    }

    /// Sets the clock, which must be right within five minutes.
    #[must_use]
    pub fn with_clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = clock;
        self
    }
}

impl fmt::Debug for AwsSigner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AwsSigner")
            .field("signer", &self.signer)
            .finish_non_exhaustive()
    }
}

#[async_trait]
impl RequestSigner for AwsSigner {
    async fn sign(&self, request: &mut Request<Bytes>) -> Result<(), LlmError> {
        let host = host(request)?;
        let uri = request.uri();
        let parts = RequestParts::new(request.method().as_str(), &host, uri.path())
            .with_query(uri.query().unwrap_or_default())
            .with_body(request.body());
        for (name, value) in self.signer.sign(&self.keys, &parts, self.clock.now()) {
            let mut value = HeaderValue::from_str(&value).map_err(|_| invalid_keys())?;
            value.set_sensitive(name != "x-amz-date");
            request.headers_mut().insert(HeaderName::from_static(name), value);
        }
        Ok(())
    }

    /// Returns the secret key and the session token: a server that refuses a signature quotes the signed headers.
    fn secrets(&self) -> Vec<Secret> {
        let all = [Some(self.keys.secret()), self.keys.session_token()];
        all.into_iter().flatten().map(Secret::from).collect()
    }
}

/// Returns the host as it is sent: with the port, unless it is the usual one.
fn host(request: &Request<Bytes>) -> Result<String, LlmError> {
    let uri = request.uri();
    let host = uri.host().ok_or_else(|| {
        LlmError::new(
            LlmErrorKind::InvalidRequest,
            "a request without a host cannot be signed: set a base URL with one",
        )
    })?;
    let usual = if uri.scheme() == Some(&Scheme::HTTP) { 80 } else { 443 };
    Ok(match uri.port_u16().filter(|port| *port != usual) {
        Some(port) => format!("{host}:{port}"),
        None => host.to_owned(),
    })
}

#[cold]
fn invalid_keys() -> LlmError {
    LlmError::new(
        LlmErrorKind::Authentication,
        "the AWS credentials contain a line break or another invalid character; were they copied correctly?",
    )
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use super::*;

    #[derive(Debug)]
    struct FixedClock(SystemTime);

    #[async_trait]
    impl Clock for FixedClock {
        fn now(&self) -> SystemTime {
            self.0
        }

        fn monotonic(&self) -> Duration {
            Duration::ZERO
        }

        async fn sleep(&self, _: Duration) {}
    }

    async fn signed(keys: AwsKeys, uri: &str) -> Result<Request<Bytes>, LlmError> {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_796_040_000);
        let signer = AwsSigner::new(keys, "eu-central-1").with_clock(Arc::new(FixedClock(now)));
        assert!(!format!("{signer:?}").contains("secret"));
        let request = Request::post(uri).header("content-type", "application/json");
        let mut request = request.body(Bytes::from_static(br#"{"messages":[]}"#)).unwrap();
        signer.sign(&mut request).await.map(|()| request)
    }

    #[tokio::test]
    async fn every_part_of_a_request_is_signed() {
        let keys = || AwsKeys::new("AKIDEXAMPLE", "secret");
        let uri = "https://bedrock-runtime.eu-central-1.amazonaws.com/model/eu.amazon.nova-lite-v1%3A0/converse";
        let request = signed(keys(), uri).await.unwrap();
        assert_eq!(request.headers()["x-amz-date"], "20261130T120000Z");
        let authorization = request.headers()["authorization"].to_str().unwrap().to_owned();
        assert!(
            authorization.starts_with(
                "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20261130/eu-central-1/bedrock/aws4_request, \
                 SignedHeaders=host;x-amz-date, Signature="
            ),
            "{authorization}"
        );
        assert!(request.headers()["authorization"].is_sensitive());
        assert!(!request.headers().contains_key("x-amz-security-token"));
        for other in [
            "https://bedrock-runtime.eu-central-1.amazonaws.com:8443/model/eu.amazon.nova-lite-v1%3A0/converse",
            "https://bedrock-runtime.eu-central-1.amazonaws.com/model/eu.amazon.nova-lite-v1:0/converse",
            "https://bedrock-runtime.eu-central-1.amazonaws.com/model/eu.amazon.nova-lite-v1%3A0/converse?a=1",
        ] {
            let other = signed(keys(), other).await.unwrap();
            assert_ne!(other.headers()["authorization"], authorization.as_str());
        }
        let usual = uri.replace("amazonaws.com/", "amazonaws.com:443/");
        let usual = signed(keys(), &usual).await.unwrap();
        assert_eq!(usual.headers()["authorization"], authorization.as_str());
        assert_eq!(
            signed(keys(), "/path").await.unwrap_err().kind(),
            LlmErrorKind::InvalidRequest
        );
    }

    #[tokio::test]
    async fn a_session_token_is_sent_and_kept_secret() {
        let keys = AwsKeys::new("AKIDEXAMPLE", "secret").with_session_token("session-token");
        let request = signed(keys.clone(), "http://127.0.0.1:1/model/m/converse")
            .await
            .unwrap();
        assert_eq!(request.headers()["x-amz-security-token"], "session-token");
        assert!(request.headers()["x-amz-security-token"].is_sensitive());
        let secrets = AwsSigner::new(keys, "r").secrets();
        let secrets: Vec<&str> = secrets.iter().map(Secret::expose).collect();
        assert_eq!(secrets, ["secret", "session-token"]);
        let wrong = AwsKeys::new("AKIDEXAMPLE", "secret").with_session_token("a\nb");
        let error = signed(wrong, "http://127.0.0.1:1/").await.unwrap_err();
        assert_eq!(error.kind(), LlmErrorKind::Authentication);
        assert!(!error.chain().contains("a\nb"), "{error}");
    }
}
