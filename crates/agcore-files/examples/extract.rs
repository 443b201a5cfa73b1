//! Prints the text of files, and on standard error what could not be read of them.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "this program reads files and prints them"
)]

use std::{env, error::Error, fs, sync::Arc};

use agcore_chat::SystemClock;
use agcore_files::{FilePreprocessor, OriginFile, StandardPreprocessor};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let preprocessor = StandardPreprocessor::new(Arc::new(SystemClock::new()));
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
