//! [`Measured`]: the values of a span that metrics need.

use std::{fmt, time::Duration};

use agcore_chat::text::prefix;
use agcore_trace::{MetricName, attribute, metric};
use tracing::field::{Field, Visit};

use super::sink::Label;

/// The longest value of a label, in bytes.
const MAX_LABEL: usize = 200;

/// Attributes that become labels.
const LABELS: [&str; 9] = [
    attribute::OPERATION_NAME,
    attribute::PROVIDER_NAME,
    attribute::REQUEST_MODEL,
    attribute::RESPONSE_MODEL,
    attribute::AGENT_NAME,
    attribute::TOOL_NAME,
    attribute::TOOL_TYPE,
    attribute::WORKFLOW_NAME,
    attribute::ERROR_TYPE,
];

/// The values of a span that metrics need.
#[derive(Debug)]
pub(super) struct Measured {
    /// The monotonic time at which the span began.
    pub(super) started: Duration,
    labels: [Option<String>; LABELS.len()],
    is_streamed: bool,
    first_chunk: Option<f64>,
    input_tokens: Option<i64>,
    output_tokens: Option<i64>,
}

impl Measured {
    pub(super) fn new(started: Duration) -> Self {
        Self {
            started,
            labels: Default::default(),
            is_streamed: false,
            first_chunk: None,
            input_tokens: None,
            output_tokens: None,
        }
    }

    /// Calls a function with the attributes that a metric has, and `more` if there is one. Allocates nothing: this happens for
    /// each piece of a reply.
    pub(super) fn with_labels(&self, metric: &MetricName, more: Option<Label<'_>>, visit: impl FnOnce(&[Label<'_>])) {
        let found = LABELS.iter().zip(&self.labels);
        let found = found
            .filter(|(name, _)| metric.attributes.contains(name))
            .filter_map(|(name, value)| Some((*name, value.as_deref()?)));
        let mut labels = [("", ""); LABELS.len() + 1];
        let mut count = 0;
        for (place, label) in labels.iter_mut().zip(found.chain(more)) {
            *place = label;
            count += 1;
        }
        visit(&labels[..count]);
    }

    /// Visits what was measured of a call of a model besides its duration.
    pub(super) fn visit_call(&self, mut visit: impl FnMut(&'static MetricName, f64, &[Label<'_>])) {
        let first = &metric::CLIENT_TIME_TO_FIRST_CHUNK;
        // Without a stream, the first piece is the whole reply.
        if let Some(seconds) = self.first_chunk.filter(|_| self.is_streamed) {
            self.with_labels(first, None, |labels| visit(first, seconds, labels));
        }
        let usage = &metric::CLIENT_TOKEN_USAGE;
        for (kind, tokens) in [("input", self.input_tokens), ("output", self.output_tokens)] {
            if let Some(tokens) = tokens {
                #[expect(clippy::cast_precision_loss, reason = "a histogram sums floating-point numbers")]
                let tokens = tokens as f64;
                let direction = (attribute::TOKEN_TYPE, kind);
                self.with_labels(usage, Some(direction), |labels| visit(usage, tokens, labels));
            }
        }
    }

    fn set(&mut self, field: &Field, value: &str) {
        if let Some(at) = LABELS.iter().position(|name| *name == field.name()) {
            self.labels[at] = Some(prefix(value, MAX_LABEL).to_owned());
        }
    }
}

impl Visit for Measured {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.set(field, value);
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        if field.name() == attribute::REQUEST_STREAM {
            self.is_streamed = value;
        }
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        match field.name() {
            attribute::USAGE_INPUT_TOKENS => self.input_tokens = Some(value),
            attribute::USAGE_OUTPUT_TOKENS => self.output_tokens = Some(value),
            _ => {}
        }
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        if field.name() == attribute::RESPONSE_TIME_TO_FIRST_CHUNK {
            self.first_chunk = Some(value);
        }
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        if LABELS.contains(&field.name()) {
            self.set(field, &format!("{value:?}"));
        }
    }
}

/// The event of a further piece of a reply.
#[derive(Debug, Default)]
pub(super) struct Chunk {
    pub(super) seconds: Option<f64>,
}

impl Visit for Chunk {
    fn record_f64(&mut self, field: &Field, value: f64) {
        if field.name() == attribute::CHUNK_SECONDS {
            self.seconds = Some(value);
        }
    }

    fn record_debug(&mut self, _: &Field, _: &dyn fmt::Debug) {}
}
