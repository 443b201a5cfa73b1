//! `agcore inspect stream`: decodes one saved response body.

use std::{
    fmt::Write,
    fs,
    io::{self, Read},
    path::Path,
};

use agcore::llm::wire::wire_case::{
    self, CaseClose, CaseHead, NeutralError, NeutralResult, NeutralUsage, WireCase, run,
};
use agcore_terminal::render::sanitized;

use super::deltas::deltas;
use crate::{args::StreamArgs, exit::Failure, stdout::print};

/// Decodes a body and shows its content.
///
/// # Errors
/// When the file cannot be read, the dialect is not supported, or the response ends in an error.
pub(crate) fn stream(args: &StreamArgs) -> Result<(), Failure> {
    let body = read(&args.file)?;
    let case = case(args, &body);
    let result = run(&case, &body, wire_case::ReadMode::Whole).map_err(|error| Failure::usage(error.to_string()))?;
    if args.json {
        let json = serde_json::to_string_pretty(&result).map_err(|error| Failure::task(error.to_string()))?;
        print(&(json + "\n"))?;
    } else {
        if args.deltas {
            let deltas = deltas(&case, &body).map_err(|error| Failure::usage(error.to_string()))?;
            print(&(deltas + "\n"))?;
        }
        print(&summary(&result))?;
    }
    match &result.error {
        None => Ok(()),
        Some(error) => Err(Failure::task(format!(
            "the response ends in an error: {}",
            sanitized(&error.message)
        ))),
    }
}

fn read(file: &Path) -> Result<Vec<u8>, Failure> {
    let read = if file == Path::new("-") {
        let mut body = Vec::new();
        io::stdin().lock().read_to_end(&mut body).map(|_| body)
    } else {
        fs::read(file)
    };
    read.map_err(|error| Failure::usage(format!("cannot read {}: {error}", file.display())))
}

/// Creates a case from a body. The content type is guessed from how the body starts.
fn case(args: &StreamArgs, body: &[u8]) -> WireCase {
    let kind = content_type(body).to_owned();
    let http = CaseHead {
        status: 200,
        headers: [("content-type".to_owned(), kind)].into(),
    };
    WireCase {
        id: args.file.display().to_string(),
        dialect: args.dialect.clone(),
        quirk: String::new(),
        http,
        body: String::new(),
        bytes: None,
        splits: Vec::new(),
        close: CaseClose::Clean,
    }
}

fn content_type(body: &[u8]) -> &'static str {
    match body.trim_ascii_start().first() {
        Some(b'{' | b'[') if serde_json::from_slice::<serde::de::IgnoredAny>(body).is_ok() => "application/json",
        Some(b'{') => "application/x-ndjson",
        Some(b'<') => "text/html",
        _ => "text/event-stream",
    }
}

/// Formats a result.
fn summary(result: &NeutralResult) -> String {
    let mut summary = String::new();
    let mut part = |name: &str, text: &str| {
        if !text.is_empty() {
            let _ = writeln!(summary, "{name:<10} {}", sanitized(text).replace('\n', "\n           "));
        }
    };
    part("outcome", &result.outcome);
    part("reasoning", result.reasoning.trim_end());
    part("text", result.text.trim_end());
    part("refusal", result.refusal.as_deref().unwrap_or(""));
    for call in &result.tool_calls {
        let arguments = call.arguments_raw.clone().unwrap_or_else(|| call.arguments.to_string());
        part("call", &format!("{} {} {arguments}", call.id, call.name));
    }
    part("finish", result.finish.as_deref().unwrap_or(""));
    part("usage", &result.usage.as_ref().map(tokens).unwrap_or_default());
    part("error", &result.error.as_ref().map(describe_error).unwrap_or_default());
    summary
}

fn tokens(usage: &NeutralUsage) -> String {
    let counts = [
        ("in", usage.input),
        ("out", usage.output),
        ("cached", usage.cached),
        ("written to cache", usage.cache_write),
        ("reasoning", usage.reasoning),
    ];
    let known = counts
        .iter()
        .filter_map(|(name, count)| Some(format!("{} {name}", (*count)?)));
    known.collect::<Vec<_>>().join(", ")
}

fn describe_error(error: &NeutralError) -> String {
    let retry = match (error.retryable, error.retry_after_ms) {
        (false, _) => String::new(),
        (true, None) => ", retryable".to_owned(),
        (true, Some(wait)) => format!(", retryable after {wait} ms"),
    };
    format!("{}{retry}: {}", error.kind, error.message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn guesses_the_content_type() {
        let check = |body: &str, expected: &str| assert_eq!(content_type(body.as_bytes()), expected, "{body}");
        check("data: {}\n\n", "text/event-stream");
        check(": hello\n", "text/event-stream");
        check("\n{\"a\": [1]}\n", "application/json");
        check("{\"a\":1}\n{\"a\":2}\n", "application/x-ndjson");
        check("{\"a\":", "application/x-ndjson");
        check("<html>", "text/html");
        check("", "text/event-stream");
    }
}
