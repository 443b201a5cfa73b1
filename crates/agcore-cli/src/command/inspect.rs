//! `agcore inspect`: decodes saved responses of model servers into a vendor-neutral form.

mod case_file;
mod cassette;
mod output;
mod stream;

use std::path::Path;

use agcore::llm::wire::wire_case::{self, run};
use agcore_args::{CaseArgs, ReadMode};

pub(crate) use self::{cassette::cassette, stream::stream};

use self::{case_file::CaseFile, output::Output};

use crate::exit::Failure;

/// Decodes cases. A case that cannot be decoded is reported, and the others are still written.
///
/// # Errors
/// When a case could not be decoded or written.
pub(crate) fn cases(args: &CaseArgs) -> Result<(), Failure> {
    let mut output = Output::new(args.out.as_deref())?;
    let mut failed = 0;
    for file in &args.files {
        if let Err(error) = case(file, args.mode, &mut output)? {
            failed += 1;
            output.report(&format!("{}: {error}", file.display()))?;
        }
    }
    match failed {
        0 => Ok(()),
        _ => Err(Failure::task(format!(
            "{failed} of {} cases could not be decoded or written",
            args.files.len()
        ))),
    }
}

/// Decodes and writes a case. The inner error is specific to this case.
///
/// # Errors
/// When no more results can be written.
fn case(path: &Path, mode: ReadMode, output: &mut Output) -> Result<Result<(), String>, Failure> {
    let result = CaseFile::read(path)
        .and_then(|file| run(&file.case, &file.body, library_mode(mode)).map_err(|error| error.to_string()));
    match result {
        Ok(result) => output.write(&result),
        Err(error) => Ok(Err(error)),
    }
}

fn library_mode(mode: ReadMode) -> wire_case::ReadMode {
    match mode {
        ReadMode::Listed => wire_case::ReadMode::Splits,
        ReadMode::Whole => wire_case::ReadMode::Whole,
        ReadMode::Bytes => wire_case::ReadMode::Bytes,
    }
}
