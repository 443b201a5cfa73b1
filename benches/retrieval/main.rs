//! Measures how well and how fast pages are found, beside SQLite's own full-text index.
//!
//! `cargo bench -p agcore-benches-retrieval` measures the sets of the repository and synthetic pages. With a folder of
//! collections (`-- --collections FOLDER`), it measures these, too; `-- --pages 1000000` sets the numbers of synthetic pages,
//! `--engine Sqlite` selects indexes, and `--speed` leaves out the quality. See
//! `benches/README.md`.

#![expect(clippy::print_stdout, reason = "a benchmark prints its results")]

mod cisi;
mod collection;
mod cranfield;
mod engine;
mod fts;
mod locomo;
mod own_sets;
mod quality;
mod records;
mod retriever;
mod speed;
mod turns;

use std::{
    env,
    error::Error,
    path::{Path, PathBuf},
    process,
};

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
    /// Parts of the names of the indexes whose speed is measured, all without any.
    engines: Vec<String>,
    is_speed_only: bool,
}

impl Options {
    /// Reads the arguments. Cargo adds `--bench`.
    fn read() -> Fallible<Self> {
        let mut options = Self {
            collections: env::var_os(FOLDER).map(PathBuf::from),
            pages: Vec::new(),
            engines: Vec::new(),
            is_speed_only: false,
        };
        let mut arguments = env::args().skip(1);
        while let Some(argument) = arguments.next() {
            let mut value = || arguments.next().ok_or(format!("{argument} needs a value"));
            match argument.as_str() {
                "--bench" => {}
                "--collections" => options.collections = Some(value()?.into()),
                "--engine" => options.engines.push(value()?),
                "--speed" => options.is_speed_only = true,
                "--pages" => options.pages.push(value()?.parse()?),
                _ => {
                    return Err(format!(
                        "unknown argument {argument}; use --collections FOLDER, --pages N, --engine NAME, --speed"
                    )
                    .into());
                }
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
        println!("# Retrieval");
        if !options.is_speed_only {
            measure_quality(directory.path(), options.collections.as_deref()).await?;
        }
        println!("\n{}", speed::HEAD);
        for pages in &options.pages {
            speed::rows(directory.path(), *pages, &options.engines).await?;
        }
        Ok(())
    })
}

/// Measures the sets of the repository, and the collections of a folder.
async fn measure_quality(directory: &Path, collections: Option<&Path>) -> Fallible {
    let embedder = retriever::embedder()?;
    println!("\n{}", quality::HEAD);
    let own_sets = own_sets::read()?;
    quality::rows(directory, "own sets", &own_sets).await?;
    // The model understands English only.
    retriever::rows(None, "own sets", &own_sets).await?;
    match collections {
        Some(folder) => {
            let conversations = locomo::read(folder)?;
            turns::rows(&conversations)?;
            for (name, collections) in [
                ("Cranfield", vec![cranfield::read(folder)?]),
                ("CISI", vec![cisi::read(folder)?]),
                ("LoCoMo, turns as pages", conversations),
            ] {
                quality::rows(directory, name, &collections).await?;
                retriever::rows(embedder.as_ref(), name, &collections).await?;
            }
        }
        None => println!("\nskipped: Cranfield, CISI and LoCoMo; pass --collections FOLDER or set {FOLDER}"),
    }
    Ok(())
}
