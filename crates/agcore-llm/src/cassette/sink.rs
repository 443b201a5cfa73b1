//! [`CassetteSink`], the destination of recorded exchanges, and its implementations.

use std::{
    fmt,
    io::{self, Write},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use super::{
    document::{Cassette, Header},
    exchange::Exchange,
};

/// The destination of recorded exchanges.
pub trait CassetteSink: Send + Sync + fmt::Debug {
    /// Records an exchange. Called at the end of its reply, so it should not block for long.
    ///
    /// # Errors
    /// If the exchange cannot be recorded. The recorded call is not affected.
    fn record(&self, exchange: &Exchange) -> io::Result<()>;
}

impl<S: CassetteSink + ?Sized> CassetteSink for Arc<S> {
    fn record(&self, exchange: &Exchange) -> io::Result<()> {
        (**self).record(exchange)
    }
}

/// Writes exchanges to a file or another writer.
///
/// Each exchange is written and flushed when it ends, so a crash only loses the exchanges in progress. Nothing is
/// written before the first exchange.
///
/// ```
/// use agcore_llm::cassette::{Cassette, CassetteSink, CassetteWriter, Exchange};
///
/// let exchange: Exchange = serde_json::from_str(
///     r#"{"call": 1, "stream": false, "request": {"messages": []}, "chunks": [], "end": "ok", "ms": 7}"#,
/// )?;
/// let writer = CassetteWriter::new(Vec::new());
/// writer.record(&exchange)?;
///
/// // Append another recording.
/// let writer = CassetteWriter::appending(writer.into_inner()).with_indent();
/// writer.record(&exchange)?;
///
/// let file = writer.into_inner();
/// assert!(file.starts_with(b"{\"agcore_cassette\":1}\n"));
/// assert_eq!(Cassette::parse(&file)?.exchanges(), [exchange.clone(), exchange]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct CassetteWriter<W> {
    indent: bool,
    state: Mutex<State<W>>,
}

struct State<W> {
    out: W,
    has_header: bool,
    /// Whether the output may end in the middle of a line.
    is_torn: bool,
}

impl<W: Write> CassetteWriter<W> {
    /// Creates a writer of a new cassette.
    pub fn new(out: W) -> Self {
        Self {
            indent: false,
            state: Mutex::new(State {
                out,
                has_header: false,
                is_torn: false,
            }),
        }
    }

    /// Creates a writer that appends a recording to an existing cassette, which may end in the middle of an exchange.
    pub fn appending(out: W) -> Self {
        let writer = Self::new(out);
        writer.state().is_torn = true;
        writer
    }

    /// Writes indented JSON with a line for each value instead of each exchange, which is longer and easier to compare.
    #[must_use]
    pub fn with_indent(mut self) -> Self {
        self.indent = true;
        self
    }

    /// Calls a function with the inner writer and returns its result.
    pub fn with_inner<T>(&self, access: impl FnOnce(&mut W) -> T) -> T {
        access(&mut self.state().out)
    }

    /// Returns the inner writer.
    pub fn into_inner(self) -> W {
        self.state.into_inner().unwrap_or_else(PoisonError::into_inner).out
    }

    fn state(&self) -> MutexGuard<'_, State<W>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn document(&self, exchange: &Exchange) -> io::Result<Vec<u8>> {
        Ok(if self.indent {
            serde_json::to_vec_pretty(exchange)?
        } else {
            serde_json::to_vec(exchange)?
        })
    }
}

impl<W: Write + Send> CassetteSink for CassetteWriter<W> {
    fn record(&self, exchange: &Exchange) -> io::Result<()> {
        let document = self.document(exchange)?;
        let mut state = self.state();
        let mut bytes = Vec::with_capacity(document.len() + 32);
        if state.is_torn {
            bytes.push(b'\n');
        }
        if !state.has_header {
            serde_json::to_writer(&mut bytes, &Header::CURRENT)?;
            bytes.push(b'\n');
        }
        bytes.extend(document);
        bytes.push(b'\n');
        // Stays set if writing fails, because a part of the bytes may have been written.
        state.is_torn = true;
        state.out.write_all(&bytes)?;
        state.out.flush()?;
        state.is_torn = false;
        state.has_header = true;
        Ok(())
    }
}

impl<W> fmt::Debug for CassetteWriter<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CassetteWriter")
            .field("indent", &self.indent)
            .finish_non_exhaustive()
    }
}

/// Records exchanges in memory. Clones share them.
#[derive(Debug, Clone, Default)]
pub struct CassetteBuffer(Arc<Mutex<Vec<Exchange>>>);

impl CassetteBuffer {
    /// Creates an empty buffer.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the exchanges recorded so far, in the order in which the calls started.
    pub fn cassette(&self) -> Cassette {
        let mut exchanges = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        exchanges.sort_by_key(|exchange| exchange.call);
        Cassette::new(exchanges)
    }
}

impl CassetteSink for CassetteBuffer {
    fn record(&self, exchange: &Exchange) -> io::Result<()> {
        let mut exchanges = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        exchanges.push(exchange.clone());
        Ok(())
    }
}
