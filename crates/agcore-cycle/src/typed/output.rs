//! [`Output`]: the type that a turn asks for, and its schema.

use std::{fmt, marker::PhantomData};

use serde_json::Value;

use super::options::TypedOptions;

/// The type that a turn asks for, and its schema.
///
/// With the feature `typed`, `Output::new` derives the schema from the type.
pub struct Output<T> {
    pub(super) schema: Value,
    pub(super) options: TypedOptions,
    marker: PhantomData<fn() -> T>,
}

impl<T> Output<T> {
    /// Creates an output with a custom schema. A [`Value`] fits every schema, unless the options contain a check.
    ///
    /// ```
    /// use agcore_chat::ChatResponse;
    /// use agcore_cycle::{LlmCycle, Output, TypedOptions};
    /// use agcore_llm::{SystemClock, provider_fn};
    /// use serde_json::{Value, json};
    ///
    /// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
    /// let provider = provider_fn(|_| async { Ok(ChatResponse::from_text(r#"{"value": ["Loire", "Rhône"]}"#)) });
    /// let schema = json!({"type": "array", "items": {"type": "string"}});
    /// let output = Output::<Value>::with_schema(schema, TypedOptions::new().with_name("rivers"));
    ///
    /// let mut cycle = LlmCycle::new(provider, SystemClock::new());
    /// let rivers = cycle.turn("Name two rivers in France.").typed_as(output).await?.into_value()?;
    /// assert_eq!(rivers, json!(["Loire", "Rhône"]));
    /// # Ok::<(), agcore_cycle::CycleError>(())
    /// # }).unwrap();
    /// ```
    pub fn with_schema(schema: Value, options: TypedOptions) -> Self {
        Self {
            schema,
            options,
            marker: PhantomData,
        }
    }
}

#[cfg(feature = "typed")]
impl<T: schemars::JsonSchema> Output<T> {
    /// Creates an output whose schema is derived from the type. The model sees the doc comments of the type.
    pub fn new(mut options: TypedOptions) -> Self {
        options.name.get_or_insert_with(|| T::schema_name().into_owned());
        Self::with_schema(super::schema::schema_of::<T>(), options)
    }
}

impl<T> fmt::Debug for Output<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Output")
            .field("schema", &self.schema)
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}

impl<T> Clone for Output<T> {
    fn clone(&self) -> Self {
        Self::with_schema(self.schema.clone(), self.options.clone())
    }
}
