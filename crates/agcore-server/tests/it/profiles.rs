//! Stored profiles: agents and flows know them, and the country of a user decides about the currency.

use std::sync::Arc;

use agcore_catalog::{BillingPolicy, Catalog, Currency, Format};
use agcore_chat::SystemClock;
use agcore_flow_files::{FileFlow, FlowFile, StagedFlow};
use agcore_profile::{ProfileRecord, Uuid};
use agcore_server::{ServedFlow, Server, ServerBuilder, SharedCatalog, StoredProfiles, TrustedProxy};
use agcore_session::{Billing, Journal, Record, SessionFilter, Timestamp};
use agcore_testkit::scripted::{ScriptStep, ScriptedProvider};
use agcore_tools::{NoArguments, typed};
use http::Method;
use serde_json::{Value, json};

use crate::{
    flows::{ROUTER, STAGED, Tools, needs},
    planner::{PLANNER, judgement, plan},
    support::{FlowStore, InStore, Running, Store, agent, builder, flow_store, input, text_of, texts},
};

const ANN: Uuid = Uuid::from_u128(7);

fn journal(store: &Store) -> Arc<dyn Journal> {
    Arc::new(Arc::clone(store))
}

async fn save(store: &Store, user: Uuid, bio: &str, settings: Value) {
    let profiles = StoredProfiles::new(journal(store), Arc::new(SystemClock::new()), "default");
    let profile = ProfileRecord::new(user, "Ann").with_bio(bio).with_settings(settings);
    let version = profiles.get(user).await.unwrap().map_or(0, |(version, _)| version);
    profiles.save(&profile, version).await.unwrap();
}

async fn start(builder: ServerBuilder) -> Running {
    let proxy = TrustedProxy::new(["127.0.0.1".parse().unwrap()]);
    Running::start(builder.with_authenticator(Arc::new(proxy))).await
}

/// Runs for a user, and returns the events.
async fn run(server: &Running, user: &str, body: &Value) -> Vec<Value> {
    let headers = [("x-agcore-user", user), ("x-agcore-tenant", "default")];
    let events = server
        .stream(Method::POST, "/api/v1/agent/run", &headers, Some(body))
        .await;
    events.rest().await.into_iter().map(|event| event.data).collect()
}

/// Returns for each request of a model whether it has a text.
fn knows(provider: &ScriptedProvider, text: &str) -> Vec<bool> {
    let has = |message: &str| message.contains(text);
    let requests = provider.requests();
    requests
        .iter()
        .map(|request| request.messages.iter().any(|message| has(&message.text())))
        .collect()
}

fn staged() -> [ScriptStep; 3] {
    let execution = json!({
        "status": "SUCCESS", "execution_summary": "done", "execution_data": {}, "report_brief": "Report it.",
        "error_message": null,
    });
    let report = json!({"assistant_text": "It is done.", "response_metadata": {}});
    [
        needs("Do it."),
        ScriptStep::text(execution.to_string()),
        ScriptStep::text(report.to_string()),
    ]
}

#[tokio::test]
async fn every_agent_of_a_flow_knows_the_user() {
    for text in [ROUTER, STAGED] {
        let steps = || match text {
            ROUTER => vec![needs("Do it."), ScriptStep::text("It is done.")],
            _ => staged().into(),
        };
        let provider = ScriptedProvider::new(steps().into_iter().chain(steps()).chain(steps()));
        let FlowStore {
            sessions: store,
            checkpoints,
        } = flow_store();
        save(&store, ANN, "grows beans", json!({})).await;
        let flow = Tools::default().flow(text, &provider).with_system_prompt("Be kind.");
        let builder = Server::builder().with_flow("desk", flow).in_store(&store);
        let server = start(builder.with_checkpoints(checkpoints).with_profiles()).await;
        let count = steps().len();
        let events = run(&server, &ANN.to_string(), &input("t", "r1", "Please.")).await;
        assert_eq!(text_of(&events), "It is done.");
        assert_eq!(knows(&provider, "grows beans"), vec![true; count]);
        assert_eq!(knows(&provider, "Be kind."), vec![true; count]);
        // The next run uses the next version, and others are not described.
        save(&store, ANN, "grows peas", json!({})).await;
        run(&server, &ANN.to_string(), &input("t", "r2", "Please.")).await;
        assert_eq!(knows(&provider, "grows peas")[count..], vec![true; count]);
        run(&server, "ben", &input("u", "r1", "Please.")).await;
        assert_eq!(knows(&provider, "grows")[2 * count..], vec![false; count]);
        server.stop().await;
    }
}

#[tokio::test]
async fn a_planner_has_the_facts_about_the_user() {
    let steps = [plan("list", json!([{}])), judgement(), "There are roses.".to_owned()];
    let provider = ScriptedProvider::new(steps.iter().chain(&steps).map(ScriptStep::text));
    let text = PLANNER
        .replace("[list, pay]", "[list]")
        .replace(
            "kind: planner",
            "kind: planner\nuser_context: '{{#if user.username}}It is {{user.username}}, who {{user.bio}}.{{/if}}'",
        )
        .replace("Plan. ", "Plan. {{user_context}} ");
    let file = FlowFile::parse("plan.flow.yaml", &text, |_| Err("there are no other files".to_owned())).unwrap();
    let list = typed("list", "Lists.", |_: NoArguments| async { Ok("roses") });
    let flow = FileFlow::builder(file, agent(&provider).with_tool(list).build().unwrap());
    let FlowStore {
        sessions: store,
        checkpoints,
    } = flow_store();
    save(&store, ANN, "grows beans", json!({})).await;
    let builder = Server::builder()
        .with_flow("desk", flow)
        .in_store(&store)
        .with_checkpoints(checkpoints);
    let server = start(builder.with_profiles()).await;
    let events = run(&server, &ANN.to_string(), &input("t", "r1", "Which beds?")).await;
    assert_eq!(text_of(&events), "There are roses.");
    assert_eq!(knows(&provider, "It is Ann, who grows beans."), [true, false, false]);
    assert_eq!(knows(&provider, "\"bio\":\"grows beans\""), [true; 3]);
    // Users without a profile are served as well.
    let events = run(&server, "ben", &input("u", "r1", "Which beds?")).await;
    assert_eq!(text_of(&events), "There are roses.", "{events:#?}");
    assert_eq!(knows(&provider, "grows beans")[3..], [false; 3]);
    server.stop().await;
}

#[tokio::test]
async fn a_flow_that_is_built_for_each_run_receives_the_profile() {
    let provider = ScriptedProvider::new(staged().into_iter().chain(staged()));
    let bundle = agent(&provider).build().unwrap();
    let file = FlowFile::parse("test.flow.yaml", STAGED, |_| Err("there are no other files".to_owned())).unwrap();
    let served = ServedFlow::new(move |setup| {
        let mut flow = StagedFlow::new(file.clone(), setup.bundle(&bundle)).with_actor(setup.actor().clone());
        if let Some(profile) = setup.profile() {
            assert_eq!(profile.context().username(), "Ann");
            flow = flow.with_system_prompt(profile.before("Be kind."));
        }
        Ok(flow.build(setup.clock())?.into())
    });
    let FlowStore {
        sessions: store,
        checkpoints,
    } = flow_store();
    save(&store, ANN, "grows beans", json!({})).await;
    let builder = Server::builder()
        .with_flow("desk", served)
        .in_store(&store)
        .with_checkpoints(checkpoints);
    let server = start(builder.with_profiles()).await;
    let events = run(&server, &ANN.to_string(), &input("t", "r1", "Please.")).await;
    assert_eq!(text_of(&events), "It is done.");
    run(&server, "ben", &input("u", "r1", "Please.")).await;
    assert_eq!(knows(&provider, "grows beans"), [true, true, true, false, false, false]);
    server.stop().await;
}

#[tokio::test]
async fn without_the_setting_and_with_a_damaged_profile_no_user_is_described() {
    let provider = ScriptedProvider::new([ScriptStep::text("One."), ScriptStep::text("Two.")]);
    let store = crate::support::store();
    save(&store, ANN, "grows beans", json!({})).await;
    let server = start(builder(&provider, &store)).await;
    run(&server, &ANN.to_string(), &input("t", "r1", "Please.")).await;
    server.stop().await;

    let stream = agcore_session::id::join(["profile", "default", &ANN.to_string()]);
    let damaged = Record::new("profile", 1, Timestamp::default(), json!([]));
    journal(&store).append(&stream, 1, vec![damaged]).await.unwrap();
    let server = start(builder(&provider, &store).with_profiles()).await;
    let events = run(&server, &ANN.to_string(), &input("t", "r2", "Please.")).await;
    assert_eq!(text_of(&events), "Two.");
    assert_eq!(knows(&provider, "grows beans"), [false, false]);
    server.stop().await;
}

fn catalog(currency: &str) -> Arc<Catalog> {
    let text = format!(
        "[[vendors]]\nname = \"one\"\nendpoints = [{{ name = \"chat\", api = \"openai\", kinds = [\"text\"] }}]\n\
         keys = [{{ name = \"team\", secret = \"${{ONE_KEY}}\", users = [\"*\"] }}]\n\n[[vendors.models]]\nname = \"m\"\n\
         prices = [{{ currency = \"{currency}\", tiers = [{{ input = \"1\", output = \"2\" }}] }}]\n"
    );
    Arc::new(Catalog::parse("models.toml", Format::Toml, &text).unwrap())
}

async fn billing_of(store: &Store, thread: &str) -> Option<Billing> {
    store.get_session("default", thread).await.unwrap().unwrap().billing
}

#[tokio::test]
async fn new_threads_follow_the_catalog_and_old_ones_keep_their_currency() {
    let steps = || [needs("Do it."), ScriptStep::text("It is done.")];
    let provider = ScriptedProvider::new(steps().into_iter().chain(steps()).chain(steps()));
    let FlowStore {
        sessions: store,
        checkpoints,
    } = flow_store();
    let shared = SharedCatalog::from(catalog("CNY"));
    let flow = Tools::default().flow(ROUTER, &provider);
    let builder = Server::builder().with_flow("desk", flow).in_store(&store);
    let builder = builder.with_checkpoints(checkpoints).with_biller(shared.biller());
    let server = start(builder.with_catalog(shared.clone()).with_billing_of_model("m")).await;
    run(&server, "ben", &input("old", "r1", "Please.")).await;
    shared.replace(catalog("USD"));
    run(&server, "ben", &input("new", "r1", "Please.")).await;
    // Its parts are those of an old thread, too.
    run(&server, "ben", &input("old", "r2", "Please.")).await;
    assert_eq!(billing_of(&store, "old").await, Some(Billing::new("CNY")));
    assert_eq!(billing_of(&store, "new").await, Some(Billing::new("USD")));
    for (thread, currency) in [("old", "CNY"), ("new", "USD")] {
        let parts = SessionFilter::new("default").with_part_of(thread);
        let parts = store.sessions(&parts).await.unwrap();
        assert!(parts.len() >= 2, "{parts:?}");
        assert!(
            parts.iter().all(|part| part.billing == Some(Billing::new(currency))),
            "{parts:?}"
        );
    }
    server.stop().await;
}

#[tokio::test]
async fn the_country_of_a_user_decides_about_the_currency_of_new_threads() {
    let store = crate::support::store();
    let country = |code: &str| json!({"version": 1, "preferences": {"country": code}});
    save(&store, ANN, "", country("DE")).await;
    let policy = BillingPolicy::new(Currency::CNY);
    let policy = policy
        .with_country("DE", Currency::parse("currency", "EUR").unwrap())
        .unwrap();
    let provider = texts(["1", "2", "3", "4"]);
    let server = start(builder(&provider, &store).with_billing_policy(policy)).await;
    run(&server, &ANN.to_string(), &input("t", "r1", "Please.")).await;
    assert_eq!(
        billing_of(&store, "t").await,
        Some(Billing::new("EUR").with_country("DE"))
    );
    run(&server, "ben", &input("u", "r1", "Please.")).await;
    assert_eq!(billing_of(&store, "u").await, Some(Billing::new("CNY")));
    // Later changes of the profile do not affect it.
    save(&store, ANN, "", country("CN")).await;
    run(&server, &ANN.to_string(), &input("t", "r2", "Please.")).await;
    assert_eq!(
        billing_of(&store, "t").await,
        Some(Billing::new("EUR").with_country("DE"))
    );
    run(&server, &ANN.to_string(), &input("v", "r1", "Please.")).await;
    assert_eq!(
        billing_of(&store, "v").await,
        Some(Billing::new("CNY").with_country("CN"))
    );
    // It does not describe the user to the agent without `profiles`.
    assert_eq!(knows(&provider, "Ann"), [false; 4]);
    server.stop().await;
}
