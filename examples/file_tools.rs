//! An agent that changes the files of a folder, with the tools and the sandbox of the program `agcore`.
//!
//! Paths cannot leave the folder, and files that usually contain secrets are not read. A person sees each change before it is made,
//! and what she approved is what is written: if the file changes in the meantime, the edit is refused.
//!
//! Run it: `cargo run --example file_tools`, or with a real model, as the [README](README.md) describes.

use std::{error::Error, fs, path::Path};

use agcore::{
    chat::{Role, ToolCall, text::visible},
    tools::{Approval, ApprovalRequest, Approver},
};
use agcore_testkit::scripted::{ScriptStep, ScriptedProvider};
use agcore_workbench::program_tools::{self, Preview, Previews, ToolFolder, WebAccess};
use async_trait::async_trait;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let directory = tempfile::tempdir()?;
    project(directory.path())?;

    let folder = ToolFolder::at(directory.path(), Vec::new())?;
    let tools = program_tools::folder_registry()?;
    // This agent needs neither the web nor a shell.
    tools.unregister("fetch_url");
    tools.unregister("shell");
    let session = agcore::agent(agcore_examples::model(offline())?)
        .with_instructions("You change the files of a project.")
        .with_tools(tools)
        .with_approver(Reviewer(Previews::new(&folder)))
        .with_state(folder)
        .with_state(WebAccess::default())
        .session()?;

    let outcome = session.turn("Correct the spelling in the notes.").await?;
    for message in session.messages().await {
        if message.role() == Role::Tool {
            println!("result  {}", visible(message.text().trim_end()));
        }
    }
    println!("answer  {}", outcome.text());
    println!(
        "file    {}",
        fs::read_to_string(directory.path().join("notes.md"))?.trim_end()
    );
    Ok(())
}

/// Creates the folder of the agent.
fn project(folder: &Path) -> Result<(), Box<dyn Error>> {
    fs::write(folder.join("notes.md"), "The rivver is high.\n")?;
    fs::write(folder.join(".env"), "TOKEN=sk-123\n")?;
    Ok(())
}

/// Shows the change of a file, and approves it once.
struct Reviewer(Previews);

#[async_trait]
impl Approver for Reviewer {
    async fn approve(&self, request: &ApprovalRequest) -> Approval {
        match self.0.preview(request) {
            Some(Preview::Change(difference)) => {
                println!("{}", difference.trim_end());
                Approval::once()
            }
            Some(Preview::Failure(reason)) => Approval::deny(reason),
            Some(Preview::Command { .. }) | None => Approval::deny("only edits are reviewed here"),
        }
    }
}

/// The model that is used without `AGCORE_MODEL`. It first tries what the folder does not allow.
fn offline() -> ScriptedProvider {
    let step = |id, tool, arguments| ScriptStep::calls([ToolCall::function(id, tool, arguments)]);
    ScriptedProvider::new([
        step("call_1", "read_file", r#"{"path": "../../etc/passwd"}"#),
        step("call_2", "read_file", r#"{"path": ".env"}"#),
        step("call_3", "read_file", r#"{"path": "notes.md"}"#),
        step(
            "call_4",
            "edit_file",
            r#"{"path": "notes.md", "old": "rivver", "new": "river"}"#,
        ),
        ScriptStep::text("I corrected one word in notes.md."),
    ])
}
