//! The costs of model calls, as they are stored with the messages of a session.

use std::sync::Arc;

use agcore_agent::{AgentBuilder, AgentSpec, AgentTurn, StoredSessions, SubAgent, bill_calls};
use agcore_chat::{AnsweredBy, Bill, Biller, BillingFault, CallCost, ChatResponse, ModelCall, Money, ToolCall, Usage};
use agcore_llm::{LlmError, LlmErrorKind, TimeoutStage};
use agcore_session::{Billing, CostEntry, CostTotals, MessageFilter, SessionStore, StoredMessage};
use agcore_testkit::{
    clock::ManualClock,
    scripted::{ScriptStep, ScriptedProvider},
};
use agcore_tools::{NoArguments, ToolContext, typed};
use futures_util::FutureExt as _;

use crate::stored::{ada, call, sessions, store};

/// A millionth for each token of the prompt. Calls without usage have no known cost.
#[derive(Debug)]
struct PerToken;

impl Biller for PerToken {
    fn bill(&self, message: &str, currency: Option<&str>, calls: &[ModelCall]) -> Result<Bill, BillingFault> {
        let mut bill = Bill::default();
        let mut sum = 0;
        for call in calls {
            let mut cost = CallCost::new(call);
            if let Some(tokens) = cost.input_tokens {
                let micros = i64::try_from(tokens).map_err(|_| BillingFault::new(message, "it does not fit"))?;
                sum += micros;
                cost.cost = Some(Money::from_micros(micros, currency.unwrap_or("USD")));
            }
            bill.calls.push(cost);
        }
        bill.cost = currency.map(|currency| Money::from_micros(sum, currency));
        Ok(bill)
    }
}

fn billed(sessions: StoredSessions) -> StoredSessions {
    sessions.with_biller(PerToken).with_billing(Billing::new("EUR"))
}

/// Returns a step that answers with this text and usage.
fn text(text: &str, tokens: u64) -> ScriptStep {
    let mut response = ChatResponse::from_text(text);
    response.usage = Some(Usage::new(tokens, 1));
    ScriptStep::response(response)
}

/// Returns the calls of a row, as their models and costs in millionths.
fn costs(row: &StoredMessage) -> Vec<Option<i64>> {
    let calls = row.bill.iter().flat_map(|bill| &bill.calls);
    calls.map(|call| call.cost.as_ref().map(|cost| cost.micros)).collect()
}

async fn rows(store: &impl SessionStore, id: &str) -> (Vec<StoredMessage>, Vec<StoredMessage>) {
    let conversation = store.messages("local", id, &MessageFilter::new()).await.unwrap();
    (
        conversation,
        store.messages("local", id, &MessageFilter::audit()).await.unwrap(),
    )
}

#[tokio::test]
async fn each_reply_has_the_cost_of_its_call() {
    let store = store();
    // The scripted provider reports ten tokens for a reply with calls.
    let asks = ScriptStep::calls([call("a", "say"), call("b", "say")]);
    let provider = ScriptedProvider::new([asks, text("Hi.", 20)]);
    let sessions = billed(sessions(&provider, Arc::clone(&store)));
    let session = sessions.create("s", ada()).await.unwrap();
    session.turn("Say it.").await.unwrap();

    let (conversation, audit) = rows(&*store, "s").await;
    let costs: Vec<_> = conversation
        .iter()
        .map(|row| (row.cost.as_ref().map(|cost| cost.micros), costs(row)))
        .filter(|(_, calls)| !calls.is_empty())
        .collect();
    assert_eq!(costs, [(Some(10), vec![Some(10)]), (Some(20), vec![Some(20)])]);
    assert_eq!(audit, []);
    let info = sessions.get("s").await.unwrap().unwrap();
    let entries = CostEntry::of_session(&*store, &info).await.unwrap();
    let mut totals = CostTotals::default();
    entries.iter().for_each(|entry| totals.add(entry));
    assert_eq!(totals.costs().collect::<Vec<_>>(), [("EUR", "0.000030".to_owned())]);
    assert_eq!((totals.calls, totals.input_tokens), (2, 30));

    // The currency of a session never changes.
    let later = sessions.clone().with_billing(Billing::new("USD"));
    let opened = later.open("s", ada()).await.unwrap();
    drop(opened);
    assert_eq!(
        later.get("s").await.unwrap().unwrap().billing,
        Some(Billing::new("EUR"))
    );
}

#[tokio::test]
async fn a_session_without_a_currency_keeps_the_costs_of_calls() {
    let store = store();
    let provider = ScriptedProvider::new([text("Hi.", 20)]);
    let sessions = sessions(&provider, Arc::clone(&store)).with_biller(PerToken);
    sessions.create("s", ada()).await.unwrap().turn("Hello").await.unwrap();
    let (conversation, _) = rows(&*store, "s").await;
    let reply = conversation.last().unwrap();
    assert_eq!((&reply.cost, costs(reply)), (&None, vec![Some(20)]));
}

#[tokio::test]
async fn calls_that_failed_after_they_were_sent_are_kept() {
    let store = store();
    let timeout = LlmError::new(LlmErrorKind::Timeout(TimeoutStage::FirstByte), "too slow");
    let provider = ScriptedProvider::new([
        ScriptStep::error(timeout),
        text("Hi.", 20),
        text("Half an ans", 20).then_cut(),
    ]);
    let sessions = billed(sessions(&provider, Arc::clone(&store)));
    let session = sessions.create("s", ada()).await.unwrap();
    session.turn("Hello").await.unwrap();
    session.turn("Hello?").await.unwrap_err();
    let (conversation, audit) = rows(&*store, "s").await;
    // The server may have worked on the attempt that did not answer in time.
    let reply = conversation.iter().find(|row| row.content == "Hi.").unwrap();
    assert_eq!(costs(reply), [None, Some(20)]);
    let documented: Vec<_> = audit.iter().map(|row| (row.run.as_deref(), costs(row).len())).collect();
    assert_eq!(documented, [(Some("turn-2"), 1)]);
}

#[tokio::test]
async fn the_calls_of_sub_agents_are_documented() {
    let store = store();
    let provider = ScriptedProvider::new([
        ScriptStep::calls([ToolCall::function("a", "ask_helper", r#"{"task": "Help."}"#)]),
        text("Helped.", 7),
        text("Done.", 20),
    ]);
    let bundle = AgentBuilder::new()
        .with_provider(provider.clone())
        .with_clock(ManualClock::jumping())
        .with_tool(SubAgent::new(AgentSpec::new("helper", ""), "Helps."))
        .with_session_store(Arc::clone(&store))
        .build()
        .unwrap();
    let sessions = billed(bundle.stored_sessions().unwrap());
    sessions.create("s", ada()).await.unwrap().turn("Go.").await.unwrap();
    let (conversation, audit) = rows(&*store, "s").await;
    assert_eq!(costs(conversation.last().unwrap()), [Some(20)]);
    assert_eq!(audit.iter().flat_map(costs).collect::<Vec<_>>(), [Some(7)]);
}

/// Returns a call that was made besides the agent loop.
fn other_call(context_time: std::time::SystemTime, tokens: u64) -> ModelCall {
    ModelCall::new(AnsweredBy::new("p", "other"), context_time).with_usage(Usage::new(tokens, 0))
}

async fn total(store: &impl SessionStore, sessions: &StoredSessions) -> (u64, Vec<(String, String)>) {
    let info = sessions.get("s").await.unwrap().unwrap();
    let mut totals = CostTotals::default();
    let entries = CostEntry::of_session(store, &info).await.unwrap();
    entries.iter().for_each(|entry| totals.add(entry));
    let costs = totals.costs().map(|(currency, amount)| (currency.to_owned(), amount));
    (totals.calls, costs.collect())
}

#[tokio::test]
async fn calls_that_tools_make_are_documented_and_the_session_continues() {
    let store = store();
    let provider = ScriptedProvider::new([
        ScriptStep::calls([call("a", "think")]),
        ScriptStep::calls([ToolCall::function("b", "ask_helper", r#"{"task": "Help."}"#)]),
        // The helper thinks, too.
        ScriptStep::calls([call("c", "think")]),
        text("Helped.", 7),
        text("Done.", 20),
        text("Again.", 30),
    ]);
    let think = |_: NoArguments, context: ToolContext| async move {
        let calls = vec![
            other_call(context.clock().now(), 3),
            other_call(context.clock().now(), 2),
        ];
        bill_calls(&context, calls).await.unwrap();
        bill_calls(&context, Vec::new()).await.unwrap();
        Ok("thought")
    };
    let bundle = AgentBuilder::new()
        .with_provider(provider.clone())
        .with_clock(ManualClock::jumping())
        .with_tool(SubAgent::new(AgentSpec::new("helper", ""), "Helps."))
        .with_tool(typed("think", "Thinks.", think))
        .with_session_store(Arc::clone(&store))
        .build()
        .unwrap();
    let sessions = billed(bundle.stored_sessions().unwrap());
    let session = sessions.create("s", ada()).await.unwrap();
    session.turn("Go.").await.unwrap();
    session
        .bill_calls(vec![other_call(std::time::SystemTime::UNIX_EPOCH, 4)])
        .await
        .unwrap();
    let cost = |micros: u64| vec![("EUR".to_owned(), format!("0.{micros:06}"))];
    assert_eq!(
        total(&*store, &sessions).await,
        (10, cost(10 + 5 + 10 + 10 + 5 + 7 + 20 + 4))
    );
    let (conversation, audit) = rows(&*store, "s").await;
    assert!(conversation.iter().all(|row| costs(row).len() < 2), "{conversation:?}");
    assert!(
        audit.iter().all(|row| row.run.as_deref() == Some("turn-1")),
        "{audit:?}"
    );

    drop(session);
    let session = sessions.open("s", ada()).await.unwrap();
    assert_eq!(session.turn("Go on.").await.unwrap().text(), "Again.");
    assert_eq!(total(&*store, &sessions).await, (11, cost(71 + 30)));

    // Without a biller, and outside of a turn, nothing happens.
    let free = bundle.stored_sessions().unwrap().create("free", ada()).await.unwrap();
    free.bill_calls(vec![other_call(std::time::SystemTime::UNIX_EPOCH, 4)])
        .await
        .unwrap();
    assert_eq!(rows(&*store, "free").await, (Vec::new(), Vec::new()));
    let calls = vec![other_call(std::time::SystemTime::UNIX_EPOCH, 4)];
    let context = ToolContext::builder(Arc::new(ManualClock::jumping())).build();
    bill_calls(&context, calls).await.unwrap();
}

/// Drops a turn during its call of the model. Together with the session, this is what the end of a process leaves.
async fn die_during_a_call(turn: AgentTurn, provider: &ScriptedProvider) {
    let mut turn = Box::pin(turn.into_future());
    let asked = provider.requests().len();
    while provider.requests().len() == asked {
        assert!(turn.as_mut().now_or_never().is_none());
        tokio::task::yield_now().await;
    }
}

async fn unknown(store: &impl SessionStore, sessions: &StoredSessions) -> (u64, u64) {
    let info = sessions.get("s").await.unwrap().unwrap();
    let mut totals = CostTotals::default();
    let entries = CostEntry::of_session(store, &info).await.unwrap();
    entries.iter().for_each(|entry| totals.add(entry));
    (totals.calls, totals.incomplete_calls)
}

#[tokio::test]
async fn a_call_whose_process_died_is_counted_once_when_the_turn_continues() {
    let store = store();
    let provider = ScriptedProvider::new([
        ScriptStep::hang(),
        ScriptStep::hang(),
        ScriptStep::calls([call("a", "say")]),
        text("Hi.", 20),
        text("Again.", 20),
    ]);
    let sessions = billed(sessions(&provider, Arc::clone(&store)));
    let session = sessions.create("s", ada()).await.unwrap();
    die_during_a_call(session.turn("Hello"), &provider).await;
    drop(session);
    assert_eq!(unknown(&*store, &sessions).await, (0, 0));

    // Looking at the session counts nothing.
    drop(sessions.open("s", ada()).await.unwrap());
    let session = sessions.open("s", ada()).await.unwrap();
    assert!(session.is_interrupted().await);
    die_during_a_call(session.resume([]), &provider).await;
    drop(session);
    assert_eq!(unknown(&*store, &sessions).await, (1, 1));

    let session = sessions.open("s", ada()).await.unwrap();
    assert_eq!(session.resume([]).await.unwrap().text(), "Hi.");
    // Both calls that were lost, and the two that have answered.
    assert_eq!(unknown(&*store, &sessions).await, (4, 2));
    assert_eq!(session.usage().await.calls, 4);
    let (_, audit) = rows(&*store, "s").await;
    let lost: Vec<_> = audit.iter().flat_map(|row| &row.bill.as_ref().unwrap().calls).collect();
    assert_eq!(lost.len(), 2);
    assert!(lost.iter().all(|call| !call.provider.is_empty()), "{lost:?}");
    session.turn("And again.").await.unwrap();
    assert_eq!(unknown(&*store, &sessions).await, (5, 2));
}

#[tokio::test]
async fn a_call_whose_process_died_is_counted_when_its_turn_is_abandoned() {
    for saves in [false, true] {
        let store = store();
        let provider = ScriptedProvider::new([ScriptStep::hang(), text("Hi.", 20)]);
        let sessions = billed(sessions(&provider, Arc::clone(&store)));
        let session = sessions.create("s", ada()).await.unwrap();
        die_during_a_call(session.turn("Hello"), &provider).await;
        drop(session);
        let session = sessions.open("s", ada()).await.unwrap();
        if saves {
            assert!(session.abandon_turn().await.unwrap());
            session.save().await.unwrap();
            assert_eq!(unknown(&*store, &sessions).await, (1, 1));
        }
        session.turn("Hello again").await.unwrap();
        assert_eq!(unknown(&*store, &sessions).await, (2, 1), "saves: {saves}");
    }
}

#[tokio::test]
async fn a_turn_that_waits_for_a_tool_has_no_unfinished_call() {
    let store = store();
    let provider = ScriptedProvider::new([ScriptStep::calls([call("a", "hang")]), text("Hi.", 20)]);
    let (started, mut starts) = tokio::sync::mpsc::unbounded_channel();
    let hang = typed("hang", "Hangs.", move |_: NoArguments, _: ToolContext| {
        started.send(()).unwrap();
        std::future::pending::<Result<&str, agcore_tools::ToolError>>()
    });
    let bundle = AgentBuilder::new()
        .with_provider(provider.clone())
        .with_clock(ManualClock::new())
        .with_tool(hang)
        .with_session_store(Arc::clone(&store))
        .build()
        .unwrap();
    let sessions = billed(bundle.stored_sessions().unwrap());
    let session = sessions.create("s", ada()).await.unwrap();
    let mut turn = Box::pin(session.turn("Go.").into_future());
    tokio::select! {
        _ = &mut turn => panic!("the tool does not end"),
        _ = starts.recv() => {}
    }
    drop((turn, session));
    let session = sessions.open("s", ada()).await.unwrap();
    assert!(session.is_interrupted().await);
    session.abandon_turn().await.unwrap();
    session.turn("And now?").await.unwrap();
    assert_eq!(unknown(&*store, &sessions).await, (2, 0));
}

#[tokio::test]
async fn an_interrupted_turn_that_is_cancelled_before_it_continues_is_stopped_without_a_call() {
    let store = store();
    let provider = ScriptedProvider::new([ScriptStep::hang(), text("Hi.", 20)]);
    let sessions = billed(sessions(&provider, Arc::clone(&store)));
    let session = sessions.create("s", ada()).await.unwrap();
    die_during_a_call(session.turn("Hello"), &provider).await;
    drop(session);
    let session = sessions.open("s", ada()).await.unwrap();
    let token = tokio_util::sync::CancellationToken::new();
    token.cancel();
    let error = session.resume([]).with_token(token).await.unwrap_err();
    assert!(error.is_cancelled(), "{error:?}");
    assert!(!session.is_interrupted().await);
    assert_eq!(unknown(&*store, &sessions).await, (1, 1));
    assert_eq!(provider.requests().len(), 1);
}
