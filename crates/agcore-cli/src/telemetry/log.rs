//! The log: spans and events of agcore's crates on standard error, as short lines, or as those of a server.

mod entry;
mod fields;
mod line;

use std::{
    io::{self, Write},
    time::Instant,
};

use agcore::{
    chat::{Clock, Timestamp},
    llm::SystemClock,
};
use agcore_terminal::render::sanitized_line;
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
use crate::args::LogLevel;

/// The prefix of agcore's crate names. Other crates are not logged: their events may contain headers, and therefore keys.
pub(super) const TARGET_PREFIX: &str = "agcore";

/// Writes a line for each event and, when it ends, for each span.
pub(super) fn layer(level: LogLevel, form: LogForm) -> Box<dyn Layer<Registry> + Send + Sync> {
    let level = filter(level);
    // Spans have the level `info`, but one that failed is a warning.
    let ours = Targets::new().with_target(TARGET_PREFIX, level.max(LevelFilter::INFO));
    Box::new(Log { level, form }.with_filter(ours))
}

/// The form of the lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LogForm {
    /// Short lines about one conversation.
    Short,
    /// Lines of a server: each with the date, and with the request or the run to which it belongs.
    Server,
    /// The same as JSON objects.
    Json,
}

/// Writes the log.
#[derive(Debug)]
struct Log {
    level: LevelFilter,
    form: LogForm,
}

/// A span that has not ended.
#[derive(Debug)]
struct OpenSpan {
    started: Instant,
    fields: Fields,
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Log {
    fn on_new_span(&self, attributes: &span::Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let mut fields = Fields::default();
        attributes.record(&mut fields);
        if let Some(span) = context.span(id) {
            let started = Instant::now();
            self.write_short(Level::DEBUG, || {
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
        self.write_short(level, || vec![line::event(&fields)]);
        self.write_entry(level, || {
            let message = fields.get("message").unwrap_or_default().to_owned();
            let mut entry = Entry::new(SystemClock::new().now(), level, message);
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
        let level = match fields.get("error.type") {
            Some(_) => Level::WARN,
            None => Level::INFO,
        };
        self.write_short(level, || vec![summary(span.name(), fields, started.elapsed())]);
        self.write_short(Level::DEBUG, || details(fields));
        self.write_short(level, || contents(fields));
        self.write_entry(level, || {
            let (title, duration) = (line::title(span.name(), fields), started.elapsed());
            let mut entry = Entry::new(SystemClock::new().now(), level, title);
            entry.set("duration_ms", duration.as_millis().to_string());
            let outer = span.parent().into_iter().flat_map(|parent| parent.scope().from_root());
            outer.for_each(|span| add_context(&mut entry, &span));
            entry.add_context(fields);
            entry.add(fields);
            entry
        });
    }
}

impl Log {
    /// Writes a line of a server, if that is the form and the level is enabled.
    fn write_entry(&self, level: Level, entry: impl FnOnce() -> Entry) {
        if level > self.level || self.form == LogForm::Short {
            return;
        }
        let text = match self.form {
            LogForm::Json => entry().to_json(),
            _ => entry().to_text(),
        };
        // If standard error cannot be written, nothing can be reported.
        let _ = io::stderr().write_all(text.as_bytes());
    }

    /// Writes short lines, if that is the form and the level is enabled.
    fn write_short(&self, level: Level, lines: impl FnOnce() -> Vec<String>) {
        if level > self.level || self.form != LogForm::Short {
            return;
        }
        let time = Timestamp::from(SystemClock::new().now()).to_string();
        // The log of a session rarely spans days: the time is enough.
        let time = time.get(11..19).unwrap_or_default();
        let text: String = lines()
            .iter()
            .map(|line| format!("{time} {level:<5} {}\n", sanitized_line(line)))
            .collect();
        // If standard error cannot be written, nothing can be reported.
        let _ = io::stderr().write_all(text.as_bytes());
    }
}

fn add_context<S: for<'a> LookupSpan<'a>>(entry: &mut Entry, span: &SpanRef<'_, S>) {
    if let Some(open) = span.extensions().get::<OpenSpan>() {
        entry.add_context(&open.fields);
    }
}

fn filter(level: LogLevel) -> LevelFilter {
    match level {
        LogLevel::Off => LevelFilter::OFF,
        LogLevel::Error => LevelFilter::ERROR,
        LogLevel::Warn => LevelFilter::WARN,
        LogLevel::Info => LevelFilter::INFO,
        LogLevel::Debug => LevelFilter::DEBUG,
        LogLevel::Trace => LevelFilter::TRACE,
    }
}
