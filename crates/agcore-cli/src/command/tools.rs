//! `agcore tools`: the command line's own tools, without a model.

mod input;
mod person;
mod call;

use self::call::Offered;
use agcore::tools::{RegisteredTool, ToolRegistry};
use serde_json::{Value, json};

use crate::{
    args::{PolicyArgs, ToolsCommand},
    exit::Failure,
    interrupt::Interrupts,
    listing::listing,
    output::print,
    policy::Policy,
    render::Colour,
    sample_tools,
    settings::ToolSettings,
};

/// Runs a command about tools.
///
/// # Errors
/// No such tool, settings that do not fit, or what the call failed with.
pub(crate) async fn run(command: &ToolsCommand, interrupts: &Interrupts, colour: Colour) -> Result<(), Failure> {
    let tools = sample_tools::registry().map_err(|error| Failure::task(error.to_string()))?;
    match command {
        ToolsCommand::List(args) => print(&listing(&tools, &policy(&tools, args)?, None)),
        ToolsCommand::Show { name, policy: args } => {
            let tool = find(&tools, name)?;
            let shown = described(&tool, &policy(&tools, args)?);
            print(&format!("{shown:#}\n"))
        }
        ToolsCommand::Call(args) => {
            let tool = find(&tools, &args.name)?;
            let policy = policy(&tools, &args.policy)?;
            call::run(
                args,
                &Offered {
                    tools: &tools,
                    policy: &policy,
                },
                &tool,
                interrupts,
                colour,
            )
            .await
        }
    }
}

fn policy(tools: &ToolRegistry, args: &PolicyArgs) -> Result<Policy, Failure> {
    Policy::new(tools, &ToolSettings::read(args)?)
}

fn find(tools: &ToolRegistry, name: &str) -> Result<RegisteredTool, Failure> {
    let snapshot = tools.snapshot();
    let found = snapshot.find(name).cloned();
    found.map_err(|error| Failure::usage(format!("{error}\n`agcore tools list` lists them.")))
}

/// All that is known of a tool.
fn described(tool: &RegisteredTool, policy: &Policy) -> Value {
    let standing = policy.standing(tool, None);
    let mut shown = json!({
        "name": tool.name(),
        "description": tool.tool().description(),
        "permissions": tool.permissions(),
        "annotations": tool.annotations(),
        "standing": standing.word(),
        "reason": standing.reason(),
        "parameters": tool.tool().parameters(),
    });
    if let (Some(members), Some(output)) = (shown.as_object_mut(), tool.tool().output_schema()) {
        members.insert("output".to_owned(), output.clone());
    }
    shown
}
