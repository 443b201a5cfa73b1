//! Turns of a long session in a SQLite file.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use agcore_agent::agent;
use agcore_chat::{AssistantMessage, ChatResponse, Role, ToolCall};
use agcore_llm::{SystemClock, provider_fn};
use agcore_session::SessionStore;
use agcore_store::sqlite::SqliteStore;
use agcore_testkit::stores::faulty::{FaultPlan, FaultyStore};
use agcore_tools::typed;
use allocation_counter::measure;

use crate::{ANSWER, Place, look_up, runtime};

const TURNS: usize = 200;

/// The time of a turn depends on the machine; the allocations and the statements show what it costs.
#[test]
fn the_last_turns_of_a_long_session_cost_no_more_than_the_first() {
    let runtime = runtime();
    let folder = tempfile::tempdir().unwrap();
    let calls = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&calls);
    let plan = FaultPlan::from_fn(move |_, _| {
        counted.fetch_add(1, Ordering::SeqCst);
        None
    });
    let model = || {
        provider_fn(|call| async move {
            let is_answered = call
                .request
                .messages
                .last()
                .is_some_and(|last| last.role() == Role::Tool);
            let mut response = ChatResponse::from_text(ANSWER);
            if !is_answered {
                let call = ToolCall::function(
                    format!("call_{}", call.request.messages.len()),
                    "look_up",
                    r#"{"city": "Paris"}"#,
                );
                response.choices[0].message = AssistantMessage::default().with_call(call);
            }
            Ok(response)
        })
    };
    let path = folder.path().join("store.db");
    let open = || async {
        let store = SqliteStore::open(&path, Arc::new(SystemClock::new())).await.unwrap();
        let store: Arc<dyn SessionStore> = Arc::new(store);
        agent(model())
            .with_tool(typed("look_up", "Looks it up.", |place: Place| look_up(place)))
            .with_session_store(FaultyStore::new(store, plan.clone()))
            .build()
            .unwrap()
            .stored_sessions()
            .unwrap()
    };
    let session = runtime.block_on(async { open().await.create("s-1", crate::agent()).await.unwrap() });
    let mut allocations = Vec::with_capacity(TURNS);
    let mut times = Vec::with_capacity(TURNS);
    let mut statements = Vec::with_capacity(TURNS);
    for _ in 0..TURNS {
        let before = calls.load(Ordering::SeqCst);
        let start = Instant::now();
        let info = measure(|| {
            let outcome = runtime.block_on(async { session.turn("What about Paris?").await.unwrap() });
            assert_eq!(outcome.text(), ANSWER);
        });
        times.push(start.elapsed());
        allocations.push(info.count_total);
        statements.push(calls.load(Ordering::SeqCst) - before);
    }
    // The first turn allocates what lasts.
    let (first, last): (u64, u64) = (allocations[1..11].iter().sum(), allocations[TURNS - 10..].iter().sum());
    let took = |turns: &[Duration]| turns.iter().sum::<Duration>();
    println!(
        "ten turns took {:?} at the start, {:?} at the end",
        took(&times[1..11]),
        took(&times[TURNS - 10..])
    );
    println!("allocations of ten turns: {first} at the start, {last} at the end");
    assert!(
        last as f64 <= first as f64 * 1.15,
        "{first} allocations at the start, {last} at the end"
    );
    assert_eq!(statements[1..11], statements[TURNS - 10..], "statements");

    // Opening reads the session and its records, whatever their number.
    drop(session);
    let (before, start) = (calls.load(Ordering::SeqCst), Instant::now());
    let session = runtime.block_on(async { open().await.open("s-1", crate::agent()).await.unwrap() });
    println!("the store and the session were opened in {:?}", start.elapsed());
    assert_eq!(calls.load(Ordering::SeqCst) - before, 2);
    assert_eq!(runtime.block_on(session.messages()).len(), TURNS * 4);
}
