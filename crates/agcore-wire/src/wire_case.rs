//! Wire cases: recorded replies of servers that are decoded in several ways and compared with the expected result.
//!
//! A case is a JSON document with the status and headers, the body (or the name of a file next to it with its exact
//! bytes), the positions at which reads end, and how the connection is closed. [`run`] decodes and folds it and returns
//! a [`NeutralResult`], whose form is the same for every API.
//!
//! ```
//! # #[cfg(feature = "openai-chat")] {
//! use agcore_wire::wire_case::{ReadMode, WireCase, run};
//!
//! let case = WireCase::parse(br#"{
//!     "id": "hello", "dialect": "openai-chat", "quirk": "a plain reply",
//!     "http": {"status": 200, "headers": {"content-type": "application/json"}},
//!     "body": "{\"choices\": [{\"message\": {\"content\": \"Hello\"}, \"finish_reason\": \"stop\"}]}",
//!     "splits": [5, 40], "close": "clean"
//! }"#)?;
//! for mode in ReadMode::ALL {
//!     let result = run(&case, case.body.as_bytes(), mode)?;
//!     assert_eq!((result.text.as_str(), result.finish.as_deref()), ("Hello", Some("stop")));
//! }
//! # }
//! # Ok::<(), agcore_wire::wire_case::CaseError>(())
//! ```

mod compare;
mod trace;
mod shown;
mod saved;
mod neutral;

pub use neutral::{NeutralCall, NeutralError, NeutralResult, NeutralUsage};

use std::collections::BTreeMap;

use agcore_chat::ChatResponse;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use serde::{Deserialize, Serialize};

use crate::{
    APIS,
    delta::ReplyDelta,
    error::LlmError,
    fold::Fold,
    wire::{Api, Chat, Close, Decoder, ReplyHead, missing_feature},
};

/// A recorded reply. Only `id`, `dialect` and `body` are required in its JSON.
///
/// ```
/// # #[cfg(feature = "openai-chat")] {
/// use agcore_wire::{Fold, wire_case::WireCase};
///
/// let case = WireCase::parse(br#"{
///     "id": "hello", "dialect": "openai-chat", "body": "{\"choices\": [{\"message\": {\"content\": \"Hello\"}}]}"
/// }"#)?;
/// assert_eq!(case.body_file(), None);
///
/// let (mut decoder, mut deltas) = (case.decoder()?, Vec::new());
/// decoder.feed(case.body.as_bytes(), &mut deltas)?;
/// decoder.finish(case.close.into(), &mut deltas)?;
/// let mut fold = Fold::new();
/// deltas.into_iter().for_each(|delta| fold.push_owned(delta));
/// assert_eq!(fold.response().text(), "Hello");
/// # }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WireCase {
    /// The name of the case.
    pub id: String,
    /// The API, by the name of its feature: `openai-chat`, `anthropic`, `openai-responses`, `ollama`, `gemini` or `bedrock`.
    pub dialect: String,
    /// The special feature of the case, in one line.
    #[serde(default)]
    pub quirk: String,
    /// The status and headers; by default status 200 without headers.
    #[serde(default)]
    pub http: CaseHead,
    /// The body, or the name of the file with the body if [`bytes`](Self::bytes) is set.
    pub body: String,
    /// The size of the file with the body.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// The positions in the body at which reads end; by default there is one read.
    #[serde(default)]
    pub splits: Vec<usize>,
    /// The way the connection is closed; by default cleanly.
    #[serde(default)]
    pub close: CaseClose,
}

/// The status and headers of a case.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CaseHead {
    /// The HTTP status, 200 by default.
    #[serde(default = "ok")]
    pub status: u16,
    /// The HTTP headers.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
}

fn ok() -> u16 {
    StatusCode::OK.as_u16()
}

impl Default for CaseHead {
    fn default() -> Self {
        Self {
            status: ok(),
            headers: BTreeMap::new(),
        }
    }
}

/// The way the connection of a case is closed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CaseClose {
    /// Cleanly.
    #[default]
    Clean,
    /// By a reset, after all bytes have arrived.
    Reset,
}

impl From<CaseClose> for Close {
    fn from(close: CaseClose) -> Self {
        match close {
            CaseClose::Clean => Self::Clean,
            CaseClose::Reset => Self::Reset,
        }
    }
}

/// The way a body is split into reads. The result must not depend on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadMode {
    /// At the positions listed in the case.
    Splits,
    /// A single read.
    Whole,
    /// One byte per read.
    Bytes,
}

impl ReadMode {
    /// All modes.
    pub const ALL: [Self; 3] = [Self::Splits, Self::Whole, Self::Bytes];

    /// Returns the name of the mode, for reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Splits => "splits",
            Self::Whole => "whole",
            Self::Bytes => "bytes",
        }
    }
}

/// The reason a case cannot be run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CaseError {
    /// The document is not a wire case.
    #[error("invalid wire case: {0}")]
    Malformed(#[from] serde_json::Error),
    /// The status or a header is invalid.
    #[error("invalid HTTP head in the wire case: {0}")]
    Head(String),
    /// This build does not support the API of the case.
    #[error("{}", unknown_dialect(.0))]
    UnknownDialect(String),
    /// The size of the file differs from the size in the case.
    #[error(
        "the body has {found} bytes, but the case expects {expected}: the file was changed, perhaps by converting line ends"
    )]
    Size {
        /// The size in the case.
        expected: u64,
        /// The actual size.
        found: u64,
    },
}

impl WireCase {
    /// Parses a case.
    ///
    /// # Errors
    /// If the document is not a wire case.
    pub fn parse(json: &[u8]) -> Result<Self, CaseError> {
        Ok(serde_json::from_slice(json)?)
    }

    /// Returns the name of the file with the body, if the body is not in the case itself.
    pub fn body_file(&self) -> Option<&str> {
        self.bytes.map(|_| self.body.as_str())
    }

    /// Returns the status and headers.
    ///
    /// # Errors
    /// If the status or a header is invalid.
    pub fn head(&self) -> Result<ReplyHead, CaseError> {
        let status = StatusCode::from_u16(self.http.status).map_err(|error| CaseError::Head(error.to_string()))?;
        let mut headers = HeaderMap::new();
        for (name, value) in &self.http.headers {
            let name = HeaderName::from_bytes(name.as_bytes()).map_err(|error| CaseError::Head(error.to_string()))?;
            let value = HeaderValue::from_str(value).map_err(|error| CaseError::Head(error.to_string()))?;
            headers.append(name, value);
        }
        Ok(ReplyHead { status, headers })
    }

    /// Creates a decoder for the reply of the case.
    ///
    /// # Errors
    /// If this build does not support the API, or the status or a header is invalid.
    pub fn decoder(&self) -> Result<Box<dyn Decoder<Chat>>, CaseError> {
        let api = APIS.iter().find(|api| api.name == self.dialect);
        let api = api.ok_or_else(|| CaseError::UnknownDialect(self.dialect.clone()))?;
        Ok(api.wire().decoder(&self.head()?))
    }

    /// Splits a body into reads.
    fn reads<'a>(&self, body: &'a [u8], mode: ReadMode) -> Vec<&'a [u8]> {
        let ends: Vec<usize> = match mode {
            ReadMode::Splits => self.splits.iter().copied().filter(|end| *end < body.len()).collect(),
            ReadMode::Whole => Vec::new(),
            ReadMode::Bytes => (1..body.len()).collect(),
        };
        let begins = std::iter::once(0).chain(ends.iter().copied());
        let ends = ends.iter().copied().chain(std::iter::once(body.len()));
        begins
            .zip(ends)
            .filter_map(|(begin, end)| body.get(begin..end))
            .collect()
    }
}

fn unknown_dialect(name: &str) -> String {
    let names: Vec<&str> = APIS.iter().map(|api: &Api| api.name).collect();
    let advice = missing_feature(name).map_or_else(String::new, |feature| format!("; enable the feature `{feature}`"));
    format!(
        "this build does not support the API `{name}`; it supports: {}{advice}",
        names.join(", ")
    )
}

/// Decodes and folds the body of a case.
///
/// # Errors
/// If the case cannot be run. An error that the decoder returns is part of the result.
pub fn run(case: &WireCase, body: &[u8], mode: ReadMode) -> Result<NeutralResult, CaseError> {
    if let Some(expected) = case.bytes.filter(|bytes| *bytes != body.len() as u64) {
        return Err(CaseError::Size {
            expected,
            found: body.len() as u64,
        });
    }
    let mut decoder = case.decoder()?;
    let (end, response) = fold(decoder.as_mut(), &case.reads(body, mode), case.close.into());
    Ok(NeutralResult::new(&case.id, response, end.err().as_ref()))
}

/// Reads until the end, the terminal marker or the first error.
fn fold(decoder: &mut dyn Decoder<Chat>, reads: &[&[u8]], close: Close) -> (Result<(), LlmError>, ChatResponse) {
    let (mut fold, mut deltas) = (Fold::new(), Vec::<ReplyDelta>::new());
    let mut take = |deltas: &mut Vec<ReplyDelta>| {
        for delta in deltas.drain(..) {
            fold.push(&delta);
        }
    };
    let mut end = Ok(());
    for read in reads {
        end = decoder.feed(read, &mut deltas);
        take(&mut deltas);
        if end.is_err() || decoder.is_done() {
            break;
        }
    }
    if end.is_ok() {
        end = decoder.finish(close, &mut deltas);
        take(&mut deltas);
    }
    (end, fold.response())
}
