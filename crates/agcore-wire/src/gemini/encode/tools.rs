//! [`Tools`]: tool definitions and the tool choice.

use agcore_chat::{AllowedMode, AllowedTool, ChatRequest, Tool, ToolChoice, ToolDefinition, tool_name::portable};
use serde::{Serialize, Serializer, ser::SerializeMap};
use serde_json::{Map, Value, json};

use super::model::Traits;
use crate::gemini::vendor::unsupported_parameter;

/// The largest number of functions in a request.
const MAX_FUNCTIONS: usize = 512;

/// The tools of a request.
#[derive(Debug, Default)]
pub(super) struct Tools<'a> {
    functions: Vec<&'a ToolDefinition>,
    /// Tools that the vendor runs, sent unchanged.
    hosted: Vec<&'a Map<String, Value>>,
    /// The member `functionCallingConfig`.
    choice: Option<Value>,
}

impl<'a> Tools<'a> {
    pub(super) fn new(request: &'a ChatRequest, traits: Traits, model: &str) -> Result<Self, String> {
        let mut tools = Self::default();
        for tool in request.tools.iter() {
            tools.add(tool)?;
        }
        if tools.functions.len() > MAX_FUNCTIONS {
            let what = format!("more than {MAX_FUNCTIONS} functions");
            return Err(unsupported_parameter("tools", &what, "leave some out"));
        }
        if request.parallel_tool_calls == Some(false) && !tools.functions.is_empty() {
            return Err(unsupported_parameter(
                "parallel_tool_calls",
                "`parallel_tool_calls: false`",
                "leave it out, and expect several calls at once",
            ));
        }
        tools.choice = tools.choice(request.tool_choice.as_ref(), traits, model)?;
        Ok(tools)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.functions.is_empty() && self.hosted.is_empty()
    }

    pub(super) fn has_functions(&self) -> bool {
        !self.functions.is_empty()
    }

    /// Returns the member `functionCallingConfig`.
    pub(super) fn config(&self) -> Option<&Value> {
        self.choice.as_ref()
    }

    fn add(&mut self, tool: &'a Tool) -> Result<(), String> {
        match tool {
            Tool::Function(function) => {
                let name = portable(&function.name);
                let begins_well = name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_');
                if !begins_well {
                    let what = format!("the name of the tool `{}`", function.name);
                    return Err(unsupported_parameter("tools", &what, "begin it with a letter or `_`"));
                }
                self.functions.push(function);
                Ok(())
            }
            Tool::Hosted(Value::Object(raw)) if !raw.contains_key("type") => {
                self.hosted.push(raw);
                Ok(())
            }
            Tool::Custom(tool) => Err(unsupported_parameter(
                "tools",
                &format!("custom tools such as `{}`", tool.name),
                "define a function with one argument of type string",
            )),
            hosted => Err(unsupported_parameter(
                "tools",
                &format!("hosted tools such as `{}`", hosted.name()),
                "write them in the form of the API: `{\"googleSearch\": {}}`",
            )),
        }
    }

    /// Returns the configuration of calls. The API refuses one without functions.
    fn choice(&self, choice: Option<&ToolChoice>, traits: Traits, model: &str) -> Result<Option<Value>, String> {
        let refusal = |what: &str, advice: &str| unsupported_parameter("tool_choice", what, advice);
        if self.functions.is_empty() {
            return match choice {
                None | Some(ToolChoice::Auto | ToolChoice::None) => Ok(None),
                Some(_) if self.hosted.is_empty() => Ok(None),
                Some(_) => Err(refusal("a tool choice for hosted tools", "leave it out")),
            };
        }
        let is_strict = self.functions.iter().any(|function| function.strict == Some(true));
        let auto = || {
            if is_strict {
                self.validated(traits, model)
            } else {
                Ok("AUTO")
            }
        };
        let (mode, names) = match choice {
            None if !is_strict => return Ok(None),
            None | Some(ToolChoice::Auto) => (auto()?, Vec::new()),
            Some(ToolChoice::None) => ("NONE", Vec::new()),
            Some(ToolChoice::Required) => ("ANY", Vec::new()),
            Some(ToolChoice::Function(name)) => ("ANY", vec![portable(name)]),
            Some(ToolChoice::Allowed { mode, tools }) => {
                let names = tools.iter().map(|tool| match tool {
                    AllowedTool::Function(name) => Ok(portable(name)),
                    _ => Err(refusal(
                        "tools other than functions in `allowed_tools`",
                        "leave them out",
                    )),
                });
                let mode = match mode {
                    AllowedMode::Auto if traits.validated => "VALIDATED",
                    AllowedMode::Auto => {
                        let what = format!("`allowed_tools` with the mode `auto` for {model}");
                        return Err(refusal(&what, "send only these tools"));
                    }
                    _ => "ANY",
                };
                (mode, names.collect::<Result<_, _>>()?)
            }
            Some(ToolChoice::Other(raw @ Value::Object(_))) => return Ok(Some(raw.clone())),
            Some(other) => return Err(refusal(&format!("the tool choice {other:?}"), "set another one")),
        };
        let mut config = json!({ "mode": mode });
        if !names.is_empty() {
            config["allowedFunctionNames"] = names.into();
        }
        Ok(Some(config))
    }

    /// Returns the mode in which the arguments follow the schemas.
    fn validated(&self, traits: Traits, model: &str) -> Result<&'static str, String> {
        if traits.validated {
            return Ok("VALIDATED");
        }
        let what = format!("`strict` for {model}");
        Err(unsupported_parameter(
            "strict",
            &what,
            "leave it out; arguments are checked before the tool runs",
        ))
    }
}

/// Serializes the list of tools: one entry with all functions, and one for each hosted tool.
impl Serialize for Tools<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        #[serde(untagged)]
        enum Entry<'a> {
            Functions {
                #[serde(rename = "functionDeclarations")]
                functions: Vec<EncodedFunction<'a>>,
            },
            Hosted(&'a Map<String, Value>),
        }
        let functions = self.functions.iter().map(|function| EncodedFunction(function));
        let functions = self.has_functions().then(|| Entry::Functions {
            functions: functions.collect(),
        });
        let hosted = self.hosted.iter().map(|raw| Entry::Hosted(raw));
        serializer.collect_seq(functions.into_iter().chain(hosted))
    }
}

struct EncodedFunction<'a>(&'a ToolDefinition);

impl Serialize for EncodedFunction<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let tool = self.0;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("name", &portable(&tool.name))?;
        if let Some(description) = &tool.description {
            map.serialize_entry("description", description)?;
        }
        // The older member `parameters` accepts only a small subset of OpenAPI.
        if let Some(schema) = &tool.parameters {
            map.serialize_entry("parametersJsonSchema", schema)?;
        }
        for (name, value) in tool.extra.iter().chain(tool.outer.iter()) {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}
