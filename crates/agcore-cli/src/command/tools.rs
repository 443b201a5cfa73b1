//! `agcore tools`: the chat's tools, without a model.

mod terminal_approver;
pub(super) mod call;

use agcore::{
    chat::text::suggestion,
    tools::{RegisteredTool, ToolRegistry},
};
use agcore_args::ToolsCommand;
use agcore_settings::{PolicyOptions, ToolSettings};
use agcore_terminal::{
    interrupt::Interrupts,
    render::{Color, sanitized_line},
};
use agcore_workbench::{
    policy::Policy,
    program_tools::{self, ToolFolder, WebAccess},
    tool_list,
};
use serde_json::{Value, json};

use self::call::{CallArgs, ToolSet};

use crate::{
    exit::Failure,
    stdout::{print, print_list},
    trust_dialog::print_notices,
};

/// Runs a `tools` command.
///
/// # Errors
/// When there is no such tool, the settings are invalid, or the call fails.
pub(crate) async fn run(command: &ToolsCommand, interrupts: &Interrupts, color: Color) -> Result<(), Failure> {
    let tools = program_tools::registry().map_err(|error| Failure::task(error.to_string()))?;
    match command {
        ToolsCommand::List(args) if args.json => {
            let policy = policy(&tools, &args.policy)?;
            let list: Vec<Value> = tools.list().iter().map(|tool| described(tool, &policy)).collect();
            print(&format!("{:#}\n", json!({ "tools": list })))
        }
        ToolsCommand::List(args) => print_list(&tool_list(&tools, &policy(&tools, &args.policy)?, None)),
        ToolsCommand::Show { name, policy: args } => {
            let tool = find(&tools, name)?;
            let shown = described(&tool, &policy(&tools, args)?);
            print(&format!("{shown:#}\n"))
        }
        ToolsCommand::Call(args) => {
            let tool = find(&tools, &args.name)?;
            let settings = read(&args.policy)?;
            let (policy, folder) = (Policy::new(&tools, &settings)?, ToolFolder::of_settings(&settings)?);
            let typed = CallArgs {
                json: args.json.as_deref(),
                yes: args.yes,
                show: format!("agcore tools show {}", tool.name()),
            };
            call::run(
                &typed,
                &ToolSet {
                    tools: &tools,
                    policy: &policy,
                    folder: &folder,
                    urls: WebAccess::of_settings(&settings),
                },
                &tool,
                interrupts,
                color,
            )
            .await
        }
    }
}

fn policy(tools: &ToolRegistry, args: &PolicyOptions) -> Result<Policy, Failure> {
    Ok(Policy::new(tools, &read(args)?)?)
}

fn read(args: &PolicyOptions) -> Result<ToolSettings, Failure> {
    let settings = ToolSettings::read(args)?;
    print_notices(&settings.notices())?;
    Ok(settings)
}

fn find(tools: &ToolRegistry, name: &str) -> Result<RegisteredTool, Failure> {
    tools.get(name).ok_or_else(|| {
        let known = tools.list();
        let near = suggestion(name, known.iter().map(|tool| tool.name().as_str()));
        Failure::usage(format!(
            "unknown tool `{}`{near}\nRun `agcore tools list` to see all tools.",
            sanitized_line(name)
        ))
    })
}

/// Describes a tool as JSON.
fn described(tool: &RegisteredTool, policy: &Policy) -> Value {
    let access = policy.access(tool, None);
    let mut shown = json!({
        "name": tool.name(),
        "description": tool.tool().description(),
        "permissions": tool.permissions(),
        "annotations": tool.annotations(),
        "standing": access.as_str(),
        "reason": access.reason(),
        "parameters": tool.tool().parameters(),
    });
    if let (Some(members), Some(output)) = (shown.as_object_mut(), tool.tool().output_schema()) {
        members.insert("output".to_owned(), output.clone());
    }
    shown
}
