//! `agcore inspect cassette`: lists the recorded exchanges.

use std::{fs, path::Path};

use agcore::{
    chat::Usage,
    llm::cassette::{Cassette, Ending, Exchange},
};
use agcore_terminal::{
    render::{sanitized_line, truncated},
    table::table,
};
use serde::Serialize;
use serde_json::Value;

use crate::{args::CassetteArgs, exit::Failure, stdout::print};

/// The maximum width of a cell, in columns.
const MAX_CELL: usize = 60;

/// Lists the exchanges of a cassette.
///
/// # Errors
/// When the file cannot be read or is not a cassette. When the cassette is damaged, after listing what can be read.
pub(crate) fn cassette(args: &CassetteArgs) -> Result<(), Failure> {
    let cassette = read(&args.file)?;
    let report = CassetteReport::new(&cassette);
    if args.json {
        let json = serde_json::to_string_pretty(&report).map_err(|error| Failure::task(error.to_string()))?;
        print(&(json + "\n"))?;
    } else {
        print(&report.to_table())?;
    }
    match cassette.into_intact() {
        Ok(_) => Ok(()),
        Err(damaged) => Err(Failure::task(sanitized_line(&damaged.to_string()))),
    }
}

fn read(file: &Path) -> Result<Cassette, Failure> {
    let bytes = fs::read(file).map_err(|error| Failure::usage(format!("cannot read {}: {error}", file.display())))?;
    Cassette::parse(&bytes).map_err(|error| Failure::usage(format!("{}: {error}", file.display())))
}

/// The output for a cassette.
#[derive(Serialize)]
struct CassetteReport {
    exchanges: Vec<ExchangeReport>,
    damage: Vec<DamageReport>,
}

#[derive(Serialize)]
struct DamageReport {
    line: usize,
    why: String,
}

/// The output for an exchange.
#[derive(Serialize)]
struct ExchangeReport {
    call: u64,
    provider: String,
    /// The model that was requested.
    model: String,
    stream: bool,
    /// The number of messages sent.
    messages: usize,
    /// The number of tools offered.
    tools: usize,
    /// The tools that the model called.
    calls: Vec<String>,
    text: String,
    finish: Option<String>,
    usage: Option<Usage>,
    /// The number of chunks that the reply arrived in.
    chunks: usize,
    duration_ms: u64,
    /// `ok`, `error`, `cut`, `dropped`.
    end: &'static str,
    error: Option<ErrorReport>,
}

#[derive(Serialize)]
struct ErrorReport {
    kind: &'static str,
    message: String,
}

impl CassetteReport {
    fn new(cassette: &Cassette) -> Self {
        let damage = cassette.damaged_parts().iter().map(|part| DamageReport {
            line: part.line,
            why: part.reason.clone(),
        });
        Self {
            exchanges: cassette.exchanges().iter().map(ExchangeReport::new).collect(),
            damage: damage.collect(),
        }
    }

    fn to_table(&self) -> String {
        if self.exchanges.is_empty() {
            return "no exchanges\n".to_owned();
        }
        let head = ["CALL", "MODEL", "ASKED", "TOKENS", "TIME", "END", "ANSWER"].map(str::to_owned);
        let rows: Vec<_> = std::iter::once(head)
            .chain(self.exchanges.iter().map(ExchangeReport::row))
            .collect();
        table(&rows)
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

    fn row(&self) -> [String; 7] {
        let model = [self.provider.as_str(), self.model.as_str()];
        let model: Vec<_> = model.into_iter().filter(|name| !name.is_empty()).collect();
        let asked = [counted(self.messages, "message"), counted(self.tools, "tool")];
        let asked = asked.into_iter().flatten().collect::<Vec<_>>().join(", ");
        let streamed = if self.stream { ", streamed" } else { "" };
        let end = match self.finish.as_deref() {
            Some(finish) if self.end == "ok" => finish,
            _ => self.end,
        };
        [
            self.call.to_string(),
            truncated(&model.join(" "), MAX_CELL),
            format!("{asked}{streamed}"),
            self.usage.as_ref().map(tokens).unwrap_or_default(),
            format!("{}.{:03} s", self.duration_ms / 1000, self.duration_ms % 1000),
            truncated(end, MAX_CELL),
            truncated(&self.answer(), MAX_CELL),
        ]
    }

    /// Formats the error, the called tools and the text, in this order.
    fn answer(&self) -> String {
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
        _ => ("unknown", None),
    }
}

fn counted(count: usize, noun: &str) -> Option<String> {
    match count {
        0 => None,
        1 => Some(format!("1 {noun}")),
        count => Some(format!("{count} {noun}s")),
    }
}

fn tokens(usage: &Usage) -> String {
    let counts = [("in", usage.prompt_tokens), ("out", usage.completion_tokens)];
    let known = counts
        .iter()
        .filter_map(|(name, count)| Some(format!("{} {name}", (*count)?)));
    known.collect::<Vec<_>>().join(", ")
}
