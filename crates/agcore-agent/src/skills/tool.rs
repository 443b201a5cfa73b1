//! The tool `use_skill`.

use agcore_chat::{ToolAnnotations, text::nearest_names};
use agcore_tools::{
    BaseTool, Permission, ToolError, ToolOutput, ToolRegistry,
    schemars::{self, JsonSchema},
    typed,
};
use serde::Deserialize;

use super::collection::{FILE, Skills};
use crate::{front_matter::Front, tool_source::ToolSource};

/// The name of the tool.
pub(crate) const USE_SKILL: &str = "use_skill";

const DESCRIPTION: &str = "Reads the instructions of a skill, or one of its files. Read the instructions before you work on a task \
                           that the skill is for.";

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "schemars")]
struct UseSkill {
    /// The name of the skill.
    name: String,
    /// A file of the skill, relative to its folder. Without it, the instructions are returned.
    #[serde(default)]
    file: Option<String>,
}

impl ToolSource for Skills {
    fn add_to(self, registry: &mut ToolRegistry) -> Result<(), ToolError> {
        match self.list().is_empty() {
            true => Ok(()),
            false => registry.register(use_skill(self)),
        }
    }
}

fn use_skill(skills: Skills) -> impl BaseTool + 'static {
    let read = move |arguments: UseSkill| {
        let skills = skills.clone();
        async move { read(&skills, &arguments) }
    };
    typed(USE_SKILL, DESCRIPTION, read)
        .with_permissions([Permission::Read])
        .with_annotations(ToolAnnotations::new().with_read_only(true).with_idempotent(true))
        .with_blocking(true)
}

fn read(skills: &Skills, arguments: &UseSkill) -> Result<ToolOutput, ToolError> {
    let Some(skill) = skills.get(&arguments.name) else {
        let names = skills.list().iter().map(|skill| skill.name.as_str());
        let near = nearest_names(&arguments.name, names, 3);
        let hint = match near.as_slice() {
            [] => "the system prompt lists the skills".to_owned(),
            near => format!("did you mean {}?", near.join(" or ")),
        };
        return Err(ToolError::failed(format!(
            "there is no skill `{}`; {hint}",
            arguments.name
        )));
    };
    let name = arguments.file.as_deref().unwrap_or(FILE);
    let failed = |reason: String| {
        ToolError::failed(format!(
            "the file `{name}` of `{}` cannot be read: {reason}",
            skill.name
        ))
    };
    let text = skill.files.read_text(name).map_err(failed)?;
    if arguments.file.is_some() {
        return Ok(ToolOutput::text(text));
    }
    let body = Front::of(&text).map_err(failed)?.matter.body;
    let files = skill.files.list(FILE);
    let files = match files.is_empty() {
        true => String::new(),
        false => format!("\n\nFiles of this skill: {}", files.join(", ")),
    };
    Ok(ToolOutput::text(body.trim().to_owned() + &files))
}
