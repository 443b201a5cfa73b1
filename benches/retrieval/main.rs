//! Measures how well and how fast pages are found, beside SQLite's own full-text index.
//!
//! `cargo bench -p agcore-benches --bench retrieval` measures the sets of the repository and synthetic pages. With a folder of
//! collections (`-- --collections FOLDER`), it measures these, too; `-- --pages 1000000` sets the numbers of synthetic pages. See
//! `benches/README.md`.

#![expect(clippy::print_stdout, reason = "a benchmark prints its results")]

mod collection;
mod cranfield;
mod engine;
mod fts;
mod locomo;
mod own_sets;
mod quality;
mod speed;
mod turns;

use std::{env, error::Error, path::PathBuf, process};

type Fallible<T = ()> = Result<T, Box<dyn Error + Send + Sync>>;

/// The variable that names the folder of collections, if no argument does.
const FOLDER: &str = "AGCORE_COLLECTIONS";

fn main() {
    if let Err(error) = run() {
        println!("failed: {error}");
        process::exit(1);
    }
}

struct Options {
    collections: Option<PathBuf>,
    pages: Vec<usize>,
}

impl Options {
    /// Reads the arguments. Cargo adds `--bench`.
    fn read() -> Fallible<Self> {
        let mut options = Self {
            collections: env::var_os(FOLDER).map(PathBuf::from),
            pages: Vec::new(),
        };
        let mut arguments = env::args().skip(1);
        while let Some(argument) = arguments.next() {
            let mut value = || arguments.next().ok_or(format!("{argument} needs a value"));
            match argument.as_str() {
                "--bench" => {}
                "--collections" => options.collections = Some(value()?.into()),
                "--pages" => options.pages.push(value()?.parse()?),
                _ => return Err(format!("unknown argument {argument}; use --collections FOLDER, --pages N").into()),
            }
        }
        if options.pages.is_empty() {
            options.pages = vec![10_000, 100_000];
        }
        Ok(options)
    }
}

fn run() -> Fallible {
    let options = Options::read()?;
    // The files are in the target directory, which is on a disk: a temporary directory may be in memory.
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR"))?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        println!("# Retrieval\n\n{}", quality::HEAD);
        quality::rows(directory.path(), "own sets", &own_sets::read()?).await?;
        match &options.collections {
            Some(folder) => {
                quality::rows(directory.path(), "Cranfield", &[cranfield::read(folder)?]).await?;
                let conversations = locomo::read(folder)?;
                quality::rows(directory.path(), "LoCoMo, turns as pages", &conversations).await?;
                turns::rows(&conversations)?;
            }
            None => println!("\nskipped: Cranfield and LoCoMo; pass --collections FOLDER or set {FOLDER}"),
        }
        println!("\n{}", speed::HEAD);
        for pages in &options.pages {
            speed::rows(directory.path(), *pages).await?;
        }
        Ok(())
    })
}
