//! [`TypedOptions`]: how typed output is requested, checked and corrected.

use std::{fmt, sync::Arc};

use agcore_chat::SchemaCheck;

use super::mode::OutputMode;

/// Options for requesting, checking and correcting typed output.
///
/// ```
/// use agcore_chat::ChatResponse;
/// use agcore_cycle::{LlmCycle, Output, OutputMode, TypedOptions};
/// use agcore_llm::{SystemClock, provider_fn};
/// use serde_json::json;
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
/// // The model corrects its answer when it is asked a second time.
/// let provider = provider_fn(|call| async move {
///     let value = if call.request.messages.len() > 3 { "12" } else { "\"a dozen\"" };
///     Ok(ChatResponse::from_text(format!("{{\"value\": {value}}}")))
/// });
/// let options = TypedOptions::new().with_mode(OutputMode::Prompt).with_max_repairs(1).with_name("Count");
/// let output = Output::<u32>::with_schema(json!({"type": "integer"}), options);
///
/// let mut cycle = LlmCycle::new(provider, SystemClock::new());
/// let typed = cycle.turn("How many eggs?").typed_as(output).await?.finished()?;
/// assert_eq!((typed.value, typed.repairs), (12, 1));
/// # Ok::<(), agcore_cycle::CycleError>(())
/// # }).unwrap();
/// ```
#[derive(Clone)]
#[non_exhaustive]
pub struct TypedOptions {
    /// The way the model is asked. By default, the capabilities of the provider decide, and a refusal leads to the next mode.
    pub mode: Option<OutputMode>,
    /// How many times the model may correct a value that does not fit. The default is 2.
    pub max_repairs: u32,
    /// The name of the schema, for the model. The default is the name of the type. Characters other than ASCII letters, digits,
    /// `_` and `-` become `_`, and the name is truncated to 64 characters.
    pub name: Option<String>,
    /// Also checks the value against the schema. Deserialization alone does not check ranges and patterns.
    pub check: Option<Arc<dyn SchemaCheck>>,
    /// Whether the vendor should force the answer to match the schema. By default it should, if the schema can be converted
    /// into a form that vendors can force: every property is required, and there are no maps.
    pub strict: Option<bool>,
}

impl Default for TypedOptions {
    fn default() -> Self {
        Self {
            mode: None,
            max_repairs: 2,
            name: None,
            check: None,
            strict: None,
        }
    }
}

impl TypedOptions {
    /// Creates the default options.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the way the model is asked. A refusal is then an error.
    #[must_use]
    pub fn with_mode(mut self, mode: OutputMode) -> Self {
        self.mode = Some(mode);
        self
    }

    /// Sets how many times the model may correct a value.
    #[must_use]
    pub fn with_max_repairs(mut self, repairs: u32) -> Self {
        self.max_repairs = repairs;
        self
    }

    /// Sets the name of the schema.
    #[must_use]
    pub fn with_name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Adds a check against the schema.
    #[must_use]
    pub fn with_check(mut self, check: Arc<dyn SchemaCheck>) -> Self {
        self.check = Some(check);
        self
    }

    /// Sets whether the vendor should force the answer to match the schema.
    #[must_use]
    pub fn with_strict(mut self, strict: bool) -> Self {
        self.strict = Some(strict);
        self
    }
}

impl fmt::Debug for TypedOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TypedOptions")
            .field("mode", &self.mode)
            .field("max_repairs", &self.max_repairs)
            .field("name", &self.name)
            .field("check", &self.check.is_some())
            .field("strict", &self.strict)
            .finish()
    }
}
