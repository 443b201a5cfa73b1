//! [`typed()`]: a tool made from an async function whose arguments are a type.

mod extract;
mod function;

use std::{fmt, marker::PhantomData};

use agcore_chat::SchemaViolation;
use async_trait::async_trait;
use schemars::{JsonSchema, generate::SchemaSettings};
use serde::Deserialize;
use serde_json::Value;

pub use self::{
    extract::{FromContext, State},
    function::ToolFunction,
};
use crate::{
    arguments::Arguments,
    context::ToolContext,
    error::ToolError,
    output::ToolOutput,
    permission::Permission,
    tool::{BaseTool, ToolAnnotations},
};

/// Makes a tool from an async function.
///
/// The function's first argument is a type that derives `Deserialize` and `JsonSchema`: the schema, the reading and the
/// error texts come from it, doc comments on its fields become descriptions. After it, up to four values may come
/// [from the context](FromContext): [`State<T>`], [`ToolContext`].
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
/// let tool = typed("lookup", "Looks a word up.", |args: Lookup, book: State<Dictionary>| async move {
///     let found = book.entries.iter().find(|(word, _)| *word == args.word);
///     found.map(|(_, meaning)| *meaning).ok_or_else(|| format!("{} is not in the book", args.word).into())
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

/// The arguments of a tool that takes none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct NoArguments {}

/// A tool made from an async function by [`typed()`].
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
    /// Says what the tool needs to be allowed to do.
    #[must_use]
    pub fn with_permissions(mut self, permissions: impl IntoIterator<Item = Permission>) -> Self {
        self.permissions = permissions.into_iter().collect();
        self
    }

    /// Says how the tool behaves.
    #[must_use]
    pub fn with_annotations(mut self, annotations: ToolAnnotations) -> Self {
        self.annotations = annotations;
        self
    }

    /// Sets the JSON Schema of the output's value.
    #[must_use]
    pub fn with_output_schema(mut self, schema: Value) -> Self {
        self.output_schema = Some(schema);
        self
    }

    /// Takes the JSON Schema of the output's value from a type.
    #[must_use]
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
        arguments.read().map_err(|violation| self.refuse(violation))
    }

    fn refuse(&self, violation: SchemaViolation) -> ToolError {
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
        F::check(context)
    }

    fn check_arguments(&self, arguments: &Arguments) -> Result<(), ToolError> {
        self.read(arguments).map(drop)
    }

    async fn execute(&self, arguments: &Arguments, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let arguments = self.read(arguments)?;
        self.function.call(arguments, context).await
    }
}

/// The schema of a type as models like it: without references where there is no recursion, without `$schema` and the
/// type's name.
fn schema_of<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.meta_schema = None;
        settings.inline_subschemas = true;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    schema.remove("title");
    schema.to_value()
}

/// As [`schema_of`], and an object: a type that is one of several objects says so at its root, where models expect it.
fn parameters_of<T: JsonSchema>() -> Value {
    let mut schema = schema_of::<T>();
    if let Value::Object(members) = &mut schema {
        // The type's own description is for readers of the code; the model reads the tool's.
        members.shift_remove("description");
        members.entry("type").or_insert_with(|| "object".into());
        members
            .entry("properties")
            .or_insert_with(|| Value::Object(serde_json::Map::new()));
    }
    schema
}
