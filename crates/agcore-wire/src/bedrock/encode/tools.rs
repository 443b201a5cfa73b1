//! [`Tools`]: tool definitions and the tool choice. The API has no choice `none`, so tools are left out then.

use std::borrow::Cow;

use agcore_chat::{AllowedMode, AllowedTool, ChatRequest, Tool, ToolChoice, ToolDefinition, tool_name::portable};
use serde::{Serialize, Serializer, ser::SerializeMap};
use serde_json::{Map, Value, json};

use super::{
    block::{CACHE_POINT, Mark, cache_point},
    model::{Forcing, Traits},
};
use crate::{
    bedrock::vendor::{unsupported_parameter, unsupported_value},
    encode::closed_schema::closed,
};

/// The description of a tool that is not offered any more, but was called earlier.
const NOT_OFFERED: &str = "This tool was used earlier. It is not available any more: do not call it.";

/// The tools of a request.
#[derive(Debug, Default)]
pub(super) struct Tools<'a> {
    pub(super) list: Vec<EncodedTool<'a>>,
    /// The member `toolChoice`; `None` if the model decides.
    pub(super) choice: Option<Value>,
}

/// A tool in the form of the API.
#[derive(Debug)]
pub(super) enum EncodedTool<'a> {
    Function {
        tool: &'a ToolDefinition,
        schema: Cow<'a, Value>,
        mark: Option<Mark<'a>>,
    },
    /// A tool that the vendor runs, sent unchanged.
    Hosted(&'a Map<String, Value>),
    /// A tool of earlier calls that is not offered any more. The API refuses calls in the conversation without any tool.
    Former(String),
}

impl<'a> Tools<'a> {
    /// Converts the tools of a request. `called` are the names of those in the conversation, as they are sent.
    pub(super) fn new(
        request: &'a ChatRequest,
        traits: Traits,
        model: &str,
        is_thinking: bool,
        called: &[&str],
    ) -> Result<Self, String> {
        let choice = request.tool_choice.as_ref();
        let offered = request.tools.iter().filter(|tool| is_offered(tool, choice));
        let mut list: Vec<EncodedTool<'a>> = offered
            .map(|tool| encode_tool(tool, traits, model))
            .collect::<Result<_, _>>()?;
        if list.is_empty() {
            let former = |name: &&str| EncodedTool::Former((*name).to_owned());
            let list = called.iter().map(former).collect();
            return Ok(Self { list, choice: None });
        }
        if request.parallel_tool_calls == Some(false) {
            return Err(unsupported_parameter(
                "parallel_tool_calls",
                "`parallel_tool_calls: false`",
                "leave it out, and expect several calls at once",
            ));
        }
        if !traits.caching_of_tools() {
            list.iter_mut().for_each(EncodedTool::remove_mark);
        }
        let choice = tool_choice(choice, traits, model, is_thinking)?;
        Ok(Self { list, choice })
    }

    /// Returns the number of cache points behind tools.
    pub(super) fn marks(&self) -> usize {
        let is_marked = |tool: &&EncodedTool<'_>| match tool {
            EncodedTool::Function { mark, .. } => mark.is_some(),
            EncodedTool::Hosted(raw) => raw.contains_key(CACHE_POINT),
            EncodedTool::Former(_) => false,
        };
        self.list.iter().filter(is_marked).count()
    }

    /// Places a cache point behind the last function.
    pub(super) fn mark_last(&mut self) {
        let last = self.list.iter_mut().rev().find_map(|tool| match tool {
            EncodedTool::Function { mark, .. } => Some(mark),
            _ => None,
        });
        if let Some(mark) = last {
            *mark = Some(Mark::Automatic);
        }
    }
}

impl EncodedTool<'_> {
    fn remove_mark(&mut self) {
        if let Self::Function { mark, .. } = self {
            *mark = None;
        }
    }
}

/// Returns whether a tool is sent. The API cannot restrict the model to some of the tools, so tools that are not allowed are
/// left out.
fn is_offered(tool: &Tool, choice: Option<&ToolChoice>) -> bool {
    match choice {
        Some(ToolChoice::None) => false,
        Some(ToolChoice::Allowed { tools, .. }) => tools.iter().any(|allowed| match allowed {
            AllowedTool::Function(name) | AllowedTool::Custom(name) => tool.name() == name,
            AllowedTool::Hosted(raw) => matches!(tool, Tool::Hosted(hosted) if hosted == raw),
            _ => false,
        }),
        _ => true,
    }
}

fn encode_tool<'a>(tool: &'a Tool, traits: Traits, model: &str) -> Result<EncodedTool<'a>, String> {
    match tool {
        Tool::Function(tool) => Ok(EncodedTool::Function {
            tool,
            schema: parameters(tool, traits, model)?,
            mark: tool.marks.cache.as_ref().map(Mark::Own),
        }),
        Tool::Hosted(Value::Object(raw)) if !raw.contains_key("type") => Ok(EncodedTool::Hosted(raw)),
        Tool::Custom(tool) => Err(unsupported_parameter(
            "tools",
            &format!("custom tools such as `{}`", tool.name),
            "define a function with one argument of type string",
        )),
        hosted => Err(unsupported_parameter(
            "tools",
            &format!("hosted tools such as `{}`", hosted.name()),
            "write them in the form of the API: `{\"systemTool\": {\"name\": \"nova_grounding\"}}`",
        )),
    }
}

/// Returns the schema of a tool's arguments, which is always that of an object.
fn parameters<'a>(tool: &'a ToolDefinition, traits: Traits, model: &str) -> Result<Cow<'a, Value>, String> {
    let name = &tool.name;
    let refused =
        |advice: &str| unsupported_parameter("tools", &format!("the parameters of the tool `{name}`"), advice);
    let schema = match tool.parameters.as_ref() {
        None => Cow::Owned(json!({"type": "object", "properties": {}})),
        Some(schema @ Value::Object(members)) => match members.get("type") {
            Some(kind) if kind == "object" => Cow::Borrowed(schema),
            Some(_) => return Err(refused("use the schema of an object")),
            None => {
                let mut typed = Map::from_iter([("type".to_owned(), Value::from("object"))]);
                typed.extend(members.iter().map(|(name, value)| (name.clone(), value.clone())));
                Cow::Owned(Value::Object(typed))
            }
        },
        Some(_) => return Err(refused("use the schema of an object")),
    };
    if tool.strict != Some(true) {
        return Ok(schema);
    }
    if !traits.schemas {
        let what = format!("`strict` for {model}");
        let advice = "leave it out; arguments are checked before the tool runs";
        return Err(unsupported_parameter("strict", &what, advice));
    }
    let what = format!("the parameters of the tool `{name}`");
    closed(&schema)
        .map(Cow::Owned)
        .map_err(|error| unsupported_parameter("strict", &what, &error))
}

/// Returns the member `toolChoice`. The choice `auto` is left out, because some models refuse the member altogether.
fn tool_choice(
    choice: Option<&ToolChoice>,
    traits: Traits,
    model: &str,
    is_thinking: bool,
) -> Result<Option<Value>, String> {
    let written = match choice {
        None
        | Some(
            ToolChoice::None
            | ToolChoice::Auto
            | ToolChoice::Allowed {
                mode: AllowedMode::Auto,
                ..
            },
        ) => {
            return Ok(None);
        }
        Some(ToolChoice::Required | ToolChoice::Allowed { .. }) => json!({"any": {}}),
        Some(ToolChoice::Function(name) | ToolChoice::Custom(name)) => json!({"tool": {"name": portable(name)}}),
        Some(ToolChoice::Other(raw @ Value::Object(_))) => return Ok(Some(raw.clone())),
        Some(other) => {
            return Err(unsupported_parameter(
                "tool_choice",
                &format!("the tool choice {other:?}"),
                "set another one",
            ));
        }
    };
    let refused = |what: &str, advice: &str| Err(unsupported_value("tool_choice", "auto", what, advice));
    match traits.forcing {
        Forcing::Never => refused(
            &format!("a tool choice other than `auto` for {model}"),
            "leave it out, and ask for the call in the prompt",
        ),
        Forcing::UnlessThinking if is_thinking => refused(
            &format!("a tool choice other than `auto` for {model} while it is thinking"),
            "leave one of them out",
        ),
        _ => Ok(Some(written)),
    }
}

/// Serializes the tools, each with the cache point behind it.
impl Serialize for Tools<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        #[serde(untagged)]
        enum Entry<'a> {
            Tool(&'a EncodedTool<'a>),
            Point(Value),
        }
        serializer.collect_seq(self.list.iter().flat_map(|tool| {
            let mark = match tool {
                EncodedTool::Function { mark, .. } => *mark,
                _ => None,
            };
            let point = mark.map(|mark| Entry::Point(cache_point(mark)));
            std::iter::once(Entry::Tool(tool)).chain(point)
        }))
    }
}

impl Serialize for EncodedTool<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(1))?;
        match self {
            Self::Hosted(raw) => {
                for (name, value) in *raw {
                    map.serialize_entry(name, value)?;
                }
            }
            Self::Function { tool, schema, .. } => map.serialize_entry("toolSpec", &ToolSpec { tool, schema })?,
            Self::Former(name) => {
                let spec =
                    json!({"name": name, "description": NOT_OFFERED, "inputSchema": {"json": {"type": "object"}}});
                map.serialize_entry("toolSpec", &spec)?;
            }
        }
        map.end()
    }
}

struct ToolSpec<'a> {
    tool: &'a ToolDefinition,
    schema: &'a Value,
}

#[derive(Serialize)]
struct InputSchema<'a> {
    json: &'a Value,
}

impl Serialize for ToolSpec<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { tool, schema } = self;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("name", &portable(&tool.name))?;
        // An empty description is refused.
        if let Some(description) = tool.description.as_ref().filter(|text| !text.trim().is_empty()) {
            map.serialize_entry("description", description)?;
        }
        map.serialize_entry("inputSchema", &InputSchema { json: schema })?;
        if tool.strict == Some(true) {
            map.serialize_entry("strict", &true)?;
        }
        for (name, value) in tool.extra.iter().chain(tool.outer.iter()) {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}
