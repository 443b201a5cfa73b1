//! A turn that needs the approval of an absent person: it is suspended, saved as JSON, and resumed elsewhere.
//!
//! A server cannot keep a process waiting until a person has time. With [`SuspendingApprover`], the turn ends with its
//! questions instead. Any process that has the state and an answer can resume it. Calls that have run do not run again.
//!
//! Run it: `cargo run -p agcore-examples --example suspended_run`.

#![expect(clippy::print_stdout, reason = "an example prints what it does")]

use std::{
    error::Error,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use agcore::{
    AgentBuilder, AgentSpec, ToolRegistry,
    agent::{RuntimeBundle, SessionState},
    chat::{Answer, QuestionId, ToolCall},
    tools::{PermissionRules, Rule, RuleState, State, SuspendingApprover, ToolError, tool},
};
use agcore_testkit::scripted::{ScriptStep, ScriptedProvider};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    // The world outside both processes.
    let bank = Bank::default();

    let (saved, question) = first_process(&bank).await?;
    assert_eq!(bank.log(), ["looked up"], "nothing was paid before the approval");

    second_process(&bank, &saved, question).await?;
    assert_eq!(bank.log(), ["looked up", "paid 40"], "and nothing ran twice");
    Ok(())
}

/// Starts the turn. The model asks for two calls at once: one runs, the other needs approval.
async fn first_process(bank: &Bank) -> Result<(String, QuestionId), Box<dyn Error>> {
    let model = ScriptedProvider::new([ScriptStep::calls([
        ToolCall::function("call_1", "balance", "{}"),
        ToolCall::function("call_2", "pay", r#"{"amount": 40}"#),
    ])]);
    let session = bundle(model, bank)?.session("invoice-7", clerk());
    let outcome = session.turn("Pay invoice 7 if there is enough money.").await?;

    let [question] = outcome.questions() else {
        return Err("the turn should wait for exactly one answer".into());
    };
    println!("first process   {}", question.prompt);
    let saved = serde_json::to_string(&session.export().await)?;
    println!("                saved as {} bytes of JSON, then exits", saved.len());
    Ok((saved, question.id.clone()))
}

/// Continues with nothing but the JSON and the answer. Provider, tools and rules are created again.
async fn second_process(bank: &Bank, saved: &str, question: QuestionId) -> Result<(), Box<dyn Error>> {
    let model = ScriptedProvider::new([ScriptStep::text("Paid; 60 are left.")]);
    let state: SessionState = serde_json::from_str(saved)?;
    println!("second process  session {}", state.id());
    let session = bundle(model.clone(), bank)?.restore(state, clerk())?;

    let outcome = session.resume([(question, Answer::approve())]).await?;
    println!("                {}", outcome.text());

    // The model is called once more, with the results of both processes.
    let asked = &model.requests()[0].messages;
    let results: Vec<_> = asked[3..].iter().map(|message| message.text()).collect();
    assert_eq!(results, ["100", "paid 40"]);
    Ok(())
}

fn clerk() -> Arc<AgentSpec> {
    Arc::new(AgentSpec::new("clerk", "You pay invoices."))
}

/// Builds the bundle. Each process does this for itself.
fn bundle(model: ScriptedProvider, bank: &Bank) -> Result<RuntimeBundle, Box<dyn Error>> {
    let tools = ToolRegistry::new();
    tools.register_all([balance_tool(), pay_tool()])?;
    let rules = PermissionRules::default().with_rule(Rule::tool(RuleState::Ask, "pay"));
    Ok(AgentBuilder::new()
        .with_provider(model)
        .with_tools(tools)
        .with_state(bank.clone())
        .with_permissions(rules)
        .with_approver(SuspendingApprover)
        .build()?)
}

/// Records what was done, in order.
#[derive(Clone, Default)]
struct Bank(Arc<Mutex<Vec<String>>>);

impl Bank {
    fn note(&self, what: &str) {
        self.entries().push(what.to_owned());
    }

    fn log(&self) -> Vec<String> {
        self.entries().clone()
    }

    fn entries(&self) -> MutexGuard<'_, Vec<String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the balance.
#[tool]
async fn balance(bank: State<Bank>) -> Result<u32, ToolError> {
    bank.note("looked up");
    Ok(100)
}

/// Pays an amount.
#[tool]
async fn pay(
    /// The amount in whole euros.
    amount: u32,
    bank: State<Bank>,
) -> Result<String, ToolError> {
    let done = format!("paid {amount}");
    bank.note(&done);
    Ok(done)
}
