//! The store of a task, and what it contains.

use std::{collections::HashSet, env, sync::Arc};

use agcore_llm::SystemClock;
use agcore_session::{Journal, MessageFilter, MessageRole, SessionError, SessionStatus, SessionStore, stream_of};
use agcore_store::{postgres::PostgresOptions, sqlite::SqliteStore};
use agcore_testkit::crash::{Database, Place, PostgresSchema};
use serde_json::Value;

use super::task::{ANSWER, CALLS};

/// The contents of the store after a kill.
#[derive(Default)]
pub(super) struct Stored {
    /// The number of replies of the model.
    pub(super) replies: usize,
    /// The number of its replies to the sub-agent.
    pub(super) helper_replies: usize,
    /// The calls with a result.
    pub(super) results: HashSet<String>,
}

/// Returns a schema on the server for tests, or reports that there is none.
pub(crate) fn need_server() -> Option<PostgresSchema> {
    let url = env::var("AGCORE_TEST_POSTGRES_URL")
        .unwrap_or_else(|_| "postgres://postgres@127.0.0.1:5432/postgres?sslmode=disable".to_owned());
    let schema = PostgresSchema::new(url);
    match block_on(try_open(&Place::in_schema(&schema))) {
        Ok(_) => Some(schema),
        Err(error) => {
            println!("skipped: postgres: {error}");
            None
        }
    }
}

pub(crate) async fn open(place: &Place) -> Arc<dyn SessionStore> {
    try_open(place).await.unwrap()
}

async fn try_open(place: &Place) -> Result<Arc<dyn SessionStore>, SessionError> {
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

/// Returns what the store contains.
pub(super) fn stored(place: &Place) -> Stored {
    block_on(async {
        let store = open(place).await;
        let entries = store.read(&stream_of("local", &place.name()), 1).await.unwrap();
        let mut stored = Stored::default();
        let all = entries.iter().flat_map(|entry| {
            let is_helper = entry.record.kind == "sub_agent";
            outcomes(&entry.record.data).map(move |outcome| (is_helper, outcome))
        });
        for (is_helper, outcome) in all {
            let replies = if is_helper {
                &mut stored.helper_replies
            } else {
                &mut stored.replies
            };
            *replies += usize::from(outcome.get("reply").is_some());
            let done = outcome.get("tool").filter(|tool| tool["outcome"].get("done").is_some());
            stored
                .results
                .extend(done.and_then(|tool| tool["call"].as_str()).map(str::to_owned));
        }
        stored
    })
}

/// Checks that the conversation is the one of a process that was never killed, except for the results of calls that a person
/// decided not to repeat.
pub(super) fn check_result(place: &Place, log: &[&str]) {
    let (session, messages) = block_on(async {
        let store = open(place).await;
        let session = store.get_session("local", &place.name()).await.unwrap().unwrap();
        let messages = store
            .messages("local", &place.name(), &MessageFilter::new())
            .await
            .unwrap();
        (session, messages)
    });
    assert_eq!(session.status, SessionStatus::Completed);
    assert_eq!(messages.last().unwrap().content, ANSWER);
    let inputs = messages
        .iter()
        .filter(|message| message.role == MessageRole::User)
        .count();
    let results: Vec<&str> = messages
        .iter()
        .filter(|message| message.role == MessageRole::Tool)
        .map(|message| message.content.as_str())
        .collect();
    assert_eq!((inputs, results.len()), (1, CALLS.len()), "{results:?}");
    for (id, tool) in CALLS {
        let was_asked = log.contains(&format!("asked {id}").as_str());
        let expected = format!("{tool} {id}");
        let found = results.contains(&expected.as_str());
        assert!(found || was_asked, "the result of {id} is missing: {results:?}");
    }
    let unknown = results.iter().filter(|result| result.contains("unknown")).count();
    let asked = log.iter().filter(|line| line.starts_with("asked ")).count();
    assert!(unknown <= asked, "{unknown} unknown results, {asked} questions");
}

fn outcomes(data: &Value) -> impl Iterator<Item = &Value> {
    data["outcomes"]["outcomes"].as_array().into_iter().flatten()
}

pub(crate) fn block_on<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(future)
}
