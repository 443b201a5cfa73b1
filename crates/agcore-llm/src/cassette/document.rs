//! [`Cassette`]: recorded exchanges, and how they are read.

use std::{fmt, io, ops::Range};

use serde::{Deserialize, Serialize, de::IgnoredAny};

use super::exchange::Exchange;

/// The version of the form; raised when a reader of the older one would misread it.
pub(super) const VERSION: u64 = 1;

/// What a recording begins with.
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
/// Its own JSON form, for snapshots, is one object of the version and all exchanges; files are written by
/// [`CassetteWriter`](super::CassetteWriter).
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Cassette {
    exchanges: Vec<Exchange>,
    damage: Vec<Damage>,
}

/// A part of a cassette that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Damage {
    /// The line in which the trouble is, from 1.
    pub line: usize,
    /// What is wrong.
    pub why: String,
}

/// A cassette cannot be read, or was not played as it should.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CassetteError {
    /// The bytes cannot be read.
    #[error("the cassette cannot be read")]
    Io(#[from] io::Error),
    /// Nothing is in it.
    #[error("the cassette is empty: nothing was recorded")]
    Empty,
    /// The first document is no header.
    #[error("this is no cassette: line {line} must begin with {{\"agcore_cassette\":{VERSION}}}")]
    NotACassette {
        /// The line, from 1.
        line: usize,
    },
    /// It was written by a newer version.
    #[error(
        "the cassette has version {found}, and this build reads up to version {VERSION}; \
         update agcore, or record it again"
    )]
    Newer {
        /// Its version.
        found: u64,
    },
    /// Parts of it cannot be read.
    #[error("the cassette is damaged: {}; record it again", listed(.0))]
    Damaged(Vec<Damage>),
    /// Exchanges were not played.
    #[error(
        "{unused} of {all} exchanges of the cassette were not played, the first is call {first}; \
         record it again if that is meant"
    )]
    Unused {
        /// How many were not played.
        unused: usize,
        /// How many there are.
        all: usize,
        /// The first one's number.
        first: u64,
    },
}

impl Cassette {
    /// A cassette of these exchanges.
    pub fn new(exchanges: impl IntoIterator<Item = Exchange>) -> Self {
        Self {
            exchanges: exchanges.into_iter().collect(),
            damage: Vec::new(),
        }
    }

    /// Reads a cassette. What cannot be read of it is left out and listed in [`damage`](Self::damage): of a file that was
    /// cut in the middle all whole exchanges are there. Exchanges of one recording are in the order in which they began.
    ///
    /// # Errors
    /// `Empty`, `NotACassette`, `Newer`.
    pub fn parse(bytes: &[u8]) -> Result<Self, CassetteError> {
        let bytes = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
        let mut documents = documents(bytes);
        let Some((line, range)) = documents.next() else {
            return Err(match bytes.iter().position(|byte| !byte.is_ascii_whitespace()) {
                None => CassetteError::Empty,
                Some(at) => CassetteError::NotACassette {
                    line: line_of(bytes, at),
                },
            });
        };
        let is_first = bytes[..range.start].iter().all(u8::is_ascii_whitespace);
        if !is_first || !read_header(&bytes[range])? {
            return Err(CassetteError::NotACassette { line });
        }
        let mut cassette = Self::default();
        let mut recording = 0;
        for (line, range) in documents {
            if read_header(&bytes[range.clone()])? {
                cassette.exchanges[recording..].sort_by_key(|exchange| exchange.call);
                recording = cassette.exchanges.len();
            } else {
                cassette.take(line, &bytes[range]);
            }
        }
        cassette.exchanges[recording..].sort_by_key(|exchange| exchange.call);
        Ok(cassette)
    }

    /// Reads a cassette to its end; see [`parse`](Self::parse).
    ///
    /// # Errors
    /// Those of [`parse`](Self::parse), and `Io`.
    pub fn read(mut from: impl io::Read) -> Result<Self, CassetteError> {
        let mut bytes = Vec::new();
        from.read_to_end(&mut bytes)?;
        Self::parse(&bytes)
    }

    /// The exchanges that could be read.
    pub fn exchanges(&self) -> &[Exchange] {
        &self.exchanges
    }

    /// What could not be read.
    pub fn damage(&self) -> &[Damage] {
        &self.damage
    }

    /// The same cassette, if all of it could be read.
    ///
    /// # Errors
    /// `Damaged`.
    pub fn into_whole(self) -> Result<Self, CassetteError> {
        if self.damage.is_empty() {
            Ok(self)
        } else {
            Err(CassetteError::Damaged(self.damage))
        }
    }

    /// The same exchanges as if they had taken no time: what snapshots and comparisons want.
    pub fn without_timings(mut self) -> Self {
        for exchange in &mut self.exchanges {
            exchange.ms = 0;
            exchange.chunks.iter_mut().for_each(|chunk| chunk.ms = 0);
        }
        self
    }

    /// Takes the document of an exchange, as far as it can be read.
    fn take(&mut self, first_line: usize, document: &[u8]) {
        let mut reader = serde_json::Deserializer::from_slice(document.trim_ascii_end());
        let read = Exchange::deserialize(&mut reader);
        let end = match read {
            Ok(exchange) => {
                self.exchanges.push(exchange);
                reader.end()
            }
            Err(error) => Err(error),
        };
        if let Err(error) = end {
            let line = first_line + error.line().saturating_sub(1);
            let why = match error.classify() {
                serde_json::error::Category::Eof => "the exchange ends in the middle".to_owned(),
                _ => error.to_string(),
            };
            self.damage.push(Damage { line, why });
        }
    }
}

impl Serialize for Cassette {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Whole<'a> {
            agcore_cassette: u64,
            exchanges: &'a [Exchange],
        }
        let whole = Whole {
            agcore_cassette: VERSION,
            exchanges: &self.exchanges,
        };
        whole.serialize(serializer)
    }
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.why)
    }
}

fn listed(damage: &[Damage]) -> String {
    damage.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

/// Whether a document is a header.
///
/// # Errors
/// `Newer`.
fn read_header(document: &[u8]) -> Result<bool, CassetteError> {
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
            _ => Err(CassetteError::Newer { found }),
        },
        _ => Ok(false),
    }
}

/// The documents with their first lines: each begins at a line that begins with `{`.
fn documents(bytes: &[u8]) -> impl Iterator<Item = (usize, Range<usize>)> + '_ {
    let mut line = 1;
    let mut starts = Vec::new();
    let mut is_line_start = true;
    for (at, byte) in bytes.iter().enumerate() {
        if is_line_start && *byte == b'{' {
            starts.push((line, at));
        }
        is_line_start = *byte == b'\n';
        line += usize::from(is_line_start);
    }
    let ends: Vec<usize> = starts.iter().skip(1).map(|(_, at)| *at).chain([bytes.len()]).collect();
    starts
        .into_iter()
        .zip(ends)
        .map(|((line, start), end)| (line, start..end))
}

fn line_of(bytes: &[u8], at: usize) -> usize {
    1 + bytes[..at].iter().filter(|byte| **byte == b'\n').count()
}
