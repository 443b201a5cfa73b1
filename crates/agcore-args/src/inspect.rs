//! Arguments of `inspect`.

use std::path::PathBuf;

use clap::{Parser, Subcommand, ValueEnum};

#[derive(Debug, Subcommand)]
pub enum InspectCommand {
    /// Decode wire cases and write their contents in a vendor-neutral form
    #[command(after_help = CASE_HELP)]
    Case(CaseArgs),
    /// Decode one saved response body and show its contents
    #[command(after_help = STREAM_HELP)]
    Stream(StreamArgs),
    /// List the exchanges recorded in a cassette
    #[command(after_help = CASSETTE_HELP)]
    Cassette(CassetteArgs),
}

const CASSETTE_HELP: &str = "\
A cassette is a file of recorded requests and replies. If it is damaged, the readable exchanges are listed and the \
exit code is 1. If the file is not a cassette, or comes from a newer version, the exit code is 2.

Examples:
  agcore inspect cassette tests/session.jsonl
  agcore inspect cassette tests/session.jsonl --json | jq '.exchanges[].usage'";

/// Arguments of `inspect cassette`.
#[derive(Debug, Parser)]
pub struct CassetteArgs {
    /// Cassette file
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Print the list as JSON
    #[arg(long)]
    pub json: bool,
}

const STREAM_HELP: &str = "\
The file is a response body as saved by `curl`: server-sent events, JSON lines, or a single JSON document. If the \
response ends in an error, everything before it is shown and the exit code is 1.

Examples:
  curl -sN https://api.openai.com/v1/chat/completions ... > answer.sse
  agcore inspect stream answer.sse
  agcore inspect stream answer.sse --dialect anthropic --deltas
  agcore inspect stream answer.sse --json | jq .usage";

/// Arguments of `inspect stream`.
#[derive(Debug, Parser)]
pub struct StreamArgs {
    /// Response body; `-` reads standard input
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// API that produced the body: openai-chat, openai-responses, anthropic, ollama, gemini, bedrock
    #[arg(long, value_name = "NAME", default_value = "openai-chat")]
    pub dialect: String,
    /// Also show each increment and the line of the body that completed it
    #[arg(long, conflicts_with = "json")]
    pub deltas: bool,
    /// Print the result as JSON
    #[arg(long)]
    pub json: bool,
}

const CASE_HELP: &str = "\
A case is a JSON file with the members id, dialect and body, and optionally quirk, http {status, headers}, splits and \
close. The body is the text itself or, if there is a member bytes with its size, the name of a file in the same directory.

Each result is one JSON object, printed on one line or, with --out, written to DIR/<id>.json.

Cases that cannot be read or whose dialect is not supported are reported on standard error. The others are still \
processed, and the exit code is 1.

Examples:
  agcore inspect case answers/*.json --out results
  agcore inspect case odd-stream.json --mode bytes";

/// Arguments of `inspect case`.
#[derive(Debug, Parser)]
pub struct CaseArgs {
    /// Case files
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Write results to this directory instead of standard output
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Size of the pieces in which the body is decoded
    #[arg(long, value_enum, default_value_t = ReadMode::Listed)]
    pub mode: ReadMode,
}

/// The size of the pieces in which the body of a case is decoded.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum ReadMode {
    /// Split at the positions in the case
    Listed,
    /// All bytes at once
    Whole,
    /// One byte at a time
    Bytes,
}
