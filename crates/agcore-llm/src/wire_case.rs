//! Wire cases: recorded answers of servers, read in different slicings and compared with what must come out.
//!
//! A case is one JSON document: status and headers, the body (or the name of the file beside it that holds its exact
//! bytes), places at which reads end, and whether the connection closes in order. [`run`] decodes and folds it and gives
//! the [`NeutralResult`], which is the same for every API.
//!
//! ```
//! # #[cfg(feature = "openai-chat")] {
//! use agcore_llm::wire_case::{ReadMode, WireCase, run};
//!
//! let case = WireCase::read(br#"{
//!     "id": "hello", "dialect": "openai-chat", "quirk": "a plain answer",
//!     "http": {"status": 200, "headers": {"content-type": "application/json"}},
//!     "body": "{\"choices\": [{\"message\": {\"content\": \"Hello\"}, \"finish_reason\": \"stop\"}]}",
//!     "splits": [5, 40], "close": "clean"
//! }"#)?;
//! for mode in ReadMode::ALL {
//!     let result = run(&case, case.body.as_bytes(), mode)?;
//!     assert_eq!((result.text.as_str(), result.finish.as_deref()), ("Hello", Some("stop")));
//! }
//! # }
//! # Ok::<(), agcore_llm::wire_case::CaseError>(())
//! ```

mod compare;
mod neutral;

pub use neutral::{NeutralCall, NeutralError, NeutralResult, NeutralUsage};

use std::collections::BTreeMap;

use agcore_chat::ChatResponse;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use serde::{Deserialize, Serialize};

use crate::{
    delta::ReplyDelta,
    error::LlmError,
    fold::Fold,
    wire::{Chat, Close, Decoder, ReplyHead, Wire},
};

/// A recorded answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WireCase {
    /// Its name.
    pub id: String,
    /// The API: `openai-chat`, `anthropic`, `openai-responses` or `ollama`, each with the feature of that name.
    pub dialect: String,
    /// What is special about it, in one line.
    pub quirk: String,
    /// Status and headers.
    pub http: CaseHead,
    /// The body, or, when [`bytes`](Self::bytes) is set, the name of the file that holds it.
    pub body: String,
    /// The size of the file that holds the body.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// Places in the body at which a read ends.
    #[serde(default)]
    pub splits: Vec<usize>,
    /// How the connection ends.
    pub close: CaseClose,
}

/// Status and headers of a case.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CaseHead {
    /// HTTP status.
    pub status: u16,
    /// HTTP headers.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
}

/// How the connection of a case ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CaseClose {
    /// In order.
    Clean,
    /// By a reset, after all bytes have arrived.
    Reset,
}

/// How the body is cut into reads. The result must be the same for all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadMode {
    /// At the places that the case names.
    Splits,
    /// One read.
    Whole,
    /// One byte for each read.
    Bytes,
}

impl ReadMode {
    /// All ways of reading.
    pub const ALL: [Self; 3] = [Self::Splits, Self::Whole, Self::Bytes];

    /// Its name, for reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Splits => "splits",
            Self::Whole => "whole",
            Self::Bytes => "bytes",
        }
    }
}

/// A case cannot be run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CaseError {
    /// The document is no case.
    #[error("this is no wire case: {0}")]
    Malformed(#[from] serde_json::Error),
    /// Status or a header is none.
    #[error("the case's head is no HTTP head: {0}")]
    Head(String),
    /// No wire of this build speaks its dialect.
    #[error(
        "no wire of this build speaks the dialect `{0}`; there are openai-chat, anthropic, openai-responses and ollama, each with the feature of that name"
    )]
    UnknownDialect(String),
    /// The file's size is not what the case says.
    #[error("the body has {found} bytes, the case says {expected}: the file was changed, perhaps its line ends")]
    Size {
        /// What the case says.
        expected: u64,
        /// What was handed in.
        found: u64,
    },
}

impl WireCase {
    /// Reads a case.
    ///
    /// # Errors
    /// When the document is no case.
    pub fn read(json: &[u8]) -> Result<Self, CaseError> {
        Ok(serde_json::from_slice(json)?)
    }

    /// The name of the file beside the case that holds the body, if one does.
    pub fn body_file(&self) -> Option<&str> {
        self.bytes.map(|_| self.body.as_str())
    }

    /// Status and headers.
    ///
    /// # Errors
    /// When they are none of HTTP.
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

    fn decoder(&self) -> Result<Box<dyn Decoder<Chat>>, CaseError> {
        let wire = wire(&self.dialect).ok_or_else(|| CaseError::UnknownDialect(self.dialect.clone()))?;
        Ok(wire.decoder(&self.head()?))
    }

    /// The reads of a body.
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

/// The wire that speaks a dialect of cases, if this build has it.
fn wire(dialect: &str) -> Option<Box<dyn Wire<Chat>>> {
    match dialect {
        #[cfg(feature = "openai-chat")]
        "openai-chat" => Some(Box::new(crate::wire::openai_chat::OpenAiChat::new(
            crate::dialect::openai(),
        ))),
        #[cfg(feature = "anthropic")]
        "anthropic" => Some(Box::new(crate::wire::anthropic::Anthropic::new())),
        #[cfg(feature = "openai-responses")]
        "openai-responses" => Some(Box::new(crate::wire::openai_responses::OpenAiResponses::new())),
        #[cfg(feature = "ollama")]
        "ollama" => Some(Box::new(crate::wire::ollama::Ollama::new())),
        _ => None,
    }
}

/// Decodes and folds a case's body.
///
/// # Errors
/// When the case cannot be run; what goes wrong *in* the case is part of the result.
pub fn run(case: &WireCase, body: &[u8], mode: ReadMode) -> Result<NeutralResult, CaseError> {
    if let Some(expected) = case.bytes.filter(|bytes| *bytes != body.len() as u64) {
        return Err(CaseError::Size {
            expected,
            found: body.len() as u64,
        });
    }
    let mut decoder = case.decoder()?;
    let close = match case.close {
        CaseClose::Clean => Close::Clean,
        CaseClose::Reset => Close::Reset,
    };
    let (end, response) = fold(decoder.as_mut(), &case.reads(body, mode), close);
    Ok(NeutralResult::new(&case.id, response, end.err().as_ref()))
}

/// Reads to the end, the terminal marker or the first error.
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
