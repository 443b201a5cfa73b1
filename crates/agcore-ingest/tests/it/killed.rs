//! Processes that are killed (SIGKILL) while they read a folder that changes: what another process completes is what one that was
//! never disturbed would have made.

use std::{collections::BTreeMap, env, fs, path::Path, sync::Arc, time::Duration};

use agcore_chat::SystemClock;
use agcore_memory::{
    Actor,
    knowledge::{InMemoryKnowledgeStore, KnowledgePage, SourceStore},
};
use agcore_store::{StoreError, postgres::PostgresOptions, sqlite::SqliteStore};
use agcore_testkit::crash::{Database, Job, Kills, Place, PostgresSchema, Trial};

use crate::support::ingest;

/// The number of files of the folder at its beginning.
const FILES: usize = 200;

const JOB: &str = "killed::job";

fn block_on<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(future)
}

async fn open(place: &Place) -> Result<Arc<dyn SourceStore>, StoreError> {
    let clock = Arc::new(SystemClock::new());
    Ok(match place.database() {
        Database::Postgres { url, schema } => {
            let options = PostgresOptions::new(url)?
                .with_schema(schema.as_str())
                .with_pool_size(2);
            Arc::new(options.open(clock).await?)
        }
        Database::File(path) => Arc::new(SqliteStore::open(path, clock).await?),
        other => panic!("{other:?}"),
    })
}

/// Returns the owner: places in a schema share its tables.
fn owner(place: &Place) -> Actor {
    Actor::new(place.name(), "reader")
}

#[test]
#[ignore = "does the job of a process that other tests start"]
fn job() {
    let Some(job) = Job::receive() else { return };
    let place = job.place();
    block_on(async {
        let ingest = ingest(open(place).await.unwrap()).with_owner(owner(place));
        let folder = place.folder().join("files");
        let progress = |_: agcore_ingest::IngestProgress<'_>| job.boundaries().pass_blocking();
        ingest.folder(&folder, progress).await.unwrap();
    });
    job.done();
}

/// A folder that is read by processes, and changes after each kill.
struct Reading {
    place: Place,
    kills: usize,
    has_changed: bool,
}

impl Reading {
    fn new(place: Place) -> Self {
        let files = place.folder().join("files");
        fs::create_dir(&files).unwrap();
        for number in 0..FILES {
            write(&files, number, "first");
        }
        Self {
            place,
            kills: 0,
            has_changed: false,
        }
    }

    /// Changes, deletes and adds files.
    fn change(&self, version: usize) {
        let files = self.place.folder().join("files");
        for number in 0..4 {
            write(
                &files,
                (version * 31 + number * 7) % FILES,
                &format!("version {version}"),
            );
        }
        // It may have been deleted before.
        let _ = fs::remove_file(path(&files, (version * 17) % FILES));
        write(&files, FILES + version, "added");
    }
}

/// Writes a file of one of several kinds. Some cannot be read.
fn write(folder: &Path, number: usize, version: &str) {
    let text = match number % 5 {
        0 => format!(
            "name,value\n{}",
            (0..50).map(|row| format!("row {row},{version}\n")).collect::<String>()
        ),
        1 => format!("<h1>Page {number}</h1><p>It is {version}.</p>"),
        2 if number.is_multiple_of(3) => format!("---\ntitle: [{version}\n---\n"),
        _ => format!("# Note {number}\n\nIt is {version}.\n"),
    };
    fs::write(path(folder, number), text).unwrap();
}

fn path(folder: &Path, number: usize) -> std::path::PathBuf {
    let extension = ["csv", "html", "md", "md", "txt"][number % 5];
    folder.join(format!("{number:03}.{extension}"))
}

/// The number of pages and the problem of each source, and the content and place of each page.
type Stored = (BTreeMap<String, (u64, Option<String>)>, BTreeMap<String, String>);

async fn stored(store: &dyn SourceStore, tenant: &str) -> Stored {
    let sources = store.sources(tenant, "", None, 10_000).await.unwrap().into_iter();
    let sources = sources
        .map(|source| (source.id, (source.pages, source.problem)))
        .collect();
    let pages = pages(store, tenant).await.into_iter();
    let pages = pages.map(|page| (page.id.clone(), format!("{}\n{}", page.citation(), page.content)));
    (sources, pages.collect())
}

async fn pages(store: &dyn SourceStore, tenant: &str) -> Vec<KnowledgePage> {
    store.changes(tenant, None, 100_000).await.unwrap().saved
}

impl Trial for Reading {
    fn place(&self) -> &Place {
        &self.place
    }

    /// No source has a part of its pages.
    fn killed(&mut self) {
        self.kills += 1;
        block_on(async {
            let store = open(&self.place).await.unwrap();
            let tenant = owner(&self.place).tenant;
            let mut counts: BTreeMap<String, u64> = BTreeMap::new();
            for page in pages(&*store, &tenant).await {
                *counts.entry(page.source.unwrap().id).or_default() += 1;
            }
            for source in store.sources(&tenant, "", None, 10_000).await.unwrap() {
                let found = counts.remove(&source.id).unwrap_or(0);
                assert_eq!(found, source.pages, "{}", source.id);
            }
            assert!(counts.is_empty(), "pages without a record: {counts:?}");
        });
        self.change(self.kills);
    }

    fn continues(&mut self) -> bool {
        let is_first = !std::mem::replace(&mut self.has_changed, true);
        if is_first {
            self.change(99);
        }
        is_first
    }

    fn check(&self) {
        block_on(async {
            let owner = owner(&self.place);
            let store = open(&self.place).await.unwrap();
            let found = stored(&*store, &owner.tenant).await;
            let undisturbed: Arc<dyn SourceStore> = Arc::new(InMemoryKnowledgeStore::new(Arc::new(SystemClock::new())));
            let reader = ingest(Arc::clone(&undisturbed)).with_owner(owner.clone());
            reader.folder(&self.place.folder().join("files"), |_| ()).await.unwrap();
            let expected = stored(&*undisturbed, &owner.tenant).await;
            assert_eq!(found, expected);
            assert!(expected.0.values().any(|(_, problem)| problem.is_some()));
        });
    }
}

fn is_soak() -> bool {
    env::var_os("AGCORE_SOAK").is_some()
}

#[expect(clippy::print_stdout, reason = "a failure can be repeated with the seed")]
fn at_random(moments: Duration, new_place: impl Fn() -> Place) {
    let seed = fastrand::u64(..);
    println!("seed {seed}");
    let kills = Kills::new(JOB).with_moments(moments);
    let killed = kills.at_random(seed, if is_soak() { 300 } else { 12 }, || Reading::new(new_place()));
    println!("{killed} kills");
}

#[test]
fn sqlite_at_random() {
    at_random(Duration::from_millis(150), Place::new);
}

#[test]
fn postgres_at_random() {
    let url = env::var("AGCORE_TEST_POSTGRES_URL")
        .unwrap_or_else(|_| "postgres://postgres@127.0.0.1:5432/postgres?sslmode=disable".to_owned());
    let schema = PostgresSchema::new(url);
    if let Err(error) = block_on(open(&Place::in_schema(&schema))) {
        println!("skipped: postgres: {error}");
        return;
    }
    at_random(Duration::from_millis(400), || Place::in_schema(&schema));
}
