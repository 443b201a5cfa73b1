//! `agcore inspect cassette`: what was recorded, an exchange a line.

use std::{fs, path::Path};

use agcore::{
    chat::Usage,
    llm::cassette::{Cassette, Ending, Exchange},
};
use serde::Serialize;
use serde_json::Value;

use crate::{
    args::CassetteArgs,
    exit::Failure,
    output::print,
    render::{harmless_line, shortened},
    table::table,
};

/// How much of an answer is shown, in columns.
const SHOWN: usize = 60;

/// Lists the exchanges of a cassette.
///
/// # Errors
/// A file that cannot be read or is no cassette, a cassette that is damaged: what can be read of it is listed.
pub(crate) fn cassette(args: &CassetteArgs) -> Result<(), Failure> {
    let cassette = read(&args.file)?;
    let seen = Seen::of(&cassette);
    if args.json {
        let json = serde_json::to_string_pretty(&seen).map_err(|error| Failure::task(error.to_string()))?;
        print(&(json + "\n"))?;
    } else {
        print(&seen.told())?;
    }
    match cassette.into_whole() {
        Ok(_) => Ok(()),
        Err(damaged) => Err(Failure::task(harmless_line(&damaged.to_string()))),
    }
}

fn read(file: &Path) -> Result<Cassette, Failure> {
    let bytes =
        fs::read(file).map_err(|error| Failure::usage(format!("{} cannot be read: {error}", file.display())))?;
    Cassette::parse(&bytes).map_err(|error| Failure::usage(format!("{}: {error}", file.display())))
}

/// What is told of a cassette.
#[derive(Serialize)]
struct Seen {
    exchanges: Vec<SeenExchange>,
    damage: Vec<SeenDamage>,
}

#[derive(Serialize)]
struct SeenDamage {
    line: usize,
    why: String,
}

/// What is told of an exchange.
#[derive(Serialize)]
struct SeenExchange {
    call: u64,
    provider: String,
    /// The model that was asked.
    model: String,
    stream: bool,
    /// How many messages were sent.
    messages: usize,
    /// How many tools were offered.
    tools: usize,
    /// The tools that the model called.
    calls: Vec<String>,
    text: String,
    finish: Option<String>,
    usage: Option<Usage>,
    /// In how many pieces the reply came.
    chunks: usize,
    duration_ms: u64,
    /// `ok`, `error`, `cut`, `dropped`.
    end: &'static str,
    error: Option<SeenError>,
}

#[derive(Serialize)]
struct SeenError {
    kind: &'static str,
    message: String,
}

impl Seen {
    fn of(cassette: &Cassette) -> Self {
        let damage = cassette.damage().iter().map(|damage| SeenDamage {
            line: damage.line,
            why: damage.why.clone(),
        });
        Self {
            exchanges: cassette.exchanges().iter().map(SeenExchange::of).collect(),
            damage: damage.collect(),
        }
    }

    fn told(&self) -> String {
        if self.exchanges.is_empty() {
            return "no exchanges\n".to_owned();
        }
        let head = ["CALL", "MODEL", "ASKED", "TOKENS", "TIME", "END", "ANSWER"].map(str::to_owned);
        let rows: Vec<_> = std::iter::once(head)
            .chain(self.exchanges.iter().map(SeenExchange::row))
            .collect();
        table(&rows)
    }
}

impl SeenExchange {
    fn of(exchange: &Exchange) -> Self {
        let count = |name: &str| exchange.request.get(name).and_then(Value::as_array).map_or(0, Vec::len);
        let own_model = exchange.request.get("model").and_then(Value::as_str);
        let (end, error) = end(&exchange.end);
        let reply = exchange.partial_response();
        Self {
            call: exchange.call,
            provider: exchange.provider.clone(),
            model: own_model.unwrap_or(&exchange.model).to_owned(),
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
            shortened(&model.join(" "), SHOWN),
            format!("{asked}{streamed}"),
            self.usage.as_ref().map(tokens).unwrap_or_default(),
            format!("{}.{:03} s", self.duration_ms / 1000, self.duration_ms % 1000),
            shortened(end, SHOWN),
            shortened(&self.answer(), SHOWN),
        ]
    }

    /// What was said, called, or went wrong; the last first.
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

fn end(end: &Ending) -> (&'static str, Option<SeenError>) {
    match end {
        Ending::Ok => ("ok", None),
        Ending::Error(error) => {
            let fault = error.to_error().fault();
            let error = SeenError {
                kind: fault.kind.as_str(),
                message: fault.message,
            };
            ("error", Some(error))
        }
        Ending::Cut => ("cut", None),
        Ending::Dropped => ("dropped", None),
        _ => ("unknown", None),
    }
}

fn counted(count: usize, what: &str) -> Option<String> {
    match count {
        0 => None,
        1 => Some(format!("1 {what}")),
        count => Some(format!("{count} {what}s")),
    }
}

fn tokens(usage: &Usage) -> String {
    let counts = [("in", usage.prompt_tokens), ("out", usage.completion_tokens)];
    let known = counts
        .iter()
        .filter_map(|(name, count)| Some(format!("{} {name}", (*count)?)));
    known.collect::<Vec<_>>().join(", ")
}
