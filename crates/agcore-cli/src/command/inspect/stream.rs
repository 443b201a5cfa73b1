//! `agcore inspect stream`: decodes one saved response body.

use std::{
    fs,
    io::{self, Read},
    path::Path,
};

use agcore::llm::wire::wire_case::{ReadMode, WireCase, run};
use agcore_args::StreamArgs;
use agcore_terminal::render::sanitized;

use crate::{exit::Failure, stdout::print};

/// Decodes a body and shows its content.
///
/// # Errors
/// When the file cannot be read, the dialect is not supported, or the response ends in an error.
pub(crate) fn stream(args: &StreamArgs) -> Result<(), Failure> {
    let body = read(&args.file)?;
    let case = WireCase::of_body(args.file.display().to_string(), &args.dialect, &body);
    let result = run(&case, &body, ReadMode::Whole).map_err(|error| Failure::usage(error.to_string()))?;
    if args.json {
        let json = serde_json::to_string_pretty(&result).map_err(|error| Failure::task(error.to_string()))?;
        print(&(json + "\n"))?;
    } else {
        if args.deltas {
            let deltas = case.trace(&body).map_err(|error| Failure::usage(error.to_string()))?;
            print(&(deltas + "\n"))?;
        }
        print(&result.to_string())?;
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
