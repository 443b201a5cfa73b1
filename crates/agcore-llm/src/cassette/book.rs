//! [`Book`]: which exchange answers a request.

use std::sync::Arc;

use serde_json::Value;

use super::{difference::differences, document::CassetteError, exchange::Exchange, path::FieldPath};
use agcore_wire::{LlmError, LlmErrorKind};

/// How many differences an error lists.
const LISTED: usize = 12;

const ADVICE: &str = "If the change is meant, record the cassette again; a value that changes each time can be left out of \
                      the comparison with `with_ignored`.";

/// Which exchange answers a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Matching {
    /// The first one with the same request that was not played yet; another request is an error. Right also for calls side
    /// by side, which come in any order.
    #[default]
    Strict,
    /// The next one, whatever the request.
    InOrder,
}

/// The exchanges of a cassette, and which were played.
#[derive(Debug)]
pub(super) struct Book {
    pages: Vec<Page>,
    /// What the reader of the cassette could not read.
    damage: Option<String>,
}

#[derive(Debug)]
struct Page {
    exchange: Arc<Exchange>,
    question: Value,
    is_played: bool,
}

/// What is compared of a call: its request, whether it streams, its own headers.
pub(super) fn question(request: Value, stream: bool, headers: &[(String, String)], ignored: &[FieldPath]) -> Value {
    let mut question = request;
    if let Value::Object(members) = &mut question {
        members.insert("stream".to_owned(), stream.into());
        if !headers.is_empty() {
            let headers = headers
                .iter()
                .map(|(name, value)| Value::from(vec![name.to_ascii_lowercase(), value.clone()]));
            members.insert("extra_headers".to_owned(), headers.collect());
        }
    }
    ignored.iter().for_each(|path| path.remove(&mut question));
    question
}

impl Book {
    pub(super) fn new(exchanges: impl Iterator<Item = Exchange>, damage: Option<String>) -> Self {
        let page = |exchange: Exchange| Page {
            question: question(exchange.request.clone(), exchange.stream, &exchange.headers, &[]),
            exchange: Arc::new(exchange),
            is_played: false,
        };
        Self {
            pages: exchanges.map(page).collect(),
            damage,
        }
    }

    /// Changes what is compared.
    pub(super) fn change_questions(&mut self, change: impl Fn(&mut Value)) {
        self.pages.iter_mut().for_each(|page| change(&mut page.question));
    }

    /// The exchange that answers, which is played then.
    ///
    /// # Errors
    /// When there is none: what differs from the nearest one, and what to do.
    pub(super) fn play(&mut self, question: &Value, matching: Matching) -> Result<Arc<Exchange>, LlmError> {
        let fits = |page: &&mut Page| match matching {
            Matching::Strict => !page.is_played && page.question == *question,
            Matching::InOrder => !page.is_played,
        };
        if let Some(page) = self.pages.iter_mut().find(fits) {
            page.is_played = true;
            return Ok(Arc::clone(&page.exchange));
        }
        let message = match matching {
            Matching::Strict => self.unexpected(question),
            Matching::InOrder => format!(
                "all {} exchanges of the cassette were played, and another call came; record it again",
                self.pages.len()
            ),
        };
        let damage = self
            .damage
            .iter()
            .map(|damage| format!("\nThe cassette is damaged: {damage}"));
        let message = std::iter::once(message).chain(damage).collect::<String>();
        Err(LlmError::new(LlmErrorKind::InvalidRequest, message))
    }

    /// How many exchanges were not played.
    pub(super) fn unused(&self) -> usize {
        self.pages.iter().filter(|page| !page.is_played).count()
    }

    /// # Errors
    /// When exchanges were not played.
    pub(super) fn check_done(&self) -> Result<(), CassetteError> {
        match self.pages.iter().find(|page| !page.is_played) {
            None => Ok(()),
            Some(page) => Err(CassetteError::Unused {
                unused: self.unused(),
                all: self.pages.len(),
                first: page.exchange.call,
            }),
        }
    }

    fn unexpected(&self, question: &Value) -> String {
        let recorded = self.pages.iter().filter(|page| page.question == *question).count();
        if recorded > 0 {
            return format!(
                "this request was recorded {recorded} time(s), and all were played; record the cassette again"
            );
        }
        let nearest = self.pages.iter().enumerate().map(|(at, page)| {
            let found = differences(&page.question, question);
            (found.len(), page.is_played, at, found)
        });
        let nearest = nearest.min_by(|a, b| (a.0, a.1, a.2).cmp(&(b.0, b.1, b.2)));
        let Some((count, is_played, at, found)) = nearest else {
            return "this request was not recorded: the cassette has no exchanges; record it again".to_owned();
        };
        let listed = found.iter().take(LISTED).map(|difference| format!("\n  {difference}"));
        let more = count.saturating_sub(LISTED);
        let more = (more > 0).then(|| format!("\n  … and {more} more"));
        format!(
            "this request was not recorded. The nearest of {} exchanges is number {}{}, which differs in {count} place(s):\
             {}{}\n{ADVICE}",
            self.pages.len(),
            at + 1,
            if is_played { " (already played)" } else { "" },
            listed.collect::<String>(),
            more.unwrap_or_default(),
        )
    }
}
