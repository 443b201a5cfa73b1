//! [`Output`]: the type that a turn asks for, and its schema.

use std::{fmt, marker::PhantomData, sync::Arc};

#[cfg(feature = "typed")]
use schemars::JsonSchema;
#[cfg(feature = "typed")]
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::{mode::OutputMode, options::TypedOptions, recorded::RecordedAnswers};

/// The type that a turn asks for, and its schema.
///
/// With the feature `typed`, `Output::new` derives the schema from the type.
pub struct Output<T> {
    pub(super) schema: Value,
    pub(super) options: TypedOptions,
    /// The recorded verdicts on the answers, in a replay.
    pub(super) recorded: Option<Arc<dyn RecordedAnswers>>,
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
            recorded: None,
            marker: PhantomData,
        }
    }
}

impl Output<Value> {
    /// Creates an output for the replay of a typed turn: the model is asked in this mode, and whether its answers fit is what was
    /// recorded. The value of the turn is `null`, because neither the schema nor the type is known.
    pub fn recorded(mode: OutputMode, max_repairs: u32, answers: impl RecordedAnswers + 'static) -> Self {
        let options = TypedOptions::new().with_mode(mode).with_max_repairs(max_repairs);
        let mut output = Self::with_schema(json!({"type": "object"}), options);
        output.recorded = Some(Arc::new(answers));
        output
    }
}

/// The types that a typed answer may have.
///
/// It is implemented for every type that implements `DeserializeOwned` and `JsonSchema`. The attribute `#[output]`, of agcore-tools
/// and of `agcore::tools`, derives both.
#[cfg(feature = "typed")]
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the type of an answer",
    label = "this does not implement both `Deserialize` and `JsonSchema`",
    note = "write `#[output]`, from `agcore::tools` or from agcore-tools, above the declaration of `{Self}`, or \
            derive `serde::Deserialize` and `schemars::JsonSchema`, if your Cargo.toml has both crates"
)]
pub trait OutputType: DeserializeOwned + JsonSchema + Send {}

#[cfg(feature = "typed")]
#[diagnostic::do_not_recommend]
impl<T: DeserializeOwned + JsonSchema + Send> OutputType for T {}

#[cfg(feature = "typed")]
impl<T: JsonSchema> Output<T> {
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
        Self {
            schema: self.schema.clone(),
            options: self.options.clone(),
            recorded: self.recorded.clone(),
            marker: PhantomData,
        }
    }
}
