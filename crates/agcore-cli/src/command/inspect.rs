//! `agcore inspect`: what a model server's saved answers say, in the neutral form.

mod case_file;
mod cassette;
mod output;
mod deltas;
mod stream;

use std::path::Path;

use agcore::llm::wire_case::{self, run};

pub(crate) use self::{cassette::cassette, stream::stream};

use self::{case_file::CaseFile, output::Output};
use crate::{
    args::{CaseArgs, ReadMode},
    exit::Failure,
};

/// Decodes cases. One that cannot be decoded is named, and the others are written.
///
/// # Errors
/// When a case could not be decoded, or the results cannot be written.
pub(crate) fn cases(args: &CaseArgs) -> Result<(), Failure> {
    let mut output = Output::new(args.out.as_deref())?;
    let mut bad = 0;
    for file in &args.files {
        if let Err(why) = case(file, args.mode, &mut output)? {
            bad += 1;
            output.complain(&format!("{}: {why}", file.display()))?;
        }
    }
    match bad {
        0 => Ok(()),
        _ => Err(Failure::task(format!(
            "{bad} of {} cases were not written",
            args.files.len()
        ))),
    }
}

/// Decodes and writes a case; or says what is wrong with it.
///
/// # Errors
/// When no result can be written any more.
fn case(path: &Path, mode: ReadMode, output: &mut Output) -> Result<Result<(), String>, Failure> {
    let result = CaseFile::read(path)
        .and_then(|file| run(&file.case, &file.body, in_words_of_the_library(mode)).map_err(|error| error.to_string()));
    match result {
        Ok(result) => output.write(&result),
        Err(why) => Ok(Err(why)),
    }
}

fn in_words_of_the_library(mode: ReadMode) -> wire_case::ReadMode {
    match mode {
        ReadMode::Listed => wire_case::ReadMode::Splits,
        ReadMode::Whole => wire_case::ReadMode::Whole,
        ReadMode::Bytes => wire_case::ReadMode::Bytes,
    }
}
