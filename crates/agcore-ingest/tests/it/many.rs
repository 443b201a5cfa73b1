//! Ten thousand files in a SQLite file: what reading them costs, and that the second time costs little.

use std::{fs, path::Path, sync::Arc, time::Instant};

use agcore_chat::SystemClock;
use agcore_memory::{
    knowledge::{KnowledgeStore, PageFilter},
    search::{KnowledgeIndex, MemoryRetriever},
};
use agcore_store::sqlite::SqliteStore;

use crate::support::ingest;

const FILES: usize = 10_000;

/// Writes files of 1 to 8 kB of several kinds, with words that repeat as those of people do.
fn write(folder: &Path) -> u64 {
    let mut random = fastrand::Rng::with_seed(7);
    let words: Vec<String> = (0..20_000).map(|number| format!("w{number:x}")).collect();
    let mut bytes = 0;
    for number in 0..FILES {
        let folder = folder.join(format!("{:02}", number % 100));
        fs::create_dir_all(&folder).unwrap();
        let mut text = String::new();
        let length = 150 + random.usize(..1000);
        for place in 0..length {
            // The square of a uniform number prefers the first words.
            let share = random.f64();
            let index = (share * share * words.len() as f64) as usize;
            text.push_str(&words[index.min(words.len() - 1)]);
            text.push_str(if place % 80 == 79 { "\n\n" } else { " " });
        }
        let (extension, text) = match number % 4 {
            0 => ("md", format!("# Note {number}\n\n{text}\n")),
            1 => (
                "html",
                format!("<h1>Page {number}</h1><p>{}</p>", text.replace("\n\n", "</p><p>")),
            ),
            2 => (
                "csv",
                format!(
                    "key,value\n{}",
                    text.split_whitespace()
                        .enumerate()
                        .map(|(row, word)| format!("k{number}-{row},{word}\n"))
                        .collect::<String>()
                ),
            ),
            _ => ("txt", text),
        };
        bytes += text.len() as u64;
        fs::write(folder.join(format!("{number:05}.{extension}")), text).unwrap();
    }
    bytes
}

/// Returns the seconds of computation of this process so far, and its largest memory in MiB; zero on other systems than Linux.
fn used() -> (f64, u64) {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks = |field: usize| {
        fields
            .get(field)
            .and_then(|ticks| ticks.parse::<f64>().ok())
            .unwrap_or(0.0)
    };
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let peak = peak
        .and_then(|peak| peak.split_whitespace().next()?.parse::<u64>().ok())
        .unwrap_or(0);
    ((ticks(11) + ticks(12)) / 100.0, peak / 1024)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "takes minutes; it prints what ten thousand files cost"]
async fn ten_thousand_files() {
    let directory = tempfile::tempdir().unwrap();
    let folder = directory.path().join("files");
    let bytes = write(&folder);
    let clock = Arc::new(SystemClock::new());
    let database = directory.path().join("agcore.db");
    let store = Arc::new(SqliteStore::open(&database, clock.clone()).await.unwrap());
    let size = || fs::metadata(&database).unwrap().len() / (1 << 20);

    let measure = |name: &str, since: Instant, computed: f64| {
        let (now, peak) = used();
        println!(
            "{name}: {:.1} s, {:.1} s of computation, {peak} MiB at most, database {} MiB",
            since.elapsed().as_secs_f64(),
            now - computed,
            size()
        );
    };
    println!("{FILES} files, {} MiB", bytes >> 20);
    let (start, computed) = (Instant::now(), used().0);
    let report = ingest(store.clone()).folder(&folder, |_| ()).await.unwrap();
    measure("read", start, computed);
    assert_eq!((report.files.len(), report.failed().count()), (FILES, 0));
    println!("{} pages", store.count(&PageFilter::new("local")).await.unwrap());

    let (start, computed) = (Instant::now(), used().0);
    let report = ingest(store.clone()).folder(&folder, |_| ()).await.unwrap();
    measure("read again", start, computed);
    assert_eq!(report.unchanged, FILES as u64);

    let (start, computed) = (Instant::now(), used().0);
    let index = KnowledgeIndex::new(store.clone(), Arc::new(store.text_index()));
    index.refresh("local").await.unwrap();
    measure("index", start, computed);
    let retriever = MemoryRetriever::new(Arc::new(index), clock);
    let (start, computed) = (Instant::now(), used().0);
    let found = retriever.retrieve("local", "k4002-17").await.unwrap();
    measure("search", start, computed);
    assert_eq!(found.hits[0].page.source.as_ref().unwrap().id, "files/02/04002.csv");
}
