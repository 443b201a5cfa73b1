//! [`CassetteReport`]: a cassette for people who look for one of its exchanges.

use agcore_chat::Usage;
use serde::Serialize;
use serde_json::Value;

use super::{document::Cassette, ending::Ending, exchange::Exchange};

/// The contents of a cassette, without the chunks.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct CassetteReport {
    /// The exchanges.
    pub exchanges: Vec<ExchangeReport>,
    /// The parts that cannot be read.
    pub damage: Vec<DamageReport>,
}

/// A part of a cassette that cannot be read.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct DamageReport {
    /// The line at which it starts.
    pub line: usize,
    /// The reason.
    pub why: String,
}

/// An exchange.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ExchangeReport {
    /// The number of the call.
    pub call: u64,
    /// The name of the provider.
    pub provider: String,
    /// The model that was requested.
    pub model: String,
    /// Whether a streamed reply was requested.
    pub stream: bool,
    /// The number of messages sent.
    pub messages: usize,
    /// The number of tools offered.
    pub tools: usize,
    /// The tools that the model called.
    pub calls: Vec<String>,
    /// The text of the reply.
    pub text: String,
    /// The reason that the model stopped; `None` if it did not say.
    pub finish: Option<String>,
    /// The tokens; `None` if the server did not report them.
    pub usage: Option<Usage>,
    /// The number of chunks that the reply arrived in.
    pub chunks: usize,
    /// The time until the end.
    pub duration_ms: u64,
    /// `ok`, `error`, `cut` or `dropped`.
    pub end: &'static str,
    /// The error that ended the reply.
    pub error: Option<ErrorReport>,
}

/// The error of a reply.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ErrorReport {
    /// Its kind.
    pub kind: &'static str,
    /// A description.
    pub message: String,
}

impl CassetteReport {
    /// Describes a cassette.
    pub fn new(cassette: &Cassette) -> Self {
        let damage = cassette.damaged_parts().iter().map(|part| DamageReport {
            line: part.line,
            why: part.reason.clone(),
        });
        Self {
            exchanges: cassette.exchanges().iter().map(ExchangeReport::new).collect(),
            damage: damage.collect(),
        }
    }
}

impl ExchangeReport {
    fn new(exchange: &Exchange) -> Self {
        let count = |name: &str| exchange.request.get(name).and_then(Value::as_array).map_or(0, Vec::len);
        let requested_model = exchange.request.get("model").and_then(Value::as_str);
        let (end, error) = end(&exchange.end);
        let reply = exchange.partial_response();
        Self {
            call: exchange.call,
            provider: exchange.provider.clone(),
            model: requested_model.unwrap_or(&exchange.model).to_owned(),
            stream: exchange.stream,
            messages: count("messages"),
            tools: count("tools"),
            calls: reply.tool_calls().map(|call| call.name.clone()).collect(),
            text: reply.text().into_owned(),
            finish: reply.finish_reason().map(ToString::to_string),
            usage: exchange.usage(),
            chunks: exchange.chunks.len(),
            duration_ms: exchange.ms,
            end,
            error,
        }
    }

    /// Formats the error, the called tools and the text, in this order.
    pub fn answer(&self) -> String {
        let error = self
            .error
            .iter()
            .map(|error| format!("{}: {}", error.kind, error.message));
        let calls = self.calls.iter().map(|name| format!("[{name}]"));
        let text = Some(self.text.trim().to_owned()).filter(|text| !text.is_empty());
        error.chain(calls).chain(text).collect::<Vec<_>>().join(" ")
    }
}

fn end(end: &Ending) -> (&'static str, Option<ErrorReport>) {
    match end {
        Ending::Ok => ("ok", None),
        Ending::Error(error) => {
            let fault = error.to_error().fault();
            let error = ErrorReport {
                kind: fault.kind.as_str(),
                message: fault.message,
            };
            ("error", Some(error))
        }
        Ending::Truncated => ("cut", None),
        Ending::Dropped => ("dropped", None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CASSETTE: &str = r#"{"agcore_cassette":1}
{"call":1,"provider":"p","model":"own","stream":false,"request":{"model":"m","messages":[{"role":"user","content":"Hi"}],"tools":[]},"chunks":[{"ms":3,"items":[{"text":"Good "},{"text":"day. "}]}],"end":"ok","ms":7}
{"call":2,"provider":"p","model":"own","stream":true,"request":{"messages":[]},"chunks":[],"end":"cut","ms":1}
{"call":3,
"#;

    #[test]
    fn an_exchange_is_described_by_its_request_and_reply() {
        let report = CassetteReport::new(&Cassette::parse(CASSETTE.as_bytes()).unwrap());
        let first = &report.exchanges[0];
        assert_eq!((first.model.as_str(), first.messages, first.tools), ("m", 1, 0));
        assert_eq!(
            (first.answer().as_str(), first.end, first.duration_ms),
            ("Good day.", "ok", 7)
        );
        let second = &report.exchanges[1];
        assert_eq!(
            (second.model.as_str(), second.end, second.answer().as_str()),
            ("own", "cut", "")
        );
        assert_eq!(
            (report.exchanges.len(), report.damage.len(), report.damage[0].line),
            (2, 1, 4)
        );
    }

    #[test]
    fn an_empty_cassette_has_no_exchanges() {
        let report = CassetteReport::new(&Cassette::new([]));
        assert!(report.exchanges.is_empty() && report.damage.is_empty());
    }
}
