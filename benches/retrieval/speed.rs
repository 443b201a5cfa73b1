//! The time that synthetic pages take to be indexed and found: CPU time of the process, which other load hardly changes.

use std::{fs, path::Path};

use agcore_memory::search::TextDocument;

use agcore_benches::clock::cpu;

use crate::{
    Fallible,
    engine::{ENGINES, open},
};

pub(crate) const HEAD: &str = "\
| pages | index | build, s | p50, µs | p99, µs | files, MB |
|---|---|---|---|---|---|";

/// The number of different words.
const VOCABULARY: f64 = 50_000.0;

const QUERIES: usize = 200;

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

    /// Returns words, of which the first of the vocabulary are much more frequent than the last.
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

/// Prints a row for each index.
pub(crate) async fn rows(folder: &Path, pages: usize) -> Fallible {
    let mut random = Random(7);
    let document = |number| {
        let (title, content) = (random.words(5), random.words(60));
        TextDocument::new(format!("page/{number}"), title, content)
    };
    let documents: Vec<TextDocument> = (0..pages).map(document).collect();
    // A frequent word, a middling one and a rare one.
    let query = |_| {
        [(0, 30), (200, 1000), (5000, 50_000)]
            .map(|(low, high)| word(random.between(low, high)))
            .join(" ")
    };
    let queries: Vec<String> = (0..QUERIES).map(query).collect();
    for engine in ENGINES {
        let folder = tempfile::tempdir_in(folder)?;
        let mut index = open(engine, folder.path()).await?;
        let begin = cpu();
        index.add(&documents).await?;
        let built = cpu().saturating_sub(begin).as_secs_f64();
        let mut micros = Vec::with_capacity(QUERIES * ROUNDS);
        for query in std::iter::repeat_n(&queries, ROUNDS).flatten() {
            let begin = cpu();
            let found = index.search(query, 10).await?;
            micros.push(cpu().saturating_sub(begin).as_secs_f64() * 1e6);
            if found.is_empty() {
                return Err(format!("{engine} found nothing for `{query}`").into());
            }
        }
        micros.sort_by(f64::total_cmp);
        let (p50, p99) = (micros[micros.len() / 2], micros[micros.len() * 99 / 100]);
        println!(
            "| {pages} | {engine} | {built:.1} | {p50:.0} | {p99:.0} | {:.1} |",
            megabytes(folder.path())?
        );
    }
    Ok(())
}

/// Returns the size of the files in a folder.
fn megabytes(folder: &Path) -> Fallible<f64> {
    let mut bytes = 0;
    for file in fs::read_dir(folder)? {
        bytes += file?.metadata()?.len();
    }
    Ok(bytes as f64 / 1e6)
}
