//! A turn that needs the approval of an absent person: it is suspended, and another process continues it.
//!
//! A server cannot keep a process waiting until a person has time. With [`SuspendingApprover`], the turn ends with its
//! questions instead. The session is in a SQLite file, which is written while the turn runs, so that the first process does not
//! have to save anything: it could also be killed at any moment. Calls that have run do not run again.
//!
//! Run it: `cargo run --example suspended_run`, or with a real model, as the [README](README.md) describes. The program starts
//! itself as the second process.

use std::{
    env,
    error::Error,
    fs,
    path::{Path, PathBuf},
    process::Command,
    sync::Arc,
};

use agcore::{
    AgentBuilder, AgentSpec,
    agent::StoredSessions,
    chat::{Answer, SystemClock, ToolCall},
    store::sqlite::SqliteStore,
    tools::{PermissionRules, Rule, RuleState, State, SuspendingApprover, tool},
};
use agcore_testkit::scripted::{ScriptStep, ScriptedProvider};

/// The world outside of the processes: a file with the balance of an account, in euros.
struct Account(PathBuf);

impl Account {
    fn balance(&self) -> Result<u32, String> {
        let text = fs::read_to_string(&self.0).map_err(|error| error.to_string())?;
        text.parse().map_err(|_| "the balance is not a number".to_owned())
    }
}

/// Returns the balance in euros.
#[tool(read_only)]
async fn balance(account: State<Account>) -> Result<u32, String> {
    println!("  account  looked up");
    account.0.balance()
}

/// Pays an amount and returns the new balance.
#[tool]
async fn pay(
    /// The amount in whole euros.
    amount: u32,
    account: State<Account>,
) -> Result<u32, String> {
    let before = account.0.balance()?;
    let after = before
        .checked_sub(amount)
        .ok_or_else(|| format!("there are only {before} euros"))?;
    fs::write(&account.0.0, after.to_string()).map_err(|error| error.to_string())?;
    println!("  account  paid {amount}");
    Ok(after)
}

/// Opens the sessions of the clerk. Each process does this for itself.
async fn sessions(folder: &Path, offline: ScriptedProvider) -> Result<StoredSessions, Box<dyn Error>> {
    let store = SqliteStore::open(folder.join("sessions.db"), Arc::new(SystemClock::new())).await?;
    let rules = PermissionRules::default().with_rule(Rule::tool(RuleState::Ask, "pay"));
    let bundle = AgentBuilder::new()
        .with_provider(agcore_examples::model(offline)?)
        .with_tool(balance_tool())
        .with_tool(pay_tool())
        .with_state(Account(folder.join("balance.txt")))
        .with_permissions(rules)
        .with_approver(SuspendingApprover)
        .with_session_store(store)
        .build()?;
    Ok(bundle.stored_sessions()?)
}

fn clerk() -> AgentSpec {
    AgentSpec::new("clerk", "You pay invoices. Use the tools.")
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    if let Some(folder) = env::args_os().nth(1) {
        return second_process(Path::new(&folder)).await;
    }
    let folder = tempfile::tempdir()?;
    fs::write(folder.path().join("balance.txt"), "100")?;
    first_process(folder.path()).await?;
    let status = Command::new(env::current_exe()?).arg(folder.path()).status()?;
    if !status.success() {
        return Err("the second process failed".into());
    }
    Ok(())
}

async fn first_process(folder: &Path) -> Result<(), Box<dyn Error>> {
    println!("first process");
    // Without `AGCORE_MODEL`, the model asks for both calls at once: one runs, the other needs approval.
    let offline = ScriptedProvider::new([ScriptStep::calls([
        ToolCall::function("call_1", "balance", "{}"),
        ToolCall::function("call_2", "pay", r#"{"amount": 40}"#),
    ])]);
    let session = sessions(folder, offline).await?.create("invoice-7", clerk()).await?;
    let outcome = session
        .turn("Look up the balance, and pay invoice 7 at once: it is 40 euros.")
        .await?;
    if outcome.questions().is_empty() {
        println!("  the model asked for no approval and answered: {}", outcome.text());
    }
    Ok(())
}

async fn second_process(folder: &Path) -> Result<(), Box<dyn Error>> {
    println!("second process");
    let sessions = sessions(
        folder,
        ScriptedProvider::new([ScriptStep::text("Paid; 60 euros are left.")]),
    )
    .await?;
    for session in sessions.list(None, 10).await? {
        println!("  session  {} is {}", session.id, session.status);
    }
    let session = sessions.open("invoice-7", clerk()).await?;
    // A person reads the questions, perhaps days later.
    let mut answers = Vec::new();
    for question in session.questions().await {
        println!("  question {}", question.prompt);
        answers.push((question.id, Answer::approve()));
    }
    if !answers.is_empty() {
        println!("  answer   {}", session.resume(answers).await?.text());
    }
    Ok(())
}
