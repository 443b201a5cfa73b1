//! [`ToolChoice`]: which tools the model may, must or must not call.
//!
//! The shapes follow the Chat Completions API reference.

use std::marker::PhantomData;

use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{self, MapAccess},
};
use serde_json::{Map, Value};

use crate::object::{Extra, Object, Tagged, TaggedVisitor, object, raw_tagged, read_raw, tagged, write_tagged};

/// Which tools the model may, must or must not call. Sent only together with tools.
///
/// ```
/// use agcore_chat::ToolChoice;
/// use serde_json::json;
///
/// assert_eq!(serde_json::to_value(ToolChoice::Required)?, "required");
/// assert_eq!(
///     serde_json::to_value(ToolChoice::Function("weather".into()))?,
///     json!({"type": "function", "function": {"name": "weather"}})
/// );
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub enum ToolChoice {
    /// The model must not call any tool: `"none"`.
    None,
    /// The model decides: `"auto"`.
    #[default]
    Auto,
    /// The model must call at least one tool: `"required"`.
    Required,
    /// The model must call this function.
    Function(String),
    /// The model must call this custom tool.
    Custom(String),
    /// The model may call only some of the tools.
    Allowed {
        /// Whether one of them must be called.
        mode: AllowedMode,
        /// The tools that may be called.
        tools: Vec<AllowedTool>,
    },
    /// A choice of unknown type, as raw JSON.
    Other(Value),
}

/// Whether the model must call one of the allowed tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum AllowedMode {
    /// The model decides.
    Auto,
    /// The model must call at least one of them.
    Required,
}

/// A tool of [`ToolChoice::Allowed`].
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum AllowedTool {
    /// A function, by name.
    Function(String),
    /// A custom tool, by name.
    Custom(String),
    /// A hosted tool, as raw JSON.
    Hosted(Value),
}

/// The inner object of `{"type": T, T: {"name": N}}`, the shape of a named tool.
#[derive(Default)]
struct NamedTool {
    name: String,
    extra: Extra,
}
object!(NamedTool: "a named tool" { "name" => name [always] });

#[derive(Default)]
struct FunctionChoice {
    function: NamedTool,
    extra: Extra,
}
object!(FunctionChoice: "a choice of one function" { "function" => function [always] });

#[derive(Default)]
struct CustomChoice {
    custom: NamedTool,
    extra: Extra,
}
object!(CustomChoice: "a choice of one custom tool" { "custom" => custom [always] });

#[derive(Default)]
struct AllowedChoice {
    allowed_tools: AllowedBody,
    extra: Extra,
}
object!(AllowedChoice: "a choice of allowed tools" { "allowed_tools" => allowed_tools [always] });

#[derive(Default)]
struct AllowedBody {
    mode: Option<AllowedMode>,
    tools: Vec<AllowedTool>,
    extra: Extra,
}
object!(AllowedBody: "allowed tools" { "mode" => mode, "tools" => tools [always] });

// A choice with unknown members is kept as raw JSON, so that no data is lost.
impl FunctionChoice {
    fn is_plain(&self) -> bool {
        self.extra.is_empty() && self.function.extra.is_empty()
    }
}

impl CustomChoice {
    fn is_plain(&self) -> bool {
        self.extra.is_empty() && self.custom.extra.is_empty()
    }
}

impl AllowedChoice {
    fn is_plain(&self) -> bool {
        self.extra.is_empty() && self.allowed_tools.extra.is_empty()
    }
}

impl Serialize for AllowedTool {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Function(name) => write_tagged(serializer, "type", "function", &function_choice(name)),
            Self::Custom(name) => write_tagged(serializer, "type", "custom", &custom_choice(name)),
            Self::Hosted(raw) => raw.serialize(serializer),
        }
    }
}

fn function_choice(name: &str) -> FunctionChoice {
    FunctionChoice {
        function: NamedTool {
            name: name.to_owned(),
            ..NamedTool::default()
        },
        extra: Extra::new(),
    }
}

fn custom_choice(name: &str) -> CustomChoice {
    CustomChoice {
        custom: NamedTool {
            name: name.to_owned(),
            ..NamedTool::default()
        },
        extra: Extra::new(),
    }
}

impl Tagged for AllowedTool {
    const TAG: &'static str = "type";
    const EXPECTED: &'static str = "an allowed tool: an object with a `type`";

    fn read<'de, A: MapAccess<'de>>(tag: &str, map: &mut A) -> Result<Self, A::Error> {
        Ok(match tag {
            "function" => match FunctionChoice::read(map)? {
                choice if choice.is_plain() => Self::Function(choice.function.name),
                choice => Self::Hosted(raw_tagged(Self::TAG, tag, &choice)?),
            },
            "custom" => match CustomChoice::read(map)? {
                choice if choice.is_plain() => Self::Custom(choice.custom.name),
                choice => Self::Hosted(raw_tagged(Self::TAG, tag, &choice)?),
            },
            _ => Self::Hosted(read_raw(Self::TAG, tag, map)?),
        })
    }

    fn untagged<E: de::Error>(members: Map<String, Value>) -> Result<Self, E> {
        Ok(Self::Hosted(Value::Object(members)))
    }
}

tagged!(AllowedTool);

impl Serialize for ToolChoice {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::None => serializer.serialize_str("none"),
            Self::Auto => serializer.serialize_str("auto"),
            Self::Required => serializer.serialize_str("required"),
            Self::Function(name) => write_tagged(serializer, "type", "function", &function_choice(name)),
            Self::Custom(name) => write_tagged(serializer, "type", "custom", &custom_choice(name)),
            Self::Allowed { mode, tools } => {
                let body = AllowedBody {
                    mode: Some(*mode),
                    tools: tools.clone(),
                    extra: Extra::new(),
                };
                let choice = AllowedChoice {
                    allowed_tools: body,
                    extra: Extra::new(),
                };
                write_tagged(serializer, "type", "allowed_tools", &choice)
            }
            Self::Other(raw) => raw.serialize(serializer),
        }
    }
}

impl Tagged for ToolChoice {
    const TAG: &'static str = "type";
    const EXPECTED: &'static str = "a tool choice: a string or an object with a `type`";

    fn read<'de, A: MapAccess<'de>>(tag: &str, map: &mut A) -> Result<Self, A::Error> {
        Ok(match tag {
            "function" => match FunctionChoice::read(map)? {
                choice if choice.is_plain() => Self::Function(choice.function.name),
                choice => Self::Other(raw_tagged(Self::TAG, tag, &choice)?),
            },
            "custom" => match CustomChoice::read(map)? {
                choice if choice.is_plain() => Self::Custom(choice.custom.name),
                choice => Self::Other(raw_tagged(Self::TAG, tag, &choice)?),
            },
            "allowed_tools" => match AllowedChoice::read(map)? {
                choice if choice.is_plain() => {
                    let AllowedBody { mode, tools, .. } = choice.allowed_tools;
                    Self::Allowed {
                        mode: mode.unwrap_or(AllowedMode::Auto),
                        tools,
                    }
                }
                choice => Self::Other(raw_tagged(Self::TAG, tag, &choice)?),
            },
            _ => Self::Other(read_raw(Self::TAG, tag, map)?),
        })
    }

    fn untagged<E: de::Error>(members: Map<String, Value>) -> Result<Self, E> {
        Ok(Self::Other(Value::Object(members)))
    }
}

tagged!(@buffered ToolChoice);

impl<'de> Deserialize<'de> for ToolChoice {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ChoiceVisitor;
        impl<'de> de::Visitor<'de> for ChoiceVisitor {
            type Value = ToolChoice;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(ToolChoice::EXPECTED)
            }
            fn visit_str<E: de::Error>(self, choice: &str) -> Result<ToolChoice, E> {
                Ok(match choice {
                    "none" => ToolChoice::None,
                    "auto" => ToolChoice::Auto,
                    // Mistral calls it `any`.
                    "required" | "any" => ToolChoice::Required,
                    other => ToolChoice::Other(other.into()),
                })
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<ToolChoice, A::Error> {
                TaggedVisitor(PhantomData).visit_map(map)
            }
        }
        deserializer.deserialize_any(ChoiceVisitor)
    }
}
