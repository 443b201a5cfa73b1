//! The log: spans and events of agcore's crates, as short lines on standard error.

mod fields;
mod line;

use std::{
    io::{self, Write},
    time::Instant,
};

use agcore::{chat::Clock, llm::SystemClock};
use tracing::{Event, Id, Level, Subscriber, span};
use tracing_subscriber::{
    Layer, Registry,
    filter::{LevelFilter, Targets},
    layer::Context,
    registry::LookupSpan,
};

use self::{
    fields::Fields,
    line::{contents, details, summary},
};
use crate::{args::LogLevel, render::sanitized_line, utc::utc};

/// The prefix of agcore's crate names. Other crates are not logged: their events may contain headers, and therefore keys.
pub(super) const TARGET_PREFIX: &str = "agcore";

/// Writes a line for each event and, when it ends, for each span.
pub(super) fn layer(level: LogLevel) -> Box<dyn Layer<Registry> + Send + Sync> {
    let level = filter(level);
    // Spans have the level `info`, but one that failed is a warning.
    let ours = Targets::new().with_target(TARGET_PREFIX, level.max(LevelFilter::INFO));
    Box::new(Log { level }.with_filter(ours))
}

/// Writes the log.
#[derive(Debug)]
struct Log {
    level: LevelFilter,
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
            self.write(Level::DEBUG, || {
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

    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let mut fields = Fields::default();
        event.record(&mut fields);
        self.write(*event.metadata().level(), || vec![line::event(&fields)]);
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
        self.write(level, || vec![summary(span.name(), fields, started.elapsed())]);
        self.write(Level::DEBUG, || details(fields));
        self.write(level, || contents(fields));
    }
}

impl Log {
    /// Writes lines if the level is enabled.
    fn write(&self, level: Level, lines: impl FnOnce() -> Vec<String>) {
        if level > self.level {
            return;
        }
        let time = utc(SystemClock::new().now());
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
