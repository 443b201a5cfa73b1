//! Permissions: rules, a person who approves or denies calls, an approval for the whole session, and the audit log.
//!
//! Every tool call passes the same gate. Rules decide first. An [`Approver`] decides what the rules leave open. Each decision is
//! an audit record before anything runs.
//!
//! Run it: `cargo run --example permission_and_approval`, or with a real model, as the [README](README.md) describes.

use std::error::Error;

use agcore::{
    chat::{Role, ToolCall, text::visible},
    tools::{
        Approval, ApprovalRequest, Approver, AuditEvent, AuditRecord, AuditSink, PermissionRules, Rule, RuleState,
        ToolError, permission::ArgumentTest, tool,
    },
};
use agcore_testkit::scripted::{ScriptStep, ScriptedProvider};
use async_trait::async_trait;

/// By default, reading and network access are allowed, deleting and shells are denied. In addition, writing and sending mail
/// need approval, and no path below `/etc` may be written, even with approval.
///
/// Rules compare the text of a path. They do not see symbolic links: a tool that must not leave a directory has to check that
/// itself.
fn rules() -> Result<PermissionRules, ToolError> {
    let etc = ArgumentTest::Within("/etc".into());
    Ok(PermissionRules::default().with_rules([
        Rule::argument(RuleState::Deny, "write", "$.path", etc)?.with_name("no-etc"),
        Rule::tool(RuleState::Ask, "write").with_name("ask-before-write"),
        Rule::tool(RuleState::Ask, "mail"),
    ]))
}

/// Reads a file.
#[tool(permissions(read))]
async fn read(path: String) -> Result<String, ToolError> {
    Ok(format!("read {path}"))
}

/// Writes a file.
#[tool(permissions(write))]
async fn write(path: String) -> Result<String, ToolError> {
    Ok(format!("wrote {path}"))
}

/// Deletes a file.
#[tool(permissions(delete))]
async fn delete(path: String) -> Result<String, ToolError> {
    Ok(format!("deleted {path}"))
}

/// Sends a mail.
#[tool(permissions(network))]
async fn mail(to: String) -> Result<String, ToolError> {
    Ok(format!("sent to {to}"))
}

/// Simulates a person: approves writing for the whole session, whatever the path, and denies sending mail.
struct Person;

#[async_trait]
impl Approver for Person {
    async fn approve(&self, request: &ApprovalRequest) -> Approval {
        // Show the complete call, with escapes for characters that a person cannot see.
        let arguments = visible(&request.arguments.as_value().to_string()).into_owned();
        println!("  ?  {} {arguments} ({})", request.tool, request.reason);
        match &*request.tool {
            // Without the wider grant, the approval would cover only the same arguments.
            "write" => Approval::session().with_grant(request.tool_grant.clone()),
            _ => Approval::deny("not before I have read the draft"),
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

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let session = agcore::agent(agcore_examples::model(offline())?)
        .with_instructions("You keep notes in /notes. Use the tools.")
        .with_tool(read_tool())
        .with_tool(write_tool())
        .with_tool(delete_tool())
        .with_tool(mail_tool())
        .with_permissions(rules()?)
        .with_approver(Person)
        .with_audit(PrintedLog)
        .session()?;

    println!("decisions (? asks the person, # is a line of the audit log):");
    let outcome = session
        .turn("Read a.md, write a.md, b.md and /etc/passwd, delete a.md, and mail ada@example.org.")
        .await?;

    println!("results that the model saw:");
    for message in session.messages().await {
        if message.role() == Role::Tool {
            println!("  {}", message.text());
        }
    }
    for grant in session.tools().grants() {
        println!("granted for the session: {}", grant.tool);
    }
    println!("{}", outcome.text());
    Ok(())
}

/// The model that is used without `AGCORE_MODEL`.
fn offline() -> ScriptedProvider {
    let calls = [
        ("read", r#"{"path": "/notes/a.md"}"#),
        ("write", r#"{"path": "/notes/a.md"}"#),
        ("write", r#"{"path": "/notes/b.md"}"#),
        ("write", r#"{"path": "file:///etc/passwd"}"#),
        ("delete", r#"{"path": "/notes/a.md"}"#),
        ("mail", r#"{"to": "ada@example.org"}"#),
    ];
    let steps = (1..).zip(calls).map(|(number, (tool, arguments))| {
        ScriptStep::calls([ToolCall::function(format!("call_{number}"), tool, arguments)])
    });
    ScriptedProvider::new(steps.chain([ScriptStep::text("I did what I was allowed to do.")]))
}
