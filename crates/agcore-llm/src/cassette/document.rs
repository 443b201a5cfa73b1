//! [`Cassette`]: recorded exchanges and their parser.

use std::{fmt, io, ops::Range};

use serde::{Deserialize, Serialize, de::IgnoredAny};

use super::exchange::Exchange;

/// The version of the file format. Incremented when readers of the previous version would misinterpret a new file.
pub(super) const VERSION: u64 = 1;

/// The header of a recording.
#[derive(Serialize, Deserialize)]
pub(super) struct Header {
    agcore_cassette: u64,
}

impl Header {
    pub(super) const CURRENT: Self = Self {
        agcore_cassette: VERSION,
    };
}

/// Recorded exchanges.
///
/// It is serialized as one object with the version and all exchanges, for snapshots. Files are written by
/// [`CassetteWriter`](super::CassetteWriter).
///
/// ```
/// use agcore_llm::cassette::Cassette;
///
/// // The last exchange is truncated.
/// let file = br#"{"agcore_cassette":1}
/// {"call":1,"stream":false,"request":{"messages":[]},"chunks":[{"ms":5,"items":[{"text":"Hi."}]}],"end":"ok","ms":5}
/// {"call":2,"stream":fal"#;
/// let cassette = Cassette::parse(file)?;
/// assert_eq!(cassette.exchanges()[0].response().unwrap().text(), "Hi.");
/// assert_eq!(cassette.damaged_parts()[0].line, 3);
/// assert!(cassette.into_intact().is_err());
/// # Ok::<(), agcore_llm::cassette::CassetteError>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Cassette {
    exchanges: Vec<Exchange>,
    damaged: Vec<DamagedPart>,
}

/// A part of a cassette that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct DamagedPart {
    /// The line of the error, from 1.
    pub line: usize,
    /// The reason why the part cannot be read.
    pub reason: String,
}

/// The error of a cassette that cannot be read or was not replayed completely.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CassetteError {
    /// The bytes cannot be read.
    #[error("cannot read the cassette")]
    Io(#[from] io::Error),
    /// The input is empty.
    #[error("the cassette is empty: nothing was recorded")]
    Empty,
    /// The first document is not a header.
    #[error("not a cassette: line {line} must start with {{\"agcore_cassette\":{VERSION}}}")]
    NotACassette {
        /// The line, from 1.
        line: usize,
    },
    /// The cassette was written in a newer format.
    #[error(
        "the cassette has version {found}, but this build only reads versions up to {VERSION}; \
         update agcore, or record the cassette again"
    )]
    UnsupportedVersion {
        /// The version of the cassette.
        found: u64,
    },
    /// Parts of the cassette cannot be read.
    #[error("the cassette is damaged: {}; record it again", listed(.0))]
    Damaged(Vec<DamagedPart>),
    /// Some exchanges were not played.
    #[error(
        "{unused} of {total} exchanges of the cassette were not played, starting with call {first}; \
         record it again if the change is intended"
    )]
    Unused {
        /// The number of exchanges that were not played.
        unused: usize,
        /// The number of all exchanges.
        total: usize,
        /// The call number of the first exchange that was not played.
        first: u64,
    },
}

impl Cassette {
    /// Creates a cassette from exchanges.
    pub fn new(exchanges: impl IntoIterator<Item = Exchange>) -> Self {
        Self {
            exchanges: exchanges.into_iter().collect(),
            damaged: Vec::new(),
        }
    }

    /// Parses a cassette.
    ///
    /// Exchanges that cannot be parsed are skipped and listed in [`damaged_parts`](Self::damaged_parts), so a truncated
    /// file yields all its complete exchanges. The exchanges of a recording are in the order in which their calls
    /// started.
    ///
    /// # Errors
    /// `Empty`, `NotACassette`, `UnsupportedVersion`.
    pub fn parse(bytes: &[u8]) -> Result<Self, CassetteError> {
        let bytes = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
        let mut documents = documents(bytes);
        let Some((line, range)) = documents.next() else {
            return Err(match bytes.iter().position(|byte| !byte.is_ascii_whitespace()) {
                None => CassetteError::Empty,
                Some(offset) => CassetteError::NotACassette {
                    line: line_at(bytes, offset),
                },
            });
        };
        let is_first = bytes[..range.start].iter().all(u8::is_ascii_whitespace);
        if !is_first || !is_header(&bytes[range])? {
            return Err(CassetteError::NotACassette { line });
        }
        let mut cassette = Self::default();
        let mut recording = 0;
        for (line, range) in documents {
            if is_header(&bytes[range.clone()])? {
                cassette.exchanges[recording..].sort_by_key(|exchange| exchange.call);
                recording = cassette.exchanges.len();
            } else {
                cassette.push_document(line, &bytes[range]);
            }
        }
        cassette.exchanges[recording..].sort_by_key(|exchange| exchange.call);
        Ok(cassette)
    }

    /// Reads a cassette to its end and parses it; see [`parse`](Self::parse).
    ///
    /// # Errors
    /// The errors of [`parse`](Self::parse), and `Io`.
    pub fn read(mut reader: impl io::Read) -> Result<Self, CassetteError> {
        let mut bytes = Vec::new();
        reader.read_to_end(&mut bytes)?;
        Self::parse(&bytes)
    }

    /// Returns the exchanges that could be parsed.
    pub fn exchanges(&self) -> &[Exchange] {
        &self.exchanges
    }

    /// Returns the parts that could not be parsed.
    pub fn damaged_parts(&self) -> &[DamagedPart] {
        &self.damaged
    }

    /// Returns the cassette if all of it could be parsed.
    ///
    /// # Errors
    /// `Damaged`.
    pub fn into_intact(self) -> Result<Self, CassetteError> {
        if self.damaged.is_empty() {
            Ok(self)
        } else {
            Err(CassetteError::Damaged(self.damaged))
        }
    }

    /// Returns the cassette with all times set to 0, for snapshots and comparisons.
    #[must_use]
    pub fn without_timings(mut self) -> Self {
        for exchange in &mut self.exchanges {
            exchange.ms = 0;
            exchange.chunks.iter_mut().for_each(|chunk| chunk.ms = 0);
        }
        self
    }

    /// Parses the document of an exchange. Adds the exchange, the damaged part, or both.
    fn push_document(&mut self, first_line: usize, document: &[u8]) {
        let mut reader = serde_json::Deserializer::from_slice(document.trim_ascii_end());
        let parsed = Exchange::deserialize(&mut reader);
        let end = match parsed {
            Ok(exchange) => {
                self.exchanges.push(exchange);
                reader.end()
            }
            Err(error) => Err(error),
        };
        if let Err(error) = end {
            let line = first_line + error.line().saturating_sub(1);
            let reason = match error.classify() {
                serde_json::error::Category::Eof => "the exchange is truncated".to_owned(),
                _ => error.to_string(),
            };
            self.damaged.push(DamagedPart { line, reason });
        }
    }
}

impl Serialize for Cassette {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct CassetteJson<'a> {
            agcore_cassette: u64,
            exchanges: &'a [Exchange],
        }
        let json = CassetteJson {
            agcore_cassette: VERSION,
            exchanges: &self.exchanges,
        };
        json.serialize(serializer)
    }
}

impl fmt::Display for DamagedPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.reason)
    }
}

fn listed(damaged: &[DamagedPart]) -> String {
    damaged.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

/// Returns whether a document is a header.
///
/// # Errors
/// `UnsupportedVersion`.
fn is_header(document: &[u8]) -> Result<bool, CassetteError> {
    #[derive(Deserialize)]
    struct Probe {
        agcore_cassette: Option<u64>,
        #[serde(default)]
        request: Option<IgnoredAny>,
    }
    let mut reader = serde_json::Deserializer::from_slice(document);
    match Probe::deserialize(&mut reader) {
        Ok(Probe {
            agcore_cassette: Some(found),
            request: None,
        }) => match found {
            0..=VERSION => Ok(true),
            _ => Err(CassetteError::UnsupportedVersion { found }),
        },
        _ => Ok(false),
    }
}

/// Returns the first line and the range of each document. A document starts at a line that starts with `{`.
fn documents(bytes: &[u8]) -> impl Iterator<Item = (usize, Range<usize>)> + '_ {
    let mut line = 1;
    let mut starts = Vec::new();
    let mut is_line_start = true;
    for (offset, byte) in bytes.iter().enumerate() {
        if is_line_start && *byte == b'{' {
            starts.push((line, offset));
        }
        is_line_start = *byte == b'\n';
        line += usize::from(is_line_start);
    }
    let ends: Vec<usize> = starts
        .iter()
        .skip(1)
        .map(|(_, offset)| *offset)
        .chain([bytes.len()])
        .collect();
    starts
        .into_iter()
        .zip(ends)
        .map(|((line, start), end)| (line, start..end))
}

/// Returns the line of an offset, from 1.
fn line_at(bytes: &[u8], offset: usize) -> usize {
    1 + bytes[..offset].iter().filter(|byte| **byte == b'\n').count()
}
