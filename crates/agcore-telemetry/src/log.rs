//! [`LogLayer`]: spans and events as lines of a log, short ones or those of a server.

mod entry;
mod fields;
mod line;

use std::{fmt, sync::Arc, time::Duration};

use agcore_chat::{Clock, Timestamp, text::sanitized_line};
use agcore_trace::{attribute, span as names};
use tracing::{Event, Id, Level, Subscriber, span};
use tracing_subscriber::{
    Layer, Registry,
    filter::{LevelFilter, Targets},
    layer::Context,
    registry::{LookupSpan, Scope, SpanRef},
};

use self::{
    entry::Entry,
    fields::Fields,
    line::{contents, details, summary},
};

/// The prefix of agcore's crate names. Other crates are not logged unless they are named: their events may contain headers, and
/// therefore keys.
pub(crate) const TARGET_PREFIX: &str = "agcore";

/// The form of the lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum LogForm {
    /// Short lines about one conversation.
    Short,
    /// Lines of a server: each with the date, and with the request or the run to which it belongs.
    Server,
    /// The same as JSON objects.
    Json,
}

type Sink = dyn Fn(&str) + Send + Sync;

/// Writes a line for each event and, when it ends, for each span of agcore's crates.
///
/// ```
/// use std::sync::{Arc, Mutex};
///
/// use agcore_chat::SystemClock;
/// use agcore_telemetry::{LogForm, LogLayer};
/// use tracing_subscriber::{filter::LevelFilter, layer::SubscriberExt};
///
/// let written = Arc::new(Mutex::new(String::new()));
/// let sink = Arc::clone(&written);
/// let log = LogLayer::new(LevelFilter::INFO, LogForm::Json, Arc::new(SystemClock::new()), move |lines| {
///     sink.lock().unwrap().push_str(lines);
/// });
/// let subscriber = tracing_subscriber::registry().with(log.with_target("my_server").layer());
/// tracing::subscriber::with_default(subscriber, || {
///     tracing::info!(target: "my_server", port = 8080, "listening");
///     tracing::info!(target: "hyper", "not logged");
/// });
///
/// let line: serde_json::Value = serde_json::from_str(&written.lock().unwrap())?;
/// assert_eq!((&line["message"], &line["port"]), (&"listening".into(), &"8080".into()));
/// # Ok::<(), serde_json::Error>(())
/// ```
pub struct LogLayer {
    level: LevelFilter,
    form: LogForm,
    clock: Arc<dyn Clock>,
    sink: Box<Sink>,
    targets: Targets,
}

impl LogLayer {
    /// Creates a log with lines of this level and the more severe ones. `sink` gets whole lines, at once those that belong
    /// together.
    pub fn new(
        level: LevelFilter,
        form: LogForm,
        clock: Arc<dyn Clock>,
        sink: impl Fn(&str) + Send + Sync + 'static,
    ) -> Self {
        let log = Self {
            level,
            form,
            clock,
            sink: Box::new(sink),
            targets: Targets::new(),
        };
        log.with_target(TARGET_PREFIX)
    }

    /// Logs the crates whose names start like this as well. Their events must not contain secrets.
    #[must_use]
    pub fn with_target(mut self, prefix: &str) -> Self {
        // Spans have the level `info`, but one that failed is a warning.
        let level = self.level.max(LevelFilter::INFO);
        self.targets = self.targets.with_target(prefix, level);
        self
    }

    /// Returns the layer for a subscriber.
    pub fn layer(self) -> Box<dyn Layer<Registry> + Send + Sync> {
        let targets = self.targets.clone();
        Box::new(Log(self).with_filter(targets))
    }

    /// Writes a line of a server, if that is the form and the level is enabled.
    fn write_entry(&self, level: Level, entry: impl FnOnce() -> Entry) {
        if level > self.level || self.form == LogForm::Short {
            return;
        }
        let text = match self.form {
            LogForm::Json => entry().to_json(),
            _ => entry().to_text(),
        };
        (self.sink)(&text);
    }

    /// Writes short lines, if that is the form and the level is enabled.
    fn write_short(&self, level: Level, lines: impl FnOnce() -> Vec<String>) {
        if level > self.level || self.form != LogForm::Short {
            return;
        }
        let time = Timestamp::from(self.clock.now()).to_string();
        // The log of a session rarely spans days: the time is enough.
        let time = time.get(11..19).unwrap_or_default();
        let text: String = lines()
            .iter()
            .map(|line| format!("{time} {level:<5} {}\n", sanitized_line(line)))
            .collect();
        (self.sink)(&text);
    }
}

impl fmt::Debug for LogLayer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LogLayer")
            .field("level", &self.level)
            .field("form", &self.form)
            .finish_non_exhaustive()
    }
}

/// The layer without its filter.
#[derive(Debug)]
struct Log(LogLayer);

/// A span that has not ended.
#[derive(Debug)]
struct OpenSpan {
    /// The monotonic time.
    started: Duration,
    fields: Fields,
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Log {
    fn on_new_span(&self, attributes: &span::Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let mut fields = Fields::default();
        attributes.record(&mut fields);
        if let Some(span) = context.span(id) {
            let started = self.0.clock.monotonic();
            self.0.write_short(Level::DEBUG, || {
                vec![format!("{}: started", line::title(span.name(), &fields))]
            });
            span.extensions_mut().insert(OpenSpan { started, fields });
        }
    }

    fn on_record(&self, id: &Id, values: &span::Record<'_>, context: Context<'_, S>) {
        let Some(span) = context.span(id) else { return };
        if let Some(open) = span.extensions_mut().get_mut::<OpenSpan>() {
            values.record(&mut open.fields);
        }
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        let mut fields = Fields::default();
        event.record(&mut fields);
        let level = *event.metadata().level();
        self.0.write_short(level, || vec![line::event(&fields)]);
        self.0.write_entry(level, || {
            let message = fields.get("message").unwrap_or_default().to_owned();
            let mut entry = Entry::new(self.0.clock.now(), level, message);
            let spans = context.event_scope(event).into_iter().flat_map(Scope::from_root);
            spans.for_each(|span| add_context(&mut entry, &span));
            entry.add(&fields);
            entry
        });
    }

    fn on_close(&self, id: Id, context: Context<'_, S>) {
        let Some(span) = context.span(&id) else { return };
        let extensions = span.extensions();
        let Some(OpenSpan { started, fields }) = extensions.get() else {
            return;
        };
        let took = self.0.clock.monotonic().saturating_sub(*started);
        let level = match fields.get(attribute::ERROR_TYPE) {
            // A receiver that does not answer is a problem of its owner.
            Some(_) if span.name() != names::WEBHOOK => Level::WARN,
            _ => Level::INFO,
        };
        self.0.write_short(level, || vec![summary(span.name(), fields, took)]);
        self.0.write_short(Level::DEBUG, || details(fields));
        self.0.write_short(level, || contents(fields));
        self.0.write_entry(level, || {
            let title = line::title(span.name(), fields);
            let mut entry = Entry::new(self.0.clock.now(), level, title);
            entry.set("duration_ms", took.as_millis().to_string());
            let outer = span.parent().into_iter().flat_map(|parent| parent.scope().from_root());
            outer.for_each(|span| add_context(&mut entry, &span));
            entry.add_context(fields);
            entry.add(fields);
            entry
        });
    }
}

fn add_context<S: for<'a> LookupSpan<'a>>(entry: &mut Entry, span: &SpanRef<'_, S>) {
    if let Some(open) = span.extensions().get::<OpenSpan>() {
        entry.add_context(&open.fields);
    }
}
