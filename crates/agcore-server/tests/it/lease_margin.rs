//! Workers that have to stop by their own clocks while a write, a model or a tool is awaited, shortly before their leases end in
//! the store: the runs continue.

use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, SystemTime},
};

use agcore_agent::{AgentBuilder, AgentSpec, RuntimeBundle};
use agcore_chat::{Clock, SystemClock};
use agcore_flow_files::{FileFlow, FlowFile};
use agcore_llm::{LlmProviderExt, provider_fn};
use agcore_server::{Role, Server, ServerBuilder, Sharing};
use agcore_session::InMemorySessionStore;
use agcore_testkit::stores::faulty::{FaultyStore, StoreMoment};
use agcore_tools::{NoArguments, ToolAnnotations, typed};
use async_trait::async_trait;
use serde_json::Value;

use crate::{
    flow_crash::model,
    flows::ROUTER,
    support::{FlowStore, Running, input, text_of},
};

/// Far longer than a trial takes.
const LEASE: Duration = Duration::from_secs(60);

/// Ends between the moment at which a worker has to stop and the end of the lease.
const ANSWER: Duration = Duration::from_secs(57);

/// The number of claims after which the lease ends in the store as well. Until then, the worker has done whatever it does about
/// its failure.
const CLAIMS: usize = 3;

const WRITES: [&str; 4] = ["commit", "save_checkpoint", "create", "append"];

/// The clock of the machine, which a test sets ahead.
#[derive(Debug, Default)]
struct ShiftedClock {
    system: SystemClock,
    shift: Mutex<Duration>,
}

impl ShiftedClock {
    fn shift(&self) -> Duration {
        *self.shift.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn advance(&self, by: Duration) {
        *self.shift.lock().unwrap_or_else(PoisonError::into_inner) += by;
    }
}

#[async_trait]
impl Clock for ShiftedClock {
    fn now(&self) -> SystemTime {
        self.system.now() + self.shift()
    }

    fn monotonic(&self) -> Duration {
        self.system.monotonic() + self.shift()
    }

    async fn sleep(&self, duration: Duration) {
        self.system.sleep(duration).await;
    }
}

/// The moments at which a lease can end: when a write, a model or a tool answers. At one of them, it ends.
#[derive(Clone, Default)]
struct Moments(Arc<Passed>);

#[derive(Default)]
struct Passed {
    clock: Arc<ShiftedClock>,
    slow: usize,
    moments: AtomicUsize,
    claims: AtomicUsize,
}

impl Moments {
    fn new(slow: usize) -> Self {
        Self(Arc::new(Passed {
            slow,
            ..Passed::default()
        }))
    }

    /// Passes a moment. What was awaited has taken almost as long as the lease if it is the slow one.
    fn pass(&self) {
        if self.0.moments.fetch_add(1, Ordering::SeqCst) == self.0.slow {
            self.0.clock.advance(ANSWER);
        }
    }

    /// Passes a claim. None gets the run until the lease has ended in the store.
    fn pass_claim(&self) {
        if self.were_slow() && self.0.claims.fetch_add(1, Ordering::SeqCst) == CLAIMS {
            self.0.clock.advance(LEASE);
        }
    }

    fn were_slow(&self) -> bool {
        self.0.moments.load(Ordering::SeqCst) > self.0.slow
    }
}

/// A server under whose work a lease ends.
struct Trial {
    moments: Moments,
    store: FlowStore,
}

impl Trial {
    fn new(moments: &Moments) -> Self {
        let passed = moments.clone();
        let observer = move |moment, method: &str| match (moment, method) {
            (StoreMoment::After, "claim") => passed.pass_claim(),
            (StoreMoment::After, method) if WRITES.contains(&method) => passed.pass(),
            _ => {}
        };
        let store = InMemorySessionStore::new(Arc::clone(&moments.0.clock) as _);
        Self {
            store: FlowStore::of(Arc::new(FaultyStore::observed(store, observer))),
            moments: moments.clone(),
        }
    }

    /// Starts a run, and checks that it finishes. Returns whether its lease has ended.
    async fn finishes(self, builder: ServerBuilder) -> bool {
        let sharing = Sharing::new("test")
            .with_role(Role::All)
            .with_poll(Duration::from_millis(10))
            .with_lease(LEASE);
        let builder = self.store.add_to(builder).with_sharing(sharing);
        let builder = builder.with_clock(Arc::clone(&self.moments.0.clock) as _);
        let server = Running::start(builder).await;
        server.post("/api/v1/agent/runs/t", &input("t", "r1", "Hello")).await;
        let events = server.follow("t", "r1", None).await.into_iter();
        let events: Vec<Value> = events.map(|event| event.data).collect();
        let (end, slow) = (events.last().unwrap(), self.moments.0.slow);
        assert_eq!(end["type"], "RUN_FINISHED", "moment {slow}: {events:#?}");
        assert!(text_of(&events).ends_with("Said it."), "moment {slow}: {events:#?}");
        server.stop().await;
        self.moments.were_slow()
    }
}

fn bundle(moments: &Moments) -> RuntimeBundle {
    let (model, moments_of_model) = (model(), moments.clone());
    let provider = provider_fn(move |call| {
        let (model, moments) = (model.clone(), moments_of_model.clone());
        async move {
            let reply = model.chat_call(call).await;
            moments.pass();
            reply
        }
    });
    let moments = moments.clone();
    let say = typed("say", "Says it.", move |_: NoArguments| {
        moments.pass();
        async { Ok("said") }
    });
    AgentBuilder::new()
        .with_provider(provider)
        .with_tool(say.with_annotations(ToolAnnotations::default().with_idempotent(true)))
        .build()
        .unwrap()
}

/// Runs the trial with each moment of a run in turn.
async fn at_every_moment(builder: impl Fn(&Moments) -> ServerBuilder) {
    for slow in 0.. {
        let moments = Moments::new(slow);
        if !Trial::new(&moments).finishes(builder(&moments)).await {
            assert!(slow > 8, "only {slow} moments");
            return;
        }
    }
}

#[tokio::test]
async fn a_run_of_an_agent_continues_when_its_worker_has_to_stop() {
    at_every_moment(|moments| Server::builder().with_agent("ada", bundle(moments), AgentSpec::new("ada", "Be Ada.")))
        .await;
}

#[tokio::test]
async fn a_run_of_a_flow_continues_when_its_worker_has_to_stop() {
    at_every_moment(|moments| {
        let text = ROUTER.replace("say, pay, wait, fail", "say");
        let file = FlowFile::parse("test.flow.yaml", &text, |_| Err("there are no other files".to_owned())).unwrap();
        Server::builder().with_flow("desk", FileFlow::builder(file, bundle(moments)))
    })
    .await;
}
