//! The time that synthetic pages take to be indexed and found: CPU time of the process, which other load hardly changes, and elapsed
//! time, which includes that of a server.

use std::{
    fs, iter,
    path::Path,
    time::{Duration, Instant},
};

use agcore_memory::search::TextDocument;

use agcore_benches::{clock::cpu, memory};

use crate::{
    Fallible,
    engine::{ENGINES, IN_MEMORY, REFERENCE, open, unavailable},
};

pub(crate) const HEAD: &str = "\
| pages | index | build, CPU s | p50, CPU µs | p99, CPU µs | p50, µs | p99, µs | open, ms | files, MB | memory, MB |
|---|---|---|---|---|---|---|---|---|---|";

/// The number of different words.
const VOCABULARY: f64 = 50_000.0;

const QUERIES: usize = 200;

/// The number of documents that are in memory at a time.
const TOGETHER: usize = 8192;

/// The number of times that each query is asked.
const ROUNDS: usize = 3;

/// Small random numbers from a seed.
struct Random(u64);

impl Random {
    /// Returns a number from 0 to 1.
    fn next(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as f64 / f64::from(1_u32 << 31)
    }

    fn between(&mut self, low: usize, high: usize) -> usize {
        low + (self.next() * (high - low) as f64) as usize
    }

    /// Returns words: the first ones of the vocabulary are much more frequent than the last.
    fn words(&mut self, count: usize) -> String {
        let words = (0..count).map(|_| word((VOCABULARY.powf(self.next()) - 1.0) as usize));
        words.collect::<Vec<_>>().join(" ")
    }
}

/// Returns a word of the vocabulary that stemming does not change.
fn word(number: usize) -> String {
    let (mut word, mut rest) = (String::new(), number + 1);
    while rest > 0 {
        word.push(char::from(b"aeioubcdfghlmnprtvwx"[rest % 20]));
        word.push(char::from(b"kzbt"[rest % 4]));
        rest /= 20;
    }
    word
}

/// The figures of an index.
struct Row {
    engine: &'static str,
    /// CPU time, in seconds.
    build: f64,
    /// Percentiles of the CPU time and the elapsed time of queries, in microseconds.
    queries: [[f64; 2]; 2],
    /// The elapsed time from opening to the first result, in milliseconds.
    open: f64,
    /// The size of the files, and the memory that the process needs after the queries in addition, in MB.
    files: f64,
    memory: f64,
}

/// Prints a row for each index.
pub(crate) async fn rows(folder: &Path, pages: usize, engines: &[String]) -> Fallible {
    let mut rows = Vec::new();
    for engine in ENGINES {
        if !engines.is_empty() && !engines.iter().any(|name| engine.contains(name.as_str())) {
            continue;
        }
        match unavailable(engine).await {
            Some(reason) => println!("| {pages} | {engine} | skipped: {reason} | | | | | | | |"),
            None => rows.push(measure(folder, pages, engine).await?),
        }
    }
    let reference = rows.iter().find(|row| row.engine == REFERENCE);
    for row in &rows {
        let ratio = |value: fn(&Row) -> f64| match reference {
            Some(reference) => format!(" ({:.2} ×)", value(row) / value(reference)),
            None => String::new(),
        };
        let [[p50, p99], [elapsed_p50, elapsed_p99]] = row.queries;
        println!(
            "| {pages} | {} | {:.1}{} | {p50:.0}{} | {p99:.0} | {elapsed_p50:.0} | {elapsed_p99:.0} | {:.1} | {:.1} | {:.0} |",
            row.engine,
            row.build,
            ratio(|row| row.build),
            ratio(|row| row.queries[0][0]),
            row.open,
            row.files,
            row.memory,
        );
    }
    Ok(())
}

async fn measure(folder: &Path, pages: usize, engine: &'static str) -> Fallible<Row> {
    let mut random = Random(7);
    let folder = tempfile::tempdir_in(folder)?;
    let before = memory::now();
    let mut index = open(engine, folder.path(), true).await?;
    let mut build = Duration::ZERO;
    for first in (0..pages).step_by(TOGETHER) {
        let document = |number| {
            let (title, content) = (random.words(5), random.words(60));
            TextDocument::new(format!("page/{number}"), title, content)
        };
        let documents: Vec<TextDocument> = (first..pages.min(first + TOGETHER)).map(document).collect();
        let begin = cpu();
        index.add(&documents).await?;
        build += cpu().saturating_sub(begin);
    }
    // A frequent word, a middling one and a rare one.
    let query = |_| {
        [(0, 30), (200, 1000), (5000, 50_000)]
            .map(|(low, high)| word(random.between(low, high)))
            .join(" ")
    };
    let queries: Vec<String> = (0..QUERIES).map(query).collect();
    let begin = Instant::now();
    if engine != IN_MEMORY {
        drop(index);
        index = open(engine, folder.path(), false).await?;
    }
    index.search(&queries[0], 10).await?;
    let open = begin.elapsed().as_secs_f64() * 1e3;
    let (mut used, mut elapsed) = (Vec::new(), Vec::new());
    for query in iter::repeat_n(&queries, ROUNDS).flatten() {
        let (begin, started) = (cpu(), Instant::now());
        let found = index.search(query, 10).await?;
        elapsed.push(started.elapsed().as_secs_f64() * 1e6);
        used.push(cpu().saturating_sub(begin).as_secs_f64() * 1e6);
        if found.is_empty() {
            return Err(format!("{engine} found nothing for `{query}`").into());
        }
    }
    Ok(Row {
        engine,
        build: build.as_secs_f64(),
        queries: [percentiles(used), percentiles(elapsed)],
        open,
        files: megabytes(folder.path())?,
        memory: (memory::now() - before) / 1e3,
    })
}

/// Returns the median and the 99th percentile.
fn percentiles(mut values: Vec<f64>) -> [f64; 2] {
    values.sort_by(f64::total_cmp);
    [values[values.len() / 2], values[values.len() * 99 / 100]]
}

/// Returns the size of the files in a folder.
fn megabytes(folder: &Path) -> Fallible<f64> {
    let mut bytes = 0;
    for file in fs::read_dir(folder)? {
        bytes += file?.metadata()?.len();
    }
    Ok(bytes as f64 / 1e6)
}
