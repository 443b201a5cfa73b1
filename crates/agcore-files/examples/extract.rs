//! Prints the text of files, and on standard error what could not be read of them.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "this program reads files and prints them"
)]

use std::{env, error::Error, fs, sync::Arc, time::Duration};

use agcore_chat::SystemClock;
use agcore_files::{FilePreprocessor, Limits, OriginFile, StandardPreprocessor};

/// The time that a file may take. A build without optimization is slow.
const TIME: Duration = Duration::from_secs(110);

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let limits = Limits::new().with_time(TIME);
    let preprocessor = StandardPreprocessor::new(Arc::new(SystemClock::new())).with_limits(limits);
    for path in env::args().skip(1) {
        let found = preprocessor
            .preprocess(&OriginFile::new(path.as_str()), fs::read(&path)?)
            .await?;
        for warning in &found.warnings {
            eprintln!("{warning}");
        }
        for document in &found.documents {
            println!("{}", document.text());
        }
        for table in &found.tables {
            println!("{}", table.to_markdown());
        }
    }
    Ok(())
}
