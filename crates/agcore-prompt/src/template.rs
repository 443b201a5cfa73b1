//! [`PromptTemplate`]: a compiled template.

mod options;
mod parse_error;
mod lexer;
mod space;
mod path;
mod node;
mod frame;
mod parse;
mod compiled;
mod scope;
mod output;
mod render;
mod variables;

pub(crate) use compiled::{Compiled, Partials};
pub use options::RenderOptions;
pub(crate) use path::is_template_name;

use std::{fmt, str::FromStr, sync::Arc};

use serde::Serialize;

use crate::{
    error::PromptError,
    value::{Data, Value, snapshot},
};
use scope::Scope;

/// A compiled template. See the [crate documentation](crate#template-language) for the language.
///
/// Templates are cheap to clone and can be shared between threads without a lock. [`Display`](fmt::Display) prints the
/// source.
///
/// ```
/// use agcore_prompt::{Object, PromptTemplate};
///
/// let template = PromptTemplate::compile("{{#each users}}{{name}}{{#unless @last}}, {{/unless}}{{/each}}")?;
/// let users = ["Ada", "Lin"].map(|name| Object::new().with("name", name));
/// assert_eq!(template.render(&Object::new().with("users", users).into())?, "Ada, Lin");
/// # Ok::<(), agcore_prompt::PromptError>(())
/// ```
#[derive(Clone, Debug)]
pub struct PromptTemplate {
    compiled: Arc<Compiled>,
    partials: Option<Arc<dyn Partials>>,
    options: RenderOptions,
}

impl PromptTemplate {
    /// Compiles a template.
    ///
    /// A template can include partials only if it belongs to a [`PromptTemplateRegistry`](crate::PromptTemplateRegistry)
    /// or was [bound](crate::PromptTemplateRegistry::bind) to one.
    ///
    /// # Errors
    /// Fails if the source is not a valid template, or if its blocks are nested more than 16 levels deep. The error
    /// contains the line, the column, an excerpt and what was expected.
    ///
    /// ```
    /// use agcore_prompt::PromptTemplate;
    ///
    /// let error = PromptTemplate::compile("{{#if name}}Hi {{name}}!{{/each}}").unwrap_err();
    /// assert_eq!(
    ///     error.to_string(),
    ///     "line 1, column 25: expected {{/if}} to close the {{#if}} on line 1, found `{{/each}}` \
    ///      (near `{{#if name}}Hi {{name}}!{{/each}}`)",
    /// );
    /// ```
    pub fn compile(source: impl Into<String>) -> Result<Self, PromptError> {
        let compiled = Compiled::new(None, source.into())?;
        Ok(Self {
            compiled: Arc::new(compiled),
            partials: None,
            options: RenderOptions::new(),
        })
    }

    /// Sets the options with which the template is rendered.
    #[must_use]
    pub fn with_options(mut self, options: RenderOptions) -> Self {
        self.options = options;
        self
    }

    /// Returns the options with which the template is rendered.
    pub fn options(&self) -> RenderOptions {
        self.options
    }

    /// Returns the name under which the template was registered, if any.
    pub fn name(&self) -> Option<&str> {
        self.compiled.name()
    }

    /// Renders the template.
    ///
    /// ```
    /// use agcore_prompt::{Object, PromptTemplate};
    ///
    /// let template = PromptTemplate::compile("{{#if expert}}Be precise.{{else}}Explain each term.{{/if}}")?;
    /// assert_eq!(template.render(&Object::new().with("expert", true).into())?, "Be precise.");
    /// assert_eq!(template.render(&Object::new().into())?, "Explain each term.");
    /// # Ok::<(), agcore_prompt::PromptError>(())
    /// ```
    ///
    /// # Errors
    /// Fails if a variable has no value (unless the options are lenient), `each` is applied to anything other than an
    /// array, an object or null, a partial is not registered or does not compile, blocks and partials are nested too
    /// deeply, the output is too large, or the rendering takes too many steps.
    pub fn render(&self, context: &Value) -> Result<String, PromptError> {
        self.render_string(&Scope::root(context))
    }

    /// Renders the template with any serializable value, such as a struct.
    ///
    /// Each call serializes the value again. To render the same context many times, build a [`Value`] from it once.
    ///
    /// ```
    /// use agcore_prompt::PromptTemplate;
    ///
    /// #[derive(serde::Serialize)]
    /// struct User {
    ///     name: &'static str,
    ///     languages: Vec<&'static str>,
    /// }
    ///
    /// let template = PromptTemplate::compile("{{name}} speaks{{#each languages}} {{item}}{{/each}}.")?;
    /// let user = User { name: "Ada", languages: vec!["English", "French"] };
    /// assert_eq!(template.render_from(&user)?, "Ada speaks English French.");
    /// # Ok::<(), agcore_prompt::PromptError>(())
    /// ```
    ///
    /// # Errors
    /// Fails like [`render`](Self::render), and if the value cannot be serialized (see [`Value::from_serialize`]).
    pub fn render_from<T: Serialize + ?Sized>(&self, context: &T) -> Result<String, PromptError> {
        let snapshot = snapshot(context)?;
        self.render_string(&Scope::root(snapshot.root()))
    }

    /// Renders the template into a writer.
    ///
    /// ```
    /// use agcore_prompt::{Object, PromptTemplate};
    ///
    /// let template = PromptTemplate::compile("You are {{name}}.")?;
    /// let mut prompt = String::from("# Role\n");
    /// template.render_to(&mut prompt, &Object::new().with("name", "Ada").into())?;
    /// assert_eq!(prompt, "# Role\nYou are Ada.");
    /// # Ok::<(), agcore_prompt::PromptError>(())
    /// ```
    ///
    /// # Errors
    /// Fails like [`render`](Self::render), and if the writer returns an error. Output written before the error stays
    /// written.
    pub fn render_to<W: fmt::Write + ?Sized>(&self, writer: &mut W, context: &Value) -> Result<(), PromptError> {
        render::render(
            &self.compiled,
            self.partials.as_deref(),
            self.options,
            &Scope::root(context),
            writer,
        )
    }

    /// Returns the variables that the template uses, in the order of their first use.
    ///
    /// Variables used inside a loop are prefixed with the name of the list and `[]`. When the template is rendered, such a
    /// variable may also be resolved outside the loop. Variables of [partials](Self::partials) are not included.
    ///
    /// ```
    /// # use agcore_prompt::PromptTemplate;
    /// let template = PromptTemplate::compile("{{a.b}}{{#each xs}}{{name}}{{item}}{{@index}}{{/each}}{{a.b}}")?;
    /// assert_eq!(template.variables(), ["a.b", "xs", "xs[].name"]);
    /// # Ok::<(), agcore_prompt::PromptError>(())
    /// ```
    pub fn variables(&self) -> Vec<String> {
        variables::variables(&self.compiled)
    }

    /// Returns the names of the partials that the template includes, in the order of their first use.
    ///
    /// ```
    /// # use agcore_prompt::PromptTemplate;
    /// let template = PromptTemplate::compile("{{> header}}{{#if long}}{{> details}}{{/if}}{{> header}}")?;
    /// assert_eq!(template.partials(), ["header", "details"]);
    /// # Ok::<(), agcore_prompt::PromptError>(())
    /// ```
    pub fn partials(&self) -> Vec<String> {
        variables::partials(&self.compiled)
    }

    /// Creates a template that looks up its partials in `partials`.
    pub(crate) fn bound(compiled: Arc<Compiled>, partials: Arc<dyn Partials>, options: RenderOptions) -> Self {
        Self {
            compiled,
            partials: Some(partials),
            options,
        }
    }

    /// Returns the compiled form.
    pub(crate) fn compiled(&self) -> &Arc<Compiled> {
        &self.compiled
    }

    fn render_string<'v, D: Data<'v>>(&self, scope: &Scope<'_, 'v, D>) -> Result<String, PromptError> {
        let mut out = String::with_capacity(self.compiled.estimated_len());
        render::render(&self.compiled, self.partials.as_deref(), self.options, scope, &mut out)?;
        Ok(out)
    }
}

/// Prints the source.
impl fmt::Display for PromptTemplate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.compiled.source())
    }
}

impl FromStr for PromptTemplate {
    type Err = PromptError;

    fn from_str(source: &str) -> Result<Self, PromptError> {
        Self::compile(source)
    }
}
