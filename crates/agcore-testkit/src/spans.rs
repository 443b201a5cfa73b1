//! Recording tracing spans, so that a test can make assertions about them.
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
    Event, Level, Subscriber,
    field::{Field, Visit},
    span::{Attributes, Id, Record},
    subscriber::DefaultGuard,
};
use tracing_subscriber::{
    Layer, Registry,
    layer::{Context, SubscriberExt},
    registry::LookupSpan,
};

/// A recorded span, with the fields recorded so far.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RecordedSpan {
    /// The name of the span.
    pub name: &'static str,
    /// The name of the parent span.
    pub parent: Option<String>,
    /// The values of fields as text, by name.
    pub fields: BTreeMap<&'static str, String>,
    /// Whether the span has been closed.
    pub closed: bool,
}

impl RecordedSpan {
    /// Returns the value of a field as text, or `None` if it was not recorded.
    pub fn field(&self, name: &str) -> Option<&str> {
        self.fields.get(name).map(String::as_str)
    }
}

/// A tracing layer that records every span opened, and every warning, while it is active. Clones share the same log.
///
/// ```
/// use agcore_testkit::spans::SpanLog;
///
/// let log = SpanLog::new();
/// let guard = log.listen();
/// let span = tracing::info_span!("request", status = tracing::field::Empty);
/// span.record("status", 200);
/// drop((span, guard));
/// let request = log.only("request");
/// assert_eq!((request.field("status"), request.closed), (Some("200"), true));
/// ```
#[derive(Debug, Clone, Default)]
pub struct SpanLog {
    spans: Arc<Mutex<Vec<(Id, RecordedSpan)>>>,
    warnings: Arc<Mutex<Vec<BTreeMap<&'static str, String>>>>,
}

impl SpanLog {
    /// Creates an empty log.
    pub fn new() -> Self {
        Self::default()
    }

    /// Records the spans of this thread until the guard is dropped. A test on a single-threaded runtime records all of
    /// its own spans and none of other tests.
    #[must_use = "spans are recorded until the guard is dropped"]
    pub fn listen(&self) -> DefaultGuard {
        tracing::subscriber::set_default(Registry::default().with(self.clone()))
    }

    /// Records the spans opened while `run` runs.
    pub fn record<R>(&self, run: impl FnOnce() -> R) -> R {
        tracing::subscriber::with_default(Registry::default().with(self.clone()), run)
    }

    /// Returns all spans, in the order in which they were opened.
    pub fn spans(&self) -> Vec<RecordedSpan> {
        self.lock().iter().map(|(_, span)| span.clone()).collect()
    }

    /// Returns the spans with this name.
    pub fn named(&self, name: &str) -> Vec<RecordedSpan> {
        self.spans().into_iter().filter(|span| span.name == name).collect()
    }

    /// Returns the only span with this name.
    ///
    /// # Panics
    ///
    /// Panics unless there is exactly one.
    #[expect(clippy::panic, reason = "this is a test assertion")]
    pub fn only(&self, name: &str) -> RecordedSpan {
        let mut spans = self.named(name);
        match (spans.pop(), spans.len()) {
            (Some(span), 0) => span,
            (last, more) => panic!(
                "expected one span named `{name}`, found {}",
                more + usize::from(last.is_some())
            ),
        }
    }

    /// Returns the fields of all events of the level `WARN` and above, in order. The text of an event is its field `message`.
    ///
    /// ```
    /// use agcore_testkit::spans::SpanLog;
    ///
    /// let log = SpanLog::new();
    /// log.record(|| tracing::warn!(left = 3, "the disk is nearly full"));
    /// let warnings = log.warnings();
    /// assert_eq!((&*warnings[0]["message"], &*warnings[0]["left"]), ("the disk is nearly full", "3"));
    /// ```
    pub fn warnings(&self) -> Vec<BTreeMap<&'static str, String>> {
        self.warnings.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn lock(&self) -> MutexGuard<'_, Vec<(Id, RecordedSpan)>> {
        self.spans.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Updates the latest span with this id, because ids are reused after a span is closed.
    fn update(&self, id: &Id, update: impl FnOnce(&mut RecordedSpan)) {
        if let Some((_, span)) = self.lock().iter_mut().rev().find(|(known, _)| known == id) {
            update(span);
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
        self.update(id, |span| span.fields.extend(fields.0));
    }

    fn on_close(&self, id: Id, _: Context<'_, S>) {
        self.update(&id, |span| span.closed = true);
    }

    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        if *event.metadata().level() > Level::WARN {
            return;
        }
        let mut fields = Fields::default();
        event.record(&mut fields);
        self.warnings
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(fields.0);
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
