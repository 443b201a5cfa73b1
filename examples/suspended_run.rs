//! A turn that needs the approval of an absent person: it is suspended, saved as JSON, and resumed elsewhere.
//!
//! A server cannot keep a process waiting until a person has time. With [`SuspendingApprover`], the turn ends with its
//! questions instead. Any process that has the state and an answer can resume it. Calls that have run do not run again.
//!
//! Run it: `cargo run --example suspended_run`, or with a real model, as the [README](README.md) describes.

use std::{
    error::Error,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
};

use agcore::{
    AgentBuilder, AgentSpec, LlmProvider, ToolRegistry,
    agent::{RuntimeBundle, SessionState},
    chat::{Answer, ToolCall},
    tools::{PermissionRules, Rule, RuleState, State, SuspendingApprover, tool},
};
use agcore_testkit::scripted::{ScriptStep, ScriptedProvider};

/// The world outside of the processes: an account with a balance in euros.
#[derive(Clone)]
struct Account(Arc<AtomicU32>);

/// Returns the balance in euros.
#[tool(read_only)]
async fn balance(account: State<Account>) -> Result<u32, String> {
    println!("  account  looked up");
    Ok(account.0.0.load(Ordering::Relaxed))
}

/// Pays an amount and returns the new balance.
#[tool]
async fn pay(
    /// The amount in whole euros.
    amount: u32,
    account: State<Account>,
) -> Result<u32, String> {
    let paid = account
        .0
        .0
        .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |balance| {
            balance.checked_sub(amount)
        });
    let before = paid.map_err(|balance| format!("there are only {balance} euros"))?;
    println!("  account  paid {amount}");
    Ok(before - amount)
}

/// Builds the bundle. Each process does this for itself.
fn bundle(model: Arc<dyn LlmProvider>, account: &Account) -> Result<RuntimeBundle, Box<dyn Error>> {
    let tools = ToolRegistry::new();
    tools.register_all([balance_tool(), pay_tool()])?;
    let rules = PermissionRules::default().with_rule(Rule::tool(RuleState::Ask, "pay"));
    Ok(AgentBuilder::new()
        .with_provider(model)
        .with_tools(tools)
        .with_state(account.clone())
        .with_permissions(rules)
        .with_approver(SuspendingApprover)
        .build()?)
}

fn clerk() -> AgentSpec {
    AgentSpec::new("clerk", "You pay invoices. Use the tools.")
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let model = agcore_examples::model(offline())?;
    let account = Account(Arc::new(AtomicU32::new(100)));

    println!("first process");
    let session = bundle(model.clone(), &account)?.session("invoice-7", clerk());
    let outcome = session
        .turn("Look up the balance, and pay invoice 7 at once: it is 40 euros.")
        .await?;
    let questions = outcome.questions().to_vec();
    if questions.is_empty() {
        println!("  the model asked for no approval and answered: {}", outcome.text());
        return Ok(());
    }
    let saved = serde_json::to_string(&session.export().await)?;
    drop(session);

    // A person reads the questions, perhaps days later.
    let answers = questions.into_iter().map(|question| {
        println!("  question {}", question.prompt);
        (question.id, Answer::approve())
    });
    let answers: Vec<_> = answers.collect();

    println!("second process");
    let state: SessionState = serde_json::from_str(&saved)?;
    let session = bundle(model, &account)?.restore(state, clerk())?;
    let outcome = session.resume(answers).await?;
    println!("  answer   {}", outcome.text());
    Ok(())
}

/// The model that is used without `AGCORE_MODEL`. It asks for both calls at once: one runs, the other needs approval.
fn offline() -> ScriptedProvider {
    ScriptedProvider::new([
        ScriptStep::calls([
            ToolCall::function("call_1", "balance", "{}"),
            ToolCall::function("call_2", "pay", r#"{"amount": 40}"#),
        ]),
        ScriptStep::text("Paid; 60 euros are left."),
    ])
}
