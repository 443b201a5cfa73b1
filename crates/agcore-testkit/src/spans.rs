//! [`SpanLog`]: the spans of a test, to assert on.
//!
//! ```
//! use agcore_testkit::spans::SpanLog;
//!
//! let log = SpanLog::new();
//! log.record(|| {
//!     let outer = tracing::info_span!("outer", answer = 42);
//!     outer.in_scope(|| tracing::info_span!("inner", word = "yes").in_scope(|| ()));
//! });
//! let inner = log.only("inner");
//! assert_eq!((inner.field("word"), inner.parent.as_deref()), (Some("yes"), Some("outer")));
//! assert_eq!(log.only("outer").field("answer"), Some("42"));
//! ```

use std::{
    collections::BTreeMap,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tracing::{
    Subscriber,
    field::{Field, Visit},
    span::{Attributes, Id, Record},
    subscriber::DefaultGuard,
};
use tracing_subscriber::{
    Layer, Registry,
    layer::{Context, SubscriberExt},
    registry::LookupSpan,
};

/// One span, with the fields that were recorded until now.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RecordedSpan {
    /// Its name in the source.
    pub name: &'static str,
    /// The name of the span that it was opened in.
    pub parent: Option<String>,
    /// Fields by name, as text.
    pub fields: BTreeMap<&'static str, String>,
    /// Whether it is over.
    pub closed: bool,
}

impl RecordedSpan {
    /// A field's value as text, if it was recorded.
    pub fn field(&self, name: &str) -> Option<&str> {
        self.fields.get(name).map(String::as_str)
    }
}

/// Keeps every span that is opened while it listens. Clones share what was heard.
#[derive(Debug, Clone, Default)]
pub struct SpanLog(Arc<Mutex<Vec<(Id, RecordedSpan)>>>);

impl SpanLog {
    /// An empty log.
    pub fn new() -> Self {
        Self::default()
    }

    /// Listens on this thread until the guard is dropped. A test on a runtime of one thread hears all of its own spans
    /// and none of another test's.
    #[must_use = "it listens until the guard is dropped"]
    pub fn listen(&self) -> DefaultGuard {
        tracing::subscriber::set_default(Registry::default().with(self.clone()))
    }

    /// Listens while a function runs.
    pub fn record<R>(&self, run: impl FnOnce() -> R) -> R {
        tracing::subscriber::with_default(Registry::default().with(self.clone()), run)
    }

    /// All spans, in the order in which they were opened.
    pub fn spans(&self) -> Vec<RecordedSpan> {
        self.lock().iter().map(|(_, span)| span.clone()).collect()
    }

    /// The spans of this name.
    pub fn named(&self, name: &str) -> Vec<RecordedSpan> {
        self.spans().into_iter().filter(|span| span.name == name).collect()
    }

    /// The one span of this name.
    ///
    /// # Panics
    /// When there is none or more than one.
    #[expect(clippy::panic, reason = "this is an assertion of a test")]
    pub fn only(&self, name: &str) -> RecordedSpan {
        let mut spans = self.named(name);
        match (spans.pop(), spans.len()) {
            (Some(span), 0) => span,
            (last, more) => panic!(
                "{} spans are called `{name}`, not one",
                more + usize::from(last.is_some())
            ),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<(Id, RecordedSpan)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the newest span with this id: ids are used again once a span is closed.
    fn change(&self, id: &Id, change: impl FnOnce(&mut RecordedSpan)) {
        if let Some((_, span)) = self.lock().iter_mut().rev().find(|(known, _)| known == id) {
            change(span);
        }
    }
}

impl<S: Subscriber + for<'l> LookupSpan<'l>> Layer<S> for SpanLog {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let mut fields = Fields::default();
        attributes.record(&mut fields);
        let parent = context.span(id).and_then(|span| span.parent());
        let span = RecordedSpan {
            name: attributes.metadata().name(),
            parent: parent.map(|parent| parent.name().to_owned()),
            fields: fields.0,
            closed: false,
        };
        self.lock().push((id.clone(), span));
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, _: Context<'_, S>) {
        let mut fields = Fields::default();
        values.record(&mut fields);
        self.change(id, |span| span.fields.extend(fields.0));
    }

    fn on_close(&self, id: Id, _: Context<'_, S>) {
        self.change(&id, |span| span.closed = true);
    }
}

#[derive(Default)]
struct Fields(BTreeMap<&'static str, String>);

impl Visit for Fields {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.0.insert(field.name(), value.to_owned());
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.0.insert(field.name(), format!("{value:?}"));
    }
}
