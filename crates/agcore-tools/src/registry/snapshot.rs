//! [`ToolSnapshot`]: the tools of a registry at one point in time.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, OnceLock, PoisonError},
};

use agcore_chat::{Tool, text::nearest_names};

use super::entry::RegisteredTool;
use crate::error::ToolError;

/// The number of similar names that an error suggests.
const MAX_NEAR_NAMES: usize = 3;

/// The number of subsets that a snapshot remembers.
const REMEMBERED_SUBSETS: usize = 8;

/// The tools of a registry at one point in time, sorted by name. Immutable.
///
/// ```
/// use agcore_tools::{NoArguments, ToolError, ToolRegistry, typed};
///
/// let tools = ToolRegistry::new();
/// let snapshot = tools.snapshot();
/// tools.register(typed("read_file", "Reads a file.", |_: NoArguments| async { Ok(()) }))?;
///
/// // The snapshot does not change.
/// assert!(snapshot.get("read_file").is_none());
/// assert!(tools.snapshot().revision() > snapshot.revision());
///
/// let error = tools.snapshot().find("raed_file").unwrap_err();
/// assert_eq!(error.to_string(), r#"there is no tool named "raed_file"; did you mean read_file?"#);
/// # Ok::<(), ToolError>(())
/// ```
#[derive(Debug, Default)]
pub struct ToolSnapshot {
    revision: u64,
    tools: Vec<RegisteredTool>,
    definitions: OnceLock<Arc<[Tool]>>,
    /// The newest [subsets](Self::subset), whose definitions are shared, too.
    subsets: Mutex<Vec<Arc<Self>>>,
}

impl ToolSnapshot {
    /// Creates a snapshot. The tools must be sorted by name.
    pub(super) fn new(revision: u64, tools: Vec<RegisteredTool>) -> Self {
        Self {
            revision,
            tools,
            definitions: OnceLock::new(),
            subsets: Mutex::default(),
        }
    }

    /// Returns the revision, which increases with each change of the registry.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// Returns all tools, sorted by name.
    pub fn tools(&self) -> &[RegisteredTool] {
        &self.tools
    }

    /// Returns a tool by name.
    pub fn get(&self, name: &str) -> Option<&RegisteredTool> {
        search(&self.tools, name).ok().map(|index| &self.tools[index])
    }

    /// Returns a tool by name, or an error that suggests similar names.
    ///
    /// # Errors
    /// [`NotFound`](crate::ToolErrorKind::NotFound) when there is no such tool.
    pub fn find(&self, name: &str) -> Result<&RegisteredTool, ToolError> {
        self.get(name)
            .ok_or_else(|| ToolError::not_found(name, self.near_names(name)))
    }

    /// Returns the definitions that a model receives, sorted by name. They are built once per snapshot.
    pub fn definitions(&self) -> Arc<[Tool]> {
        let definitions = self
            .definitions
            .get_or_init(|| self.tools.iter().map(RegisteredTool::definition).collect());
        Arc::clone(definitions)
    }

    /// Returns up to three names that the caller may have meant, the most similar first.
    pub fn near_names(&self, name: &str) -> Vec<String> {
        let known = self.tools.iter().map(|tool| tool.name().as_str());
        let near = nearest_names(name, known, MAX_NEAR_NAMES);
        near.into_iter().map(str::to_owned).collect()
    }

    /// Returns the tools with a tag.
    pub fn find_by_tag(&self, tag: &str) -> Vec<RegisteredTool> {
        self.tools.iter().filter(|tool| tool.has_tag(tag)).cloned().collect()
    }

    /// Returns the tools of a category.
    pub fn find_by_category(&self, category: &str) -> Vec<RegisteredTool> {
        self.tools
            .iter()
            .filter(|tool| tool.category() == Some(category))
            .cloned()
            .collect()
    }

    /// Groups the tools by category. Tools without a category are in the group with the empty name.
    pub fn groups(&self) -> BTreeMap<String, Vec<RegisteredTool>> {
        let mut groups: BTreeMap<String, Vec<RegisteredTool>> = BTreeMap::new();
        for tool in &self.tools {
            groups
                .entry(tool.category().unwrap_or_default().to_owned())
                .or_default()
                .push(tool.clone());
        }
        groups
    }

    /// Returns a snapshot with one more tool.
    ///
    /// # Errors
    /// [`Duplicate`](crate::ToolErrorKind::Duplicate) if there is a tool with the same name.
    ///
    /// ```
    /// use agcore_tools::{NoArguments, ToolError, ToolErrorKind, ToolRegistry, typed};
    ///
    /// let ping = || typed("ping", "Pings.", |_: NoArguments| async { Ok("pong") });
    /// let other = ToolRegistry::new();
    /// other.register(ping())?;
    /// let ping = other.list().remove(0);
    ///
    /// let tools = ToolRegistry::new();
    /// let snapshot = tools.snapshot().with_tool(ping.clone())?;
    /// assert_eq!(snapshot.tools().len(), 1);
    /// assert!(tools.list().is_empty());
    /// assert_eq!(snapshot.with_tool(ping).unwrap_err().kind(), ToolErrorKind::Duplicate);
    /// # Ok::<(), ToolError>(())
    /// ```
    pub fn with_tool(&self, tool: RegisteredTool) -> Result<Arc<Self>, ToolError> {
        match search(&self.tools, tool.name()) {
            Ok(_) => Err(ToolError::duplicate(tool.name())),
            Err(at) => {
                let mut tools = self.tools.clone();
                tools.insert(at, tool);
                Ok(Arc::new(Self::new(self.revision, tools)))
            }
        }
    }

    /// Returns the tools that `keep` accepts. Equal subsets are usually the same snapshot, with the same definitions, and one
    /// of all tools is this snapshot.
    ///
    /// ```
    /// use agcore_tools::{NoArguments, Registration, ToolError, ToolRegistry, tools, typed};
    ///
    /// let list = typed("list", "Lists files.", |_: NoArguments| async { Ok("readme.md") });
    /// let remove = typed("remove", "Removes files.", |_: NoArguments| async { Ok("removed") });
    /// let registry = ToolRegistry::new();
    /// registry.register_all(tools![Registration::new(list).with_tag("safe"), remove])?;
    ///
    /// let safe = registry.snapshot().subset(|tool| tool.has_tag("safe"));
    /// assert_eq!(safe.definitions()[0].name(), "list");
    /// assert_eq!(safe.tools().len(), 1);
    /// # Ok::<(), ToolError>(())
    /// ```
    #[must_use]
    pub fn subset(self: &Arc<Self>, keep: impl Fn(&RegisteredTool) -> bool) -> Arc<Self> {
        if self.tools.iter().all(&keep) {
            return Arc::clone(self);
        }
        let tools: Vec<_> = self.tools.iter().filter(|tool| keep(tool)).cloned().collect();
        let mut subsets = self.subsets.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = subsets.iter().find(|known| known.has_exactly(&tools)) {
            return Arc::clone(known);
        }
        if subsets.len() == REMEMBERED_SUBSETS {
            subsets.remove(0);
        }
        let subset = Arc::new(Self::new(self.revision, tools));
        subsets.push(Arc::clone(&subset));
        subset
    }

    fn has_exactly(&self, tools: &[RegisteredTool]) -> bool {
        self.tools.len() == tools.len() && self.tools.iter().zip(tools).all(|(known, tool)| known.is_same(tool))
    }
}

/// Searches tools that are sorted by name. Returns the index of the tool or, as an error, the index to insert it at.
pub(super) fn search(tools: &[RegisteredTool], name: &str) -> Result<usize, usize> {
    tools.binary_search_by(|tool| tool.name().as_bytes().cmp(name.as_bytes()))
}
