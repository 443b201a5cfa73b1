//! [`Origin`]: where a public list comes from.

use std::{fs, path::PathBuf, time::Duration};

use agcore::{
    catalog::{Snapshot, SourceFormat},
    llm::{
        transport::{
            Transport as _,
            http::{HttpOptions, HttpTransport, Timeouts},
        },
        wire::WireRequest,
    },
};
use agcore_settings::{Choices, SettingsOptions};
use futures_util::StreamExt as _;
use url::{Host, Url};

use crate::exit::Failure;

/// The addresses of public lists.
const KNOWN: [(&str, &str); 2] = [
    ("models.dev", "https://models.dev/api.json"),
    (
        "litellm",
        "https://raw.githubusercontent.com/BerriAI/litellm/main/model_prices_and_context_window.json",
    ),
];

/// The longest time that a download may take.
const LIMIT: Duration = Duration::from_secs(60);

/// The place of a list.
pub(super) enum Origin {
    File(PathBuf),
    /// The name of a known list, or the text of the user, and the address.
    Url(String, Url),
}

impl Origin {
    /// Reads what the user has named: a known list, an address or a file.
    ///
    /// # Errors
    /// When an address is not one from which prices are taken.
    pub(super) fn of(text: &str) -> Result<Self, Failure> {
        let known = KNOWN.iter().find(|(name, _)| *name == text);
        let address = known.map_or(text, |(_, url)| url);
        if !address.contains("://") {
            return Ok(Self::File(PathBuf::from(text)));
        }
        let refused = |reason: &str| Failure::usage(format!("`--from {text}` cannot be used: {reason}"));
        let url = Url::parse(address).map_err(|error| refused(&error.to_string()))?;
        let is_local = match url.host() {
            Some(Host::Domain(name)) => name == "localhost",
            Some(Host::Ipv4(address)) => address.is_loopback(),
            Some(Host::Ipv6(address)) => address.is_loopback(),
            None => false,
        };
        if url.scheme() != "https" && !(url.scheme() == "http" && is_local) {
            return Err(refused(
                "it must begin with https://, because a network peer could change the prices",
            ));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(refused(
                "it has a user name or a password, which are not sent; remove them",
            ));
        }
        Ok(Self::Url(text.to_owned(), url))
    }

    /// Returns the name for messages.
    pub(super) fn name(&self) -> String {
        match self {
            Self::File(path) => path.display().to_string(),
            Self::Url(name, _) => name.clone(),
        }
    }

    /// Returns the key of the source in the list.
    pub(super) fn key(&self, format: SourceFormat) -> &'static str {
        match format {
            SourceFormat::LiteLlm => "litellm",
            SourceFormat::ModelsDev => "models.dev",
            _ => "file",
        }
    }

    /// Returns the address of a list that is downloaded.
    pub(super) fn url(&self) -> Option<&str> {
        match self {
            Self::File(_) => None,
            Self::Url(_, url) => Some(url.as_str()),
        }
    }

    /// Reads the list.
    ///
    /// # Errors
    /// When the file or the answer cannot be read, is too large, or is not text.
    pub(super) async fn read(&self) -> Result<String, Failure> {
        let name = self.name();
        let too_large = || {
            Failure::task(format!(
                "{name} has more than {} bytes, which no list has",
                Snapshot::MAX_BYTES
            ))
        };
        let bytes = match self {
            Self::File(path) => {
                let unreadable = |error| Failure::usage(format!("cannot read {name}: {error}"));
                let size = fs::metadata(path).map_err(unreadable)?.len();
                if size > Snapshot::MAX_BYTES as u64 {
                    return Err(too_large());
                }
                fs::read(path).map_err(unreadable)?
            }
            Self::Url(_, url) => {
                let downloaded = tokio::time::timeout(LIMIT, download(url)).await;
                let slow = || {
                    Failure::task(format!(
                        "cannot download {name}: it took longer than {} s",
                        LIMIT.as_secs()
                    ))
                };
                downloaded.map_err(|_| slow())??.ok_or_else(too_large)?
            }
        };
        String::from_utf8(bytes).map_err(|_| Failure::task(format!("{name} is not a list: it is not text in UTF-8")))
    }
}

/// Downloads a list. Returns `None` if it is too large.
async fn download(url: &Url) -> Result<Option<Vec<u8>>, Failure> {
    let failed = |reason: &dyn std::fmt::Display| Failure::task(format!("cannot download {url}: {reason}"));
    let choices = Choices::read(&SettingsOptions::default())?;
    let timeouts = Timeouts::new()
        .with_connect(LIMIT)
        .with_first_byte(LIMIT)
        .with_total(LIMIT);
    let options = HttpOptions::new(url.origin().ascii_serialization())
        .with_header("accept", "application/json")
        .with_timeouts(timeouts)
        .with_proxy(choices.proxy.value.clone())
        .with_redirects_returned();
    let transport = HttpTransport::new(options).map_err(|error| failed(&error.message()))?;
    let path = match url.query() {
        Some(query) => format!("{}?{query}", url.path()),
        None => url.path().to_owned(),
    };
    let reply = transport.send(WireRequest::get(path), false).await;
    let mut reply = reply.map_err(|error| failed(&error.message()))?;
    if !reply.head.status.is_success() {
        return Err(failed(&format_args!(
            "the server answers with the status {}",
            reply.head.status
        )));
    }
    let mut bytes = Vec::new();
    while let Some(piece) = reply.body.next().await {
        bytes.extend_from_slice(&piece.map_err(|error| failed(&error))?);
        if bytes.len() > Snapshot::MAX_BYTES {
            return Ok(None);
        }
    }
    Ok(Some(bytes))
}
