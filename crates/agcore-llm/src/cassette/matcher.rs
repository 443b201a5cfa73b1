//! [`Matcher`]: finds the recorded exchange that answers a request.

use std::sync::Arc;

use serde_json::Value;

use super::{difference::differences, document::CassetteError, exchange::Exchange, path::FieldPath};
use agcore_wire::{LlmError, LlmErrorKind};

/// The maximum number of differences that an error lists.
const MAX_DIFFERENCES: usize = 12;

const ADVICE: &str = "If the change is intended, record the cassette again; a value that changes on every run can be \
                      excluded from the comparison with `with_ignored`.";

/// The rule that selects the recorded exchange for a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Matching {
    /// The first exchange with the same request that has not been played. Any other request is an error. Also works for
    /// concurrent calls, which arrive in any order.
    #[default]
    Strict,
    /// The next exchange, regardless of the request.
    InOrder,
}

/// The exchanges of a cassette, and which of them have been played.
#[derive(Debug)]
pub(super) struct Matcher {
    entries: Vec<Entry>,
    /// A description of the parts of the cassette that could not be read.
    damage: Option<String>,
}

#[derive(Debug)]
struct Entry {
    exchange: Arc<Exchange>,
    /// The parts of the call that are compared; see [`comparable`].
    call: Value,
    is_played: bool,
}

/// Returns the parts of a call that are compared: its request, whether it streams, and its headers.
pub(super) fn comparable(request: Value, stream: bool, headers: &[(String, String)], ignored: &[FieldPath]) -> Value {
    let mut call = request;
    if let Value::Object(members) = &mut call {
        members.insert("stream".to_owned(), stream.into());
        if !headers.is_empty() {
            let headers = headers
                .iter()
                .map(|(name, value)| Value::from(vec![name.to_ascii_lowercase(), value.clone()]));
            members.insert("extra_headers".to_owned(), headers.collect());
        }
    }
    ignored.iter().for_each(|path| path.remove(&mut call));
    call
}

impl Matcher {
    pub(super) fn new(exchanges: impl Iterator<Item = Exchange>, damage: Option<String>) -> Self {
        let entry = |exchange: Exchange| Entry {
            call: comparable(exchange.request.clone(), exchange.stream, &exchange.headers, &[]),
            exchange: Arc::new(exchange),
            is_played: false,
        };
        Self {
            entries: exchanges.map(entry).collect(),
            damage,
        }
    }

    /// Changes the parts of the recorded calls that are compared.
    pub(super) fn change_calls(&mut self, change: impl Fn(&mut Value)) {
        self.entries.iter_mut().for_each(|entry| change(&mut entry.call));
    }

    /// Returns the exchange that answers a call and marks it as played.
    ///
    /// # Errors
    /// If no exchange answers it. The message lists the differences to the closest exchange and suggests what to do.
    pub(super) fn play(&mut self, call: &Value, matching: Matching) -> Result<Arc<Exchange>, LlmError> {
        let matches = |entry: &&mut Entry| match matching {
            Matching::Strict => !entry.is_played && entry.call == *call,
            Matching::InOrder => !entry.is_played,
        };
        if let Some(entry) = self.entries.iter_mut().find(matches) {
            entry.is_played = true;
            return Ok(Arc::clone(&entry.exchange));
        }
        let message = match matching {
            Matching::Strict => self.mismatch(call),
            Matching::InOrder => format!(
                "all {} exchanges of the cassette have been played; record the cassette again",
                self.entries.len()
            ),
        };
        let damage = self
            .damage
            .iter()
            .map(|damage| format!("\nThe cassette is damaged: {damage}"));
        let message = std::iter::once(message).chain(damage).collect::<String>();
        Err(LlmError::new(LlmErrorKind::InvalidRequest, message))
    }

    /// Returns the number of exchanges that have not been played.
    pub(super) fn unused(&self) -> usize {
        self.entries.iter().filter(|entry| !entry.is_played).count()
    }

    /// Checks that all exchanges have been played.
    ///
    /// # Errors
    /// `Unused`.
    pub(super) fn check_done(&self) -> Result<(), CassetteError> {
        match self.entries.iter().find(|entry| !entry.is_played) {
            None => Ok(()),
            Some(entry) => Err(CassetteError::Unused {
                unused: self.unused(),
                total: self.entries.len(),
                first: entry.exchange.call,
            }),
        }
    }

    /// Describes why no exchange matches a call.
    fn mismatch(&self, call: &Value) -> String {
        let recorded = self.entries.iter().filter(|entry| entry.call == *call).count();
        if recorded > 0 {
            return format!(
                "this request was recorded {recorded} time(s), and all of them have been played; \
                 record the cassette again"
            );
        }
        let closest = self.entries.iter().enumerate().map(|(index, entry)| {
            let found = differences(&entry.call, call);
            (found.len(), entry.is_played, index, found)
        });
        let closest = closest.min_by(|a, b| (a.0, a.1, a.2).cmp(&(b.0, b.1, b.2)));
        let Some((count, is_played, index, found)) = closest else {
            return "this request was not recorded: the cassette contains no exchanges; record it again".to_owned();
        };
        let listed = found
            .iter()
            .take(MAX_DIFFERENCES)
            .map(|difference| format!("\n  {difference}"));
        let more = count.saturating_sub(MAX_DIFFERENCES);
        let more = (more > 0).then(|| format!("\n  … and {more} more"));
        format!(
            "this request was not recorded. The closest of {} exchanges is number {}{}, \
             which differs in {count} place(s):{}{}\n{ADVICE}",
            self.entries.len(),
            index + 1,
            if is_played { " (already played)" } else { "" },
            listed.collect::<String>(),
            more.unwrap_or_default(),
        )
    }
}
