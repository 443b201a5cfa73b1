//! [`PromptTemplateRegistry`]: named templates that can include each other.

mod entry;
mod files;

use std::{collections::BTreeMap, fmt, path::Path, sync::Arc};

use serde::Serialize;

use crate::{
    error::{PromptError, PromptErrorKind, similar_names},
    template::{Compiled, Partials, PromptTemplate, RenderOptions, is_template_name},
    value::Value,
};
use entry::Entry;

/// A collection of named templates that can include each other as partials.
///
/// The registry is a plain value: it has no global state and does not watch files. It is cheap to clone. A clone, and a
/// template [returned](Self::get) by the registry, keep a snapshot of the templates registered at that time.
///
/// ```
/// use agcore_prompt::{Object, PromptTemplateRegistry};
///
/// let mut prompts = PromptTemplateRegistry::new();
/// prompts.register("rules", "- Answer in {{language}}.\n")?;
/// prompts.register("system", "You are {{name}}.\n  {{> rules}}\n")?;
///
/// let context = Object::new().with("name", "Ada").with("language", "French");
/// assert_eq!(prompts.render("system", &context.into())?, "You are Ada.\n  - Answer in French.\n");
/// # Ok::<(), agcore_prompt::PromptError>(())
/// ```
#[derive(Clone, Default)]
pub struct PromptTemplateRegistry {
    entries: Arc<Entries>,
    options: RenderOptions,
}

#[derive(Clone, Default)]
struct Entries(BTreeMap<Box<str>, Arc<Entry>>);

impl PromptTemplateRegistry {
    /// Creates an empty registry.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the options with which all templates of the registry are rendered.
    #[must_use]
    pub fn with_options(mut self, options: RenderOptions) -> Self {
        self.options = options;
        self
    }

    /// Compiles a template and registers it, replacing any template of the same name.
    ///
    /// # Errors
    /// Fails if the source is not a valid template, or if the name cannot be written in a partial tag.
    pub fn register(&mut self, name: &str, source: impl Into<String>) -> Result<(), PromptError> {
        let compiled = Compiled::new(Some(name), source.into())?;
        self.insert(name, Entry::ready(compiled))
    }

    /// Registers a template that is compiled once, at its first use.
    ///
    /// ```
    /// use agcore_prompt::{PromptTemplateRegistry, Value};
    ///
    /// let mut prompts = PromptTemplateRegistry::new();
    /// prompts.register_lazy("footer", "Answer in one sentence.")?;
    /// prompts.register_lazy("broken", "{{#if name}}")?;
    ///
    /// assert_eq!(prompts.render("footer", &Value::Null)?, "Answer in one sentence.");
    /// assert!(prompts.render("broken", &Value::Null).is_err());
    /// # Ok::<(), agcore_prompt::PromptError>(())
    /// ```
    ///
    /// # Errors
    /// Fails if the name cannot be written in a partial tag. If the source is not a valid template, every use of it
    /// returns the error.
    pub fn register_lazy(&mut self, name: &str, source: impl Into<String>) -> Result<(), PromptError> {
        self.insert(name, Entry::lazy(name, source.into()))
    }

    /// Reads a file, compiles it and registers it, replacing any template of the same name.
    ///
    /// # Errors
    /// Fails if the file cannot be read or is not valid UTF-8, and like [`register`](Self::register).
    pub fn register_file(&mut self, name: &str, path: impl AsRef<Path>) -> Result<(), PromptError> {
        self.register(name, files::read(path.as_ref())?)
    }

    /// Registers all files with an extension (such as `"hbs"`) in a folder and its subfolders, and returns their number.
    ///
    /// The name of a template is the path of its file relative to the folder, with `/` as the separator and without the
    /// extension, such as `"support/greeting"`. Hidden files and symbolic links to folders are skipped. The registry is
    /// unchanged after an error.
    ///
    /// ```
    /// use agcore_prompt::{PromptTemplateRegistry, Value};
    ///
    /// # let folder = std::env::temp_dir().join(format!("agcore-prompt-{}", std::process::id()));
    /// # std::fs::create_dir_all(folder.join("support"))?;
    /// std::fs::write(folder.join("support/greeting.hbs"), "Hello!")?;
    ///
    /// let mut prompts = PromptTemplateRegistry::new();
    /// assert_eq!(prompts.load_folder(&folder, "hbs")?, 1);
    /// assert_eq!(prompts.render("support/greeting", &Value::Null)?, "Hello!");
    /// # std::fs::remove_dir_all(&folder)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Fails if the folder or a file cannot be read, and like [`register`](Self::register).
    pub fn load_folder(&mut self, folder: impl AsRef<Path>, extension: &str) -> Result<usize, PromptError> {
        let mut loaded = self.clone();
        let files = files::list(folder.as_ref(), extension)?;
        for (name, path) in &files {
            loaded.register_file(name, path)?;
        }
        *self = loaded;
        Ok(files.len())
    }

    /// Removes a template and returns whether it existed.
    pub fn remove(&mut self, name: &str) -> bool {
        Arc::make_mut(&mut self.entries).0.remove(name).is_some()
    }

    /// Returns the template with this name, bound to the partials that are registered now.
    ///
    /// # Errors
    /// Fails if no template has this name, or if it was registered lazily and does not compile.
    ///
    /// ```
    /// use agcore_prompt::PromptTemplateRegistry;
    ///
    /// let mut prompts = PromptTemplateRegistry::new();
    /// prompts.register("greeting", "Hello!")?;
    /// let error = prompts.get("greetings").unwrap_err();
    /// assert_eq!(error.to_string(), "template `greetings` is not registered; did you mean `greeting`?");
    /// # Ok::<(), agcore_prompt::PromptError>(())
    /// ```
    pub fn get(&self, name: &str) -> Result<PromptTemplate, PromptError> {
        let Some(entry) = self.entries.0.get(name) else {
            let near = similar_names(name, self.names());
            return Err(PromptErrorKind::TemplateNotFound {
                name: name.to_owned(),
                near,
            }
            .into());
        };
        Ok(self.bound(Arc::clone(entry.compiled()?)))
    }

    /// Returns a copy of a template that uses the partials registered now and the options of the registry.
    ///
    /// ```
    /// use agcore_prompt::{PromptTemplate, PromptTemplateRegistry, Value};
    ///
    /// let mut partials = PromptTemplateRegistry::new();
    /// partials.register("rules", "Be brief.")?;
    ///
    /// let template = PromptTemplate::compile("You are Ada. {{> rules}}")?;
    /// assert_eq!(partials.bind(&template).render(&Value::Null)?, "You are Ada. Be brief.");
    /// # Ok::<(), agcore_prompt::PromptError>(())
    /// ```
    pub fn bind(&self, template: &PromptTemplate) -> PromptTemplate {
        self.bound(Arc::clone(template.compiled()))
    }

    /// Renders the template with this name.
    ///
    /// # Errors
    /// Fails like [`get`](Self::get) and [`PromptTemplate::render`].
    pub fn render(&self, name: &str, context: &Value) -> Result<String, PromptError> {
        self.get(name)?.render(context)
    }

    /// Renders the template with this name from any serializable value.
    ///
    /// # Errors
    /// Fails like [`get`](Self::get) and [`PromptTemplate::render_from`].
    pub fn render_from<T: Serialize + ?Sized>(&self, name: &str, context: &T) -> Result<String, PromptError> {
        self.get(name)?.render_from(context)
    }

    /// Returns whether a template has this name.
    pub fn contains(&self, name: &str) -> bool {
        self.entries.0.contains_key(name)
    }

    /// Returns the names of all templates in sorted order.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.entries.0.keys().map(|name| &**name)
    }

    fn insert(&mut self, name: &str, entry: Entry) -> Result<(), PromptError> {
        if !is_template_name(name) {
            return Err(PromptErrorKind::InvalidName { name: name.to_owned() }.into());
        }
        Arc::make_mut(&mut self.entries).0.insert(name.into(), Arc::new(entry));
        Ok(())
    }

    fn bound(&self, compiled: Arc<Compiled>) -> PromptTemplate {
        PromptTemplate::bound(compiled, Arc::clone(&self.entries) as Arc<dyn Partials>, self.options)
    }
}

impl Partials for Entries {
    fn find(&self, name: &str) -> Option<Result<&Compiled, PromptError>> {
        self.0
            .get(name)
            .map(|entry| entry.compiled().map(|compiled| &**compiled))
    }

    fn names(&self) -> Vec<&str> {
        self.0.keys().map(|name| &**name).collect()
    }
}

impl fmt::Debug for Entries {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

impl fmt::Debug for PromptTemplateRegistry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PromptTemplateRegistry")
            .field("names", &self.entries)
            .field("options", &self.options)
            .finish()
    }
}
