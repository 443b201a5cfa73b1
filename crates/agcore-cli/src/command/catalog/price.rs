//! `agcore catalog price`: computes what messages cost.

use std::{
    fs::File,
    io::{self, BufRead, BufReader, Read},
    path::Path,
};

use agcore::catalog::{PriceLine, price_line};
use agcore_args::PriceArgs;

use crate::{exit::Failure, stdout::print};

/// The longest line, in bytes.
const MAX_LINE: u64 = 16 << 20;

/// Answers each line of a file or of standard input.
///
/// # Errors
/// When the file cannot be read, or the output cannot be written.
pub(super) fn run(args: &PriceArgs) -> Result<(), Failure> {
    let file = args.file.as_deref().filter(|path| *path != Path::new("-"));
    let name = file.map_or_else(|| "standard input".to_owned(), |path| path.display().to_string());
    let unreadable = |error: io::Error| Failure::usage(format!("cannot read {name}: {error}"));
    let mut reader: Box<dyn BufRead> = match file {
        Some(path) => Box::new(BufReader::new(File::open(path).map_err(unreadable)?)),
        None => Box::new(BufReader::new(io::stdin())),
    };
    let mut line = Vec::new();
    loop {
        line.clear();
        let mut limited = reader.by_ref().take(MAX_LINE);
        if limited.read_until(b'\n', &mut line).map_err(unreadable)? == 0 {
            return Ok(());
        }
        if line.len() as u64 == MAX_LINE && !line.ends_with(b"\n") {
            return Err(Failure::usage(format!(
                "{name} has a line of more than {MAX_LINE} bytes; split it"
            )));
        }
        // A file may start with a byte order mark.
        let line = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&line);
        let text = String::from_utf8_lossy(line);
        if !text.trim().is_empty() {
            print(&written(&price_line(text.trim()))?)?;
        }
    }
}

fn written(answer: &PriceLine) -> Result<String, Failure> {
    let json = serde_json::to_string(answer).map_err(|error| Failure::task(error.to_string()))?;
    Ok(json + "\n")
}
