//! [`typed()`]: creates a tool from an async function with typed arguments.

mod extract;
mod function;

use std::{fmt, marker::PhantomData};

use agcore_chat::{SchemaViolation, ToolAnnotations};
use async_trait::async_trait;
use schemars::{JsonSchema, generate::SchemaSettings};
use serde::Deserialize;
use serde_json::Value;

pub use self::{
    extract::{FromContext, State},
    function::ToolFunction,
};
use crate::{
    arguments::Arguments, context::ToolContext, error::ToolError, output::ToolOutput, permission::Permission,
    tool::BaseTool,
};

/// Creates a tool from an async function.
///
/// The first parameter of the function is a type that derives `Deserialize` and `JsonSchema`. The schema, the parsing
/// of arguments and the error texts are derived from it; doc comments on its fields become descriptions. Up to four
/// more parameters can be [extracted from the context](FromContext), such as [`State<T>`] and [`ToolContext`].
///
/// ```
/// use agcore_tools::{BaseTool, State, schemars::{self, JsonSchema}, typed};
/// use serde::Deserialize;
///
/// #[derive(Deserialize, JsonSchema)]
/// struct Lookup {
///     /// The word to look up.
///     word: String,
/// }
///
/// struct Dictionary {
///     entries: Vec<(&'static str, &'static str)>,
/// }
///
/// let tool = typed("lookup", "Looks up a word.", |args: Lookup, dictionary: State<Dictionary>| async move {
///     let found = dictionary.entries.iter().find(|(word, _)| *word == args.word);
///     found.map(|(_, meaning)| *meaning).ok_or_else(|| format!("{} is not in the dictionary", args.word).into())
/// });
/// assert_eq!(tool.parameters()["properties"]["word"]["description"], "The word to look up.");
/// ```
pub fn typed<F, Marker>(name: impl Into<String>, description: impl Into<String>, function: F) -> Typed<F, Marker>
where
    F: ToolFunction<Marker>,
{
    Typed {
        name: name.into(),
        description: description.into(),
        parameters: parameters_of::<F::Arguments>(),
        output_schema: None,
        permissions: Vec::new(),
        annotations: ToolAnnotations::new(),
        function,
        marker: PhantomData,
    }
}

/// The arguments of a tool without parameters.
///
/// ```
/// use agcore_tools::{BaseTool, NoArguments, typed};
///
/// let tool = typed("ping", "Pings.", |_: NoArguments| async { Ok("pong") });
/// assert_eq!(tool.parameters(), &serde_json::json!({"type": "object", "properties": {}}));
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct NoArguments {}

/// A tool created from an async function by [`typed()`].
///
/// ```
/// use agcore_tools::{BaseTool, NoArguments, Permission, ToolAnnotations, typed};
///
/// let tool = typed("list_notes", "Lists all notes.", |_: NoArguments| async { Ok(vec!["a note"]) })
///     .with_permissions([Permission::Read])
///     .with_annotations(ToolAnnotations::new().with_read_only(true))
///     .with_output::<Vec<String>>();
/// assert_eq!(tool.required_permissions(), [Permission::Read]);
/// assert_eq!(tool.output_schema().unwrap()["items"]["type"], "string");
/// ```
#[must_use]
pub struct Typed<F, Marker> {
    name: String,
    description: String,
    parameters: Value,
    output_schema: Option<Value>,
    permissions: Vec<Permission>,
    annotations: ToolAnnotations,
    function: F,
    marker: PhantomData<fn() -> Marker>,
}

impl<F, Marker> Typed<F, Marker> {
    /// Sets the permissions that the tool needs.
    pub fn with_permissions(mut self, permissions: impl IntoIterator<Item = Permission>) -> Self {
        self.permissions = permissions.into_iter().collect();
        self
    }

    /// Sets the hints on how the tool behaves.
    pub fn with_annotations(mut self, annotations: ToolAnnotations) -> Self {
        self.annotations = annotations;
        self
    }

    /// Sets the JSON Schema of the output's value.
    pub fn with_output_schema(mut self, schema: Value) -> Self {
        self.output_schema = Some(schema);
        self
    }

    /// Derives the JSON Schema of the output's value from a type.
    pub fn with_output<T: JsonSchema>(self) -> Self {
        self.with_output_schema(schema_of::<T>())
    }
}

impl<F, Marker> fmt::Debug for Typed<F, Marker> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Typed")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

impl<F: ToolFunction<Marker>, Marker> Typed<F, Marker> {
    fn read(&self, arguments: &Arguments) -> Result<F::Arguments, ToolError> {
        arguments.read().map_err(|violation| self.invalid(violation))
    }

    fn invalid(&self, violation: SchemaViolation) -> ToolError {
        ToolError::invalid_arguments(&self.name, vec![violation])
    }
}

#[async_trait]
impl<F: ToolFunction<Marker>, Marker> BaseTool for Typed<F, Marker> {
    fn name(&self) -> &str {
        &self.name
    }

    fn description(&self) -> &str {
        &self.description
    }

    fn parameters(&self) -> &Value {
        &self.parameters
    }

    fn output_schema(&self) -> Option<&Value> {
        self.output_schema.as_ref()
    }

    fn required_permissions(&self) -> &[Permission] {
        &self.permissions
    }

    fn annotations(&self) -> ToolAnnotations {
        self.annotations.clone()
    }

    fn check_context(&self, context: &ToolContext) -> Result<(), ToolError> {
        F::check_context(context)
    }

    fn check_arguments(&self, arguments: &Arguments) -> Result<(), ToolError> {
        self.read(arguments).map(drop)
    }

    async fn execute(&self, arguments: &Arguments, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let arguments = self.read(arguments)?;
        self.function.call(arguments, context).await
    }
}

/// Derives the schema of a type in the form that models handle best: without references unless the type is recursive,
/// and without `$schema` and the name of the type.
fn schema_of<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.meta_schema = None;
        settings.inline_subschemas = true;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    schema.remove("title");
    schema.to_value()
}

/// Derives the schema of a tool's arguments. The root is always declared an object, as models expect, even for an enum
/// whose variants are objects.
fn parameters_of<T: JsonSchema>() -> Value {
    let mut schema = schema_of::<T>();
    if let Value::Object(members) = &mut schema {
        // The description of the type is for readers of the code; the model sees that of the tool.
        members.shift_remove("description");
        members.entry("type").or_insert_with(|| "object".into());
        members
            .entry("properties")
            .or_insert_with(|| Value::Object(serde_json::Map::new()));
    }
    schema
}
