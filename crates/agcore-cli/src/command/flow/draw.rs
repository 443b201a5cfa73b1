//! `agcore flow draw`: prints a picture of a flow.

use agcore::{
    AgentBuilder, ChatResponse,
    flow::{FileFlow, FlowFile},
    llm::provider_fn,
    tools::{NoArguments, ToolRegistry, typed},
};
use agcore_args::{FlowDrawArgs, PictureFormat};

use super::{
    file::{build, failure, read},
    turn::Turn,
};

use crate::{exit::Failure, sessions::Sessions, stdout::print};

/// Prints the picture.
///
/// # Errors
/// When the file has problems, there is no such run, or the database cannot be read.
pub(super) async fn draw(args: &FlowDrawArgs) -> Result<(), Failure> {
    let flow = build(without_model(read(&args.file)?)?)?;
    let mut picture = flow.picture();
    if let Some(id) = &args.run {
        let sessions = Sessions::open().await?;
        let session = sessions.find(id).await?;
        let turn = Turn::last(&sessions, &session.id).await?;
        let checkpoints = turn.checkpoints(&sessions, &session.id);
        let records = checkpoints.records().await.map_err(|error| failure(&error))?;
        picture = picture.with_run(&records);
    }
    print(&match args.format {
        PictureFormat::Mermaid => picture.to_mermaid(),
        PictureFormat::Dot => picture.to_dot(),
        PictureFormat::Svg => picture.to_svg(),
    })
}

/// Returns a flow that can be drawn, but not run: a picture needs neither a model nor tools.
fn without_model(mut file: FlowFile) -> Result<agcore::flow::FileFlowBuilder, Failure> {
    let model = provider_fn(|_| async { Ok(ChatResponse::from_text("")) });
    let tools = ToolRegistry::new();
    for agent in file.agents.values_mut() {
        agent.skills.clear();
        for name in &agent.tools {
            if tools.get(name).is_none() {
                let tool = typed(name.clone(), "Is drawn.", |_: NoArguments| async { Ok(()) });
                tools
                    .register(tool)
                    .map_err(|error| Failure::usage(error.to_string()))?;
            }
        }
    }
    let bundle = AgentBuilder::new().with_provider(model).with_tools(tools).build()?;
    Ok(FileFlow::builder(file, bundle))
}
