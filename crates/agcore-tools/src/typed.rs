//! [`typed()`]: creates a tool from an async function with typed arguments.

mod checked;
mod extract;
mod function;
mod members;
mod parameters;
mod returned;

use std::{fmt, marker::PhantomData};

use agcore_chat::{SchemaViolation, ToolAnnotations};
use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use self::{
    checked::is_checked_by_types,
    members::{known_members, unknown_member},
    parameters::{close, parameters_of, schema_of},
};
pub use self::{
    extract::{FromContext, State},
    function::{Argument, Member, ToolFunction},
    returned::{Plain, Returned},
};
use crate::{
    arguments::Arguments, context::ToolContext, error::ToolError, output::ToolOutput, permission::Permission,
    schema::explain_mismatch, tool::BaseTool,
};

/// Creates a tool from an async function.
///
/// The first parameter of the function is a type that derives `Deserialize` and `JsonSchema`. The schema, the parsing
/// of arguments and the error texts are derived from it; doc comments on its fields become descriptions. Members that
/// the schema does not name are [refused](Typed::with_unknown_members). Up to four more parameters can be [extracted
/// from the context](FromContext), such as [`State<T>`] and [`ToolContext`].
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
    let mut parameters = parameters_of::<F::Arguments>();
    close(&mut parameters);
    Typed {
        name: name.into(),
        description: description.into(),
        known_members: known_members(&parameters),
        is_checked_by_types: is_checked_by_types(&parameters),
        parameters,
        is_blocking: false,
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
    /// The only members that the arguments may have. Looked up once, because every call is checked.
    known_members: Option<Vec<String>>,
    /// Whether deserialization checks all that the schema demands.
    is_checked_by_types: bool,
    is_blocking: bool,
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

    /// Sets whether the function blocks its thread, because it computes for a long time or waits without `await`. It
    /// then runs on a thread for blocking work.
    ///
    /// ```
    /// use agcore_tools::{BaseTool, NoArguments, ToolError, typed};
    ///
    /// let tool = typed("list", "Lists files.", |_: NoArguments| async {
    ///     let names = std::fs::read_dir(".")?.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()));
    ///     names.collect::<Result<Vec<_>, ToolError>>()
    /// })
    /// .with_blocking(true);
    /// assert!(tool.is_blocking());
    /// ```
    pub fn with_blocking(mut self, is_blocking: bool) -> Self {
        self.is_blocking = is_blocking;
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
    /// Accepts members of the arguments that the schema does not name.
    ///
    /// By default, they are an error that names the member that was probably meant, because a misspelt optional
    /// argument would otherwise be ignored. Types with `#[serde(flatten)]` whose members are known only at run time are
    /// not affected. Names from `#[serde(alias = "…")]` are refused, because the schema does not contain them.
    pub fn with_unknown_members(mut self) -> Self {
        self.parameters = parameters_of::<F::Arguments>();
        self.known_members = known_members(&self.parameters);
        self
    }

    fn read(&self, arguments: &Arguments) -> Result<F::Arguments, ToolError> {
        if let Some(known) = &self.known_members
            && let Some(violation) = unknown_member(known, arguments)
        {
            return Err(self.invalid(vec![violation]));
        }
        arguments
            .read()
            .map_err(|violation| self.invalid(explain_mismatch(&self.parameters, arguments.as_value(), violation)))
    }

    fn invalid(&self, violations: Vec<SchemaViolation>) -> ToolError {
        ToolError::invalid_arguments(&self.name, violations)
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

    fn is_blocking(&self) -> bool {
        self.is_blocking
    }

    fn validates_arguments(&self) -> bool {
        self.is_checked_by_types
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
