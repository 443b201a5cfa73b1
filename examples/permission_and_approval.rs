//! Permissions: rules, a person who approves or denies calls, an approval for the whole session, and the audit log.
//!
//! Every tool call passes the same gate. Rules decide first. An [`Approver`] decides what the rules leave open. Each decision is
//! an audit record before anything runs.
//!
//! Run it: `cargo run -p agcore-examples --example permission_and_approval`.

#![expect(clippy::print_stdout, reason = "an example prints what it does")]

use std::{
    error::Error,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use agcore::{
    AgentBuilder, AgentSpec, ToolRegistry,
    chat::{Role, ToolCall, text::visible},
    tools::{
        Approval, ApprovalRequest, Approver, AuditEvent, AuditRecord, AuditSink, Permission, PermissionRules, Rule,
        RuleState, ToolError,
        permission::ArgumentTest,
        schemars::{self, JsonSchema},
        typed,
    },
};
use agcore_testkit::scripted::{ScriptStep, ScriptedProvider};
use async_trait::async_trait;
use serde::Deserialize;

/// By default, reading and network access are allowed, deleting and shells are denied. In addition, writing and sending mail
/// need approval, and no path that the text places below `/etc`, or might place there, may be written, even with approval.
/// Rules do not see the file system, and so no symbolic links: a tool that must not leave a directory has to check that
/// itself.
fn rules() -> Result<PermissionRules, ToolError> {
    let etc = ArgumentTest::Within("/etc".into());
    Ok(PermissionRules::default().with_rules([
        Rule::argument(RuleState::Deny, "write", "$.path", etc)?.with_name("no-etc"),
        Rule::tool(RuleState::Ask, "write").with_name("ask-before-write"),
        Rule::tool(RuleState::Ask, "mail"),
    ]))
}

/// Simulates a person: approves writing for the whole session, whatever the path, and denies sending mail.
///
/// Without the wider grant, the approval would cover only the same arguments.
#[derive(Default)]
struct Person {
    asked: AtomicUsize,
}

#[async_trait]
impl Approver for Person {
    async fn approve(&self, request: &ApprovalRequest) -> Approval {
        self.asked.fetch_add(1, Ordering::Relaxed);
        let arguments = request.arguments.as_value();
        // The complete call, with escapes for characters that a person cannot see.
        println!(
            "  ?  {} {} ({})",
            request.tool,
            visible(&arguments.to_string()),
            request.reason
        );
        match &*request.tool {
            "write" => Approval::session()
                .with_grant(request.tool_grant.clone())
                .with_approver("ann"),
            _ => Approval::deny("not before I have read the draft").with_approver("ann"),
        }
    }
}

/// Prints the audit records.
struct PrintedLog;

impl AuditSink for PrintedLog {
    fn record(&self, record: &AuditRecord<'_>) {
        if let AuditEvent::Decided {
            outcome,
            decider,
            reason,
            ..
        } = record.event
        {
            println!("  #  {} {outcome:?} by {decider:?}: {reason}", record.tool);
        }
    }
}

#[derive(Deserialize, JsonSchema)]
struct File {
    /// The path of the file.
    path: String,
}

#[derive(Deserialize, JsonSchema)]
struct Mail {
    /// The recipient.
    to: String,
}

/// The tools with their permissions.
fn tools() -> Result<ToolRegistry, ToolError> {
    let tools = ToolRegistry::new();
    let done = |verb| move |file: File| async move { Ok(format!("{verb} {}", file.path)) };
    tools.register(typed("read", "Reads a file.", done("read")).with_permissions([Permission::Read]))?;
    tools.register(typed("write", "Writes a file.", done("wrote")).with_permissions([Permission::Write]))?;
    tools.register(typed("delete", "Deletes a file.", done("deleted")).with_permissions([Permission::Delete]))?;
    let send = |mail: Mail| async move { Ok(format!("sent to {}", mail.to)) };
    tools.register(typed("mail", "Sends a mail.", send).with_permissions([Permission::Network]))?;
    Ok(tools)
}

/// The calls of the scripted model, one per round, and the expected text of each result.
const CALLS: [(&str, &str, &str); 6] = [
    ("read", r#"{"path": "/notes/a.md"}"#, "read /notes/a.md"),
    ("write", r#"{"path": "/notes/a.md"}"#, "wrote /notes/a.md"),
    ("write", r#"{"path": "/notes/b.md"}"#, "wrote /notes/b.md"),
    ("write", r#"{"path": "file:///etc/passwd"}"#, "not allowed"),
    ("delete", r#"{"path": "/notes/a.md"}"#, "not allowed"),
    (
        "mail",
        r#"{"to": "ada@example.org"}"#,
        "not before I have read the draft",
    ),
];

fn model() -> ScriptedProvider {
    let calls = (1..).zip(CALLS).map(|(number, (tool, arguments, _))| {
        ScriptStep::calls([ToolCall::function(format!("call_{number}"), tool, arguments)])
    });
    ScriptedProvider::new(calls.chain([ScriptStep::text("I did what I was allowed to do.")]))
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let person = Arc::new(Person::default());
    let bundle = AgentBuilder::new()
        .with_provider(model())
        .with_tools(tools()?)
        .with_permissions(rules()?)
        .with_approver(Arc::clone(&person))
        .with_audit(PrintedLog)
        .build()?;
    let session = bundle.session("s-1", AgentSpec::new("clerk", "You keep notes."));

    println!("decisions (? asks the person, # is a line of the audit log):");
    session.turn("Tidy up my notes.").await?;

    println!("results that the model saw:");
    let messages = session.messages().await;
    let results = messages.iter().filter(|message| message.role() == Role::Tool);
    for (result, (tool, _, expected)) in results.zip(CALLS) {
        println!("  {tool:7} {}", result.text());
        assert!(result.text().contains(expected), "{tool}: {}", result.text());
    }

    // The person was asked about the first write and about the mail. The approval for the session covers the second write.
    assert_eq!(person.asked.load(Ordering::Relaxed), 2);
    let grants = session.tools().grants();
    println!("granted for the session: {}", grants[0].tool);
    assert_eq!(grants.len(), 1);
    Ok(())
}
