//! [`CassetteSink`]: where recorded exchanges go, and [`CassetteWriter`], which writes them.

use std::{
    fmt,
    io::{self, Write},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use serde::Serialize;

use super::{
    document::{Cassette, Header},
    exchange::Exchange,
};

/// Where recorded exchanges go.
pub trait CassetteSink: Send + Sync + fmt::Debug {
    /// Keeps an exchange. Called where its reply ends, so it should not take long.
    ///
    /// # Errors
    /// When it cannot be kept; the call that was recorded goes on.
    fn keep(&self, exchange: &Exchange) -> io::Result<()>;
}

impl<S: CassetteSink + ?Sized> CassetteSink for Arc<S> {
    fn keep(&self, exchange: &Exchange) -> io::Result<()> {
        (**self).keep(exchange)
    }
}

/// Writes exchanges as they end, each in one piece that is flushed: a crash loses those that had not ended.
///
/// Nothing is written before the first exchange.
pub struct CassetteWriter<W> {
    indented: bool,
    state: Mutex<State<W>>,
}

struct State<W> {
    out: W,
    has_header: bool,
    /// What stands before the next document ends in the middle of a line, as far as is known.
    is_torn: bool,
}

impl<W: Write> CassetteWriter<W> {
    /// Writes a new cassette.
    pub fn new(out: W) -> Self {
        Self {
            indented: false,
            state: Mutex::new(State {
                out,
                has_header: false,
                is_torn: false,
            }),
        }
    }

    /// Writes another recording behind what there is, which may end in the middle of an exchange.
    pub fn appending(out: W) -> Self {
        let writer = Self::new(out);
        writer.state().is_torn = true;
        writer
    }

    /// Writes a line for each value instead of each exchange: longer, and easier to compare.
    pub fn indented(mut self) -> Self {
        self.indented = true;
        self
    }

    /// Uses what it writes to.
    pub fn with_inner<T>(&self, use_it: impl FnOnce(&mut W) -> T) -> T {
        use_it(&mut self.state().out)
    }

    /// Gives back what it writes to.
    pub fn into_inner(self) -> W {
        self.state.into_inner().unwrap_or_else(PoisonError::into_inner).out
    }

    fn state(&self) -> MutexGuard<'_, State<W>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn document(&self, exchange: &Exchange) -> io::Result<Vec<u8>> {
        Ok(if self.indented {
            serde_json::to_vec_pretty(exchange)?
        } else {
            serde_json::to_vec(exchange)?
        })
    }
}

impl<W: Write + Send> CassetteSink for CassetteWriter<W> {
    fn keep(&self, exchange: &Exchange) -> io::Result<()> {
        let document = self.document(exchange)?;
        let mut state = self.state();
        let mut piece = Vec::with_capacity(document.len() + 32);
        if state.is_torn {
            piece.push(b'\n');
        }
        if !state.has_header {
            line(&mut piece, &Header::CURRENT)?;
        }
        piece.extend(document);
        piece.push(b'\n');
        // Until it is known better: an error may come after half of it.
        state.is_torn = true;
        state.out.write_all(&piece)?;
        state.out.flush()?;
        state.is_torn = false;
        state.has_header = true;
        Ok(())
    }
}

fn line(piece: &mut Vec<u8>, value: &impl Serialize) -> io::Result<()> {
    serde_json::to_writer(&mut *piece, value)?;
    piece.push(b'\n');
    Ok(())
}

impl<W> fmt::Debug for CassetteWriter<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CassetteWriter")
            .field("indented", &self.indented)
            .finish_non_exhaustive()
    }
}

/// Keeps exchanges in memory. Clones share them.
#[derive(Debug, Clone, Default)]
pub struct CassetteBuffer(Arc<Mutex<Vec<Exchange>>>);

impl CassetteBuffer {
    /// An empty one.
    pub fn new() -> Self {
        Self::default()
    }

    /// What was recorded so far, in the order in which the calls began.
    pub fn cassette(&self) -> Cassette {
        let mut exchanges = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        exchanges.sort_by_key(|exchange| exchange.call);
        Cassette::new(exchanges)
    }
}

impl CassetteSink for CassetteBuffer {
    fn keep(&self, exchange: &Exchange) -> io::Result<()> {
        let mut exchanges = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        exchanges.push(exchange.clone());
        Ok(())
    }
}
