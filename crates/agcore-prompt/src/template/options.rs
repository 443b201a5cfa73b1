//! [`RenderOptions`]: options for rendering templates.

/// Options for rendering templates. A partial is rendered with the options of the template that includes it.
///
/// ```
/// use agcore_prompt::{PromptTemplate, RenderOptions, Value};
///
/// let template = PromptTemplate::compile("Hello {{name}}!")?;
/// assert!(template.render(&Value::Null).is_err());
///
/// let lenient = template.with_options(RenderOptions::new().with_lenient(true));
/// assert_eq!(lenient.render(&Value::Null)?, "Hello !");
/// # Ok::<(), agcore_prompt::PromptError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RenderOptions {
    /// Whether a missing variable prints nothing, and loops zero times, instead of being an error. Off by default.
    pub lenient: bool,
    /// The maximum size of the output in bytes, 16 MiB by default. Exceeding it is an error.
    pub max_output_bytes: usize,
    /// The maximum number of steps of one rendering, 10 million by default. Exceeding it is an error.
    ///
    /// It bounds the time that nested loops and partials take even if they print nothing. Each tag and each text counts as
    /// a step every time it is rendered, and so does each iteration of a loop. Finding a variable among more than sixteen
    /// fields of a value that is serialized for the rendering counts as a further step per sixteen fields. The number
    /// depends only on the template and the context.
    pub max_steps: u64,
}

impl RenderOptions {
    /// Creates the default options: strict, with at most 16 MiB of output and 10 million steps.
    pub const fn new() -> Self {
        Self {
            lenient: false,
            max_output_bytes: 16 << 20,
            max_steps: 10_000_000,
        }
    }

    /// Sets whether a missing variable prints nothing, and loops zero times, instead of being an error.
    #[must_use]
    pub const fn with_lenient(mut self, lenient: bool) -> Self {
        self.lenient = lenient;
        self
    }

    /// Sets the maximum size of the output in bytes.
    ///
    /// ```
    /// use agcore_prompt::{PromptErrorKind, PromptTemplate, RenderOptions, Value};
    ///
    /// let template = PromptTemplate::compile("Hello!")?.with_options(RenderOptions::new().with_max_output_bytes(5));
    /// let error = template.render(&Value::Null).unwrap_err();
    /// assert_eq!(error.kind(), &PromptErrorKind::Size { limit: 5 });
    /// # Ok::<(), agcore_prompt::PromptError>(())
    /// ```
    #[must_use]
    pub const fn with_max_output_bytes(mut self, bytes: usize) -> Self {
        self.max_output_bytes = bytes;
        self
    }

    /// Sets the maximum number of steps of one rendering.
    ///
    /// ```
    /// use agcore_prompt::{PromptErrorKind, PromptTemplate, RenderOptions};
    /// use serde_json::json;
    ///
    /// let template = PromptTemplate::compile("{{#each xs}}{{#each xs}}{{/each}}{{/each}}")?;
    /// let template = template.with_options(RenderOptions::new().with_max_steps(1_000));
    /// assert_eq!(template.render_from(&json!({"xs": vec![0; 20]}))?, "");
    ///
    /// let error = template.render_from(&json!({"xs": vec![0; 50]})).unwrap_err();
    /// assert_eq!(error.kind(), &PromptErrorKind::Steps { limit: 1_000 });
    /// assert_eq!(error.location().unwrap().column, 21);
    /// # Ok::<(), agcore_prompt::PromptError>(())
    /// ```
    #[must_use]
    pub const fn with_max_steps(mut self, steps: u64) -> Self {
        self.max_steps = steps;
        self
    }
}

impl Default for RenderOptions {
    fn default() -> Self {
        Self::new()
    }
}
