//! `agcore inspect cassette`: lists the recorded exchanges.

use std::{fs, path::Path};

use agcore::{
    chat::Usage,
    llm::cassette::{Cassette, CassetteReport, ExchangeReport},
};
use agcore_args::CassetteArgs;
use agcore_terminal::{
    render::{sanitized_line, truncated},
    table::table,
};

use crate::{exit::Failure, stdout::print};

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
        print(&to_table(&report))?;
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

/// Formats the exchanges as a table.
fn to_table(report: &CassetteReport) -> String {
    if report.exchanges.is_empty() {
        return "no exchanges\n".to_owned();
    }
    let head = ["CALL", "MODEL", "ASKED", "TOKENS", "TIME", "END", "ANSWER"].map(str::to_owned);
    let rows: Vec<_> = std::iter::once(head).chain(report.exchanges.iter().map(row)).collect();
    table(&rows)
}

fn row(exchange: &ExchangeReport) -> [String; 7] {
    let model = [exchange.provider.as_str(), exchange.model.as_str()];
    let model: Vec<_> = model.into_iter().filter(|name| !name.is_empty()).collect();
    let asked = [counted(exchange.messages, "message"), counted(exchange.tools, "tool")];
    let asked = asked.into_iter().flatten().collect::<Vec<_>>().join(", ");
    let streamed = if exchange.stream { ", streamed" } else { "" };
    let end = match exchange.finish.as_deref() {
        Some(finish) if exchange.end == "ok" => finish,
        _ => exchange.end,
    };
    [
        exchange.call.to_string(),
        truncated(&model.join(" "), MAX_CELL),
        format!("{asked}{streamed}"),
        exchange.usage.as_ref().map(tokens).unwrap_or_default(),
        format!("{}.{:03} s", exchange.duration_ms / 1000, exchange.duration_ms % 1000),
        truncated(end, MAX_CELL),
        truncated(&exchange.answer(), MAX_CELL),
    ]
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
