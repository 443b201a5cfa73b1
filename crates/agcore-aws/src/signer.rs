//! [`Signer`]: signs requests with version 4 of Amazon's signatures.

use std::{borrow::Cow, fmt::Write, time::SystemTime};

use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};
use time::OffsetDateTime;

use crate::keys::AwsKeys;

const ALGORITHM: &str = "AWS4-HMAC-SHA256";

/// The end of the scope of a signature.
const END: &str = "aws4_request";

/// The service whose paths are signed as they are, and whose requests have the hash of their body in a header.
const S3: &str = "s3";

/// Signs requests to a service in a region.
///
/// Most services expect the path in the signature with its escapes escaped again (`%3A` as `%253A`); S3 expects it as it is sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signer {
    service: Cow<'static, str>,
    region: String,
}

/// The parts of a request that are signed.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct RequestParts<'a> {
    /// The HTTP method.
    pub method: &'a str,
    /// The host as it is sent, with the port if it is not the usual one.
    pub host: &'a str,
    /// The path as it is sent, with its escapes.
    pub path: &'a str,
    /// The query as it is sent, without the question mark; empty if there is none.
    pub query: &'a str,
    /// Further headers that are signed. Others may be changed on the way.
    pub headers: &'a [(&'a str, &'a str)],
    /// The body.
    pub body: &'a [u8],
}

impl<'a> RequestParts<'a> {
    /// Creates a request without query, further headers and body.
    pub fn new(method: &'a str, host: &'a str, path: &'a str) -> Self {
        Self {
            method,
            host,
            path,
            query: "",
            headers: &[],
            body: &[],
        }
    }

    /// Sets the query.
    #[must_use]
    pub fn with_query(mut self, query: &'a str) -> Self {
        self.query = query;
        self
    }

    /// Sets further headers that are signed.
    #[must_use]
    pub fn with_headers(mut self, headers: &'a [(&'a str, &'a str)]) -> Self {
        self.headers = headers;
        self
    }

    /// Sets the body.
    #[must_use]
    pub fn with_body(mut self, body: &'a [u8]) -> Self {
        self.body = body;
        self
    }
}

impl Signer {
    /// Creates a signer for a service, such as `bedrock` or `s3`, in a region such as `eu-central-1`.
    pub fn new(service: impl Into<Cow<'static, str>>, region: impl Into<String>) -> Self {
        Self {
            service: service.into(),
            region: region.into(),
        }
    }

    /// Returns the headers to add to a request, with the signature in `authorization` as the last one.
    ///
    /// A signature is valid for a few minutes around `now`.
    pub fn sign(&self, keys: &AwsKeys, request: &RequestParts<'_>, now: SystemTime) -> Vec<(&'static str, String)> {
        let time = amazon_time(now);
        let hash = hex(&Sha256::digest(request.body));
        let mut added = Vec::with_capacity(4);
        if self.service == S3 {
            added.push(("x-amz-content-sha256", hash.clone()));
        }
        added.push(("x-amz-date", time.clone()));
        if let Some(token) = keys.session_token() {
            added.push(("x-amz-security-token", token.to_owned()));
        }
        let signed = SignedHeaders::new(request, &added);
        let canonical = self.canonical(request, &signed, &hash);
        let authorization = self.authorization(keys, &time, &signed, &canonical);
        added.push(("authorization", authorization));
        added
    }

    /// Returns the request in the form that is signed.
    fn canonical(&self, request: &RequestParts<'_>, headers: &SignedHeaders, hash: &str) -> String {
        let path = match request.path {
            "" => Cow::Borrowed("/"),
            path if self.service == S3 => Cow::Borrowed(path),
            path => Cow::Owned(escaped(path)),
        };
        let query = sorted_query(request.query);
        let (lines, names) = (&headers.lines, &headers.names);
        format!("{}\n{path}\n{query}\n{lines}\n{names}\n{hash}", request.method)
    }

    fn authorization(&self, keys: &AwsKeys, time: &str, headers: &SignedHeaders, canonical: &str) -> String {
        let day = time.split('T').next().unwrap_or_default();
        let (region, service) = (self.region.as_str(), &*self.service);
        let scope = format!("{day}/{region}/{service}/{END}");
        let text = format!("{ALGORITHM}\n{time}\n{scope}\n{}", hex(&Sha256::digest(canonical)));
        let mut key = format!("AWS4{}", keys.secret()).into_bytes();
        for part in [day, region, service, END] {
            key = mac(&key, part);
        }
        let signature = hex(&mac(&key, &text));
        let (id, names) = (keys.id(), &headers.names);
        format!("{ALGORITHM} Credential={id}/{scope}, SignedHeaders={names}, Signature={signature}")
    }
}

/// The headers that are signed.
struct SignedHeaders {
    /// Name and value of each, sorted by name.
    lines: String,
    /// The names.
    names: String,
}

impl SignedHeaders {
    fn new(request: &RequestParts<'_>, added: &[(&'static str, String)]) -> Self {
        let added = added.iter().map(|(name, value)| (*name, value.as_str()));
        let all = request
            .headers
            .iter()
            .copied()
            .chain(added)
            .chain([("host", request.host)]);
        let mut all: Vec<(String, String)> = all
            .map(|(name, value)| {
                let words: Vec<&str> = value.split_ascii_whitespace().collect();
                (name.to_ascii_lowercase(), words.join(" "))
            })
            .collect();
        all.sort_by(|(first, _), (second, _)| first.cmp(second));
        let (mut lines, mut names) = (String::new(), String::new());
        for (name, value) in &all {
            // Writing to a string cannot fail.
            let _ = writeln!(lines, "{name}:{value}");
            names.push_str(if names.is_empty() { "" } else { ";" });
            names.push_str(name);
        }
        Self { lines, names }
    }
}

/// Returns the time in the form of signatures, such as `20130524T000000Z`.
fn amazon_time(now: SystemTime) -> String {
    let now = OffsetDateTime::from(now);
    format!(
        "{:04}{:02}{:02}T{:02}{:02}{:02}Z",
        now.year(),
        u8::from(now.month()),
        now.day(),
        now.hour(),
        now.minute(),
        now.second()
    )
}

/// Escapes everything but letters, digits, `-`, `.`, `_`, `~` and `/`. Escapes are escaped again.
fn escaped(path: &str) -> String {
    let mut escaped = String::with_capacity(path.len());
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte) {
            escaped.push(char::from(byte));
        } else {
            let _ = write!(escaped, "%{byte:02X}");
        }
    }
    escaped
}

/// Returns a query with its parameters in order, each with an equals sign.
fn sorted_query(query: &str) -> String {
    let parameters = query.split('&').filter(|parameter| !parameter.is_empty());
    let mut parameters: Vec<(&str, &str)> = parameters
        .map(|parameter| parameter.split_once('=').unwrap_or((parameter, "")))
        .collect();
    parameters.sort_unstable();
    let joined: Vec<String> = parameters
        .iter()
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    joined.join("&")
}

fn mac(key: &[u8], text: &str) -> Vec<u8> {
    // Keys of every length are accepted.
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(key) else {
        return Vec::new();
    };
    mac.update(text.as_bytes());
    mac.finalize().into_bytes().to_vec()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
