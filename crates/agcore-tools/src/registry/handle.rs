//! [`ToolRegistry`]: a handle to the tools of an application.

use std::{
    collections::{BTreeMap, HashMap},
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

use agcore_chat::{Text, Tool, tool_name};
use arc_swap::ArcSwap;
use tokio::sync::watch;

use super::{
    entry::RegisteredTool,
    registration::{IntoRegistration, Registration},
    snapshot::{ToolSnapshot, search},
};
use crate::error::ToolError;

/// The tools of an application. All clones are handles to the same registry.
///
/// Tools can be added and removed at any time. Readers never block: they get an immutable
/// [snapshot](ToolRegistry::snapshot).
///
/// ```
/// use agcore_tools::{NoArguments, ToolError, ToolErrorKind, ToolRegistry, typed};
///
/// let ping = || typed("ping", "Pings.", |_: NoArguments| async { Ok("pong") });
///
/// let tools = ToolRegistry::new();
/// tools.register(ping())?;
/// assert_eq!(tools.register(ping()).unwrap_err().kind(), ToolErrorKind::Duplicate);
///
/// let names: Vec<_> = tools.list().iter().map(|tool| tool.name().to_string()).collect();
/// assert_eq!(names, ["ping"]);
/// assert_eq!(tools.definitions()[0].name(), "ping");
///
/// assert!(tools.unregister("ping").is_some());
/// assert!(tools.get("ping").is_none());
/// # Ok::<(), ToolError>(())
/// ```
#[derive(Clone)]
pub struct ToolRegistry(Arc<Shared>);

struct Shared {
    current: ArcSwap<ToolSnapshot>,
    /// Locked by the writer. Holds one lock per concurrency key.
    key_locks: Mutex<KeyLocks>,
    revision: watch::Sender<u64>,
}

/// The locks of all concurrency keys that tools have used so far.
type KeyLocks = HashMap<Text, Arc<tokio::sync::Mutex<()>>>;

impl ToolRegistry {
    /// Creates an empty registry.
    pub fn new() -> Self {
        Self(Arc::new(Shared {
            current: ArcSwap::from_pointee(ToolSnapshot::default()),
            key_locks: Mutex::default(),
            revision: watch::Sender::new(0),
        }))
    }

    /// Returns a registry with the tools of this one. Later changes of one do not reach the other.
    #[must_use]
    pub fn detached(&self) -> Self {
        let key_locks = self.0.key_locks.lock().unwrap_or_else(PoisonError::into_inner).clone();
        Self(Arc::new(Shared {
            current: ArcSwap::new(self.snapshot()),
            // Calls with the same key still wait for each other.
            key_locks: Mutex::new(key_locks),
            revision: watch::Sender::new(*self.0.revision.borrow()),
        }))
    }

    /// Returns whether there are other handles to this registry, so that others may add and remove tools, as the connection to an
    /// MCP server does.
    ///
    /// ```
    /// use agcore_tools::ToolRegistry;
    ///
    /// let tools = ToolRegistry::new();
    /// assert!(!tools.is_shared());
    /// let handle = tools.clone();
    /// assert!(tools.is_shared() && handle.is_shared());
    /// ```
    pub fn is_shared(&self) -> bool {
        Arc::strong_count(&self.0) > 1
    }

    /// Adds a tool.
    ///
    /// # Errors
    /// [`Duplicate`](crate::ToolErrorKind::Duplicate) when the name is already registered, or another tool has the same
    /// [portable](agcore_chat::tool_name::portable) name, as `fs.read` and `fs_read` have;
    /// [`Config`](crate::ToolErrorKind::Config) when the [name](agcore_chat::tool_name::check) or a schema is invalid.
    pub fn register(&self, tool: impl IntoRegistration) -> Result<(), ToolError> {
        self.change(|change| change.add(tool))
    }

    /// Adds all of these tools, or none of them if one cannot be registered. Tools of different types are listed with
    /// [`tools!`](crate::tools).
    ///
    /// # Errors
    /// As for [`register`](Self::register). Also when two of the tools have the same name.
    pub fn register_all<T: IntoRegistration>(&self, tools: impl IntoIterator<Item = T>) -> Result<(), ToolError> {
        self.change(|change| tools.into_iter().try_for_each(|tool| change.add(tool)))
    }

    /// Adds the tools that can be registered, and returns an error, with the name of the tool, for each of the others.
    ///
    /// Use this for the tools of a server, one of which may have a broken schema. An empty list means that all tools
    /// were added.
    ///
    /// ```
    /// use agcore_tools::{NoArguments, ToolRegistry, typed};
    ///
    /// let tools = ToolRegistry::new();
    /// let errors = tools.register_valid(["ping", "ping", "pong"].map(|name| {
    ///     typed(name, "Answers.", |_: NoArguments| async { Ok(()) })
    /// }));
    /// assert_eq!(tools.list().len(), 2);
    /// assert!(errors[0].message().starts_with(r#"a tool named "ping" is already registered"#));
    /// ```
    #[must_use = "tools with errors are not registered"]
    pub fn register_valid<T: IntoRegistration>(&self, tools: impl IntoIterator<Item = T>) -> Vec<ToolError> {
        let add = |change: &mut RegistryChange<'_>| {
            let errors = tools.into_iter().filter_map(|tool| change.add(tool).err());
            Ok(errors.collect())
        };
        self.change(add).unwrap_or_else(|error| vec![error])
    }

    /// Removes a tool and returns it. Running calls continue, and executors that were built before still have the tool.
    pub fn unregister(&self, name: &str) -> Option<RegisteredTool> {
        // Removing a tool cannot fail.
        self.change(|change| Ok(change.remove(name))).ok().flatten()
    }

    /// Applies several changes atomically: other handles see all of them or, when `make` fails, none.
    ///
    /// `make` must not use the registry in any other way: a nested change deadlocks.
    ///
    /// # Errors
    /// The error of `make`.
    ///
    /// ```
    /// use agcore_tools::{NoArguments, ToolError, ToolRegistry, typed};
    ///
    /// let tools = ToolRegistry::new();
    /// tools.register(typed("old", "Is old.", |_: NoArguments| async { Ok(()) }))?;
    /// tools.change(|change| {
    ///     change.remove("old");
    ///     change.add(typed("new", "Is new.", |_: NoArguments| async { Ok(()) }))
    /// })?;
    /// assert!(tools.get("old").is_none() && tools.get("new").is_some());
    ///
    /// let failed = tools.change(|change| {
    ///     change.remove("new");
    ///     Err::<(), _>(ToolError::failed("the server did not answer"))
    /// });
    /// assert!(failed.is_err() && tools.get("new").is_some());
    /// # Ok::<(), ToolError>(())
    /// ```
    pub fn change<R>(
        &self,
        make: impl FnOnce(&mut RegistryChange<'_>) -> Result<R, ToolError>,
    ) -> Result<R, ToolError> {
        let mut key_locks = self.0.key_locks.lock().unwrap_or_else(PoisonError::into_inner);
        let before = self.0.current.load_full();
        let mut change = RegistryChange {
            tools: None,
            before: &before,
            shortened: None,
            key_locks: &mut key_locks,
        };
        let result = make(&mut change)?;
        if let Some(tools) = change.tools {
            let revision = before.revision() + 1;
            self.0.current.store(Arc::new(ToolSnapshot::new(revision, tools)));
            self.0.revision.send_replace(revision);
        }
        Ok(result)
    }

    /// Returns the current tools.
    pub fn snapshot(&self) -> Arc<ToolSnapshot> {
        self.0.current.load_full()
    }

    /// Returns a tool by name.
    pub fn get(&self, name: &str) -> Option<RegisteredTool> {
        self.0.current.load().get(name).cloned()
    }

    /// Returns all tools, sorted by name.
    pub fn list(&self) -> Vec<RegisteredTool> {
        self.0.current.load().tools().to_vec()
    }

    /// Returns the definitions that a model receives, sorted by name.
    pub fn definitions(&self) -> Arc<[Tool]> {
        self.0.current.load().definitions()
    }

    /// Returns the tools with a tag.
    pub fn find_by_tag(&self, tag: &str) -> Vec<RegisteredTool> {
        self.0.current.load().find_by_tag(tag)
    }

    /// Returns the tools of a category.
    pub fn find_by_category(&self, category: &str) -> Vec<RegisteredTool> {
        self.0.current.load().find_by_category(category)
    }

    /// Groups the tools by category. Tools without a category are in the group with the empty name.
    pub fn groups(&self) -> BTreeMap<String, Vec<RegisteredTool>> {
        self.0.current.load().groups()
    }

    /// Waits until the registry has a newer revision than `revision` and returns it. Returns at once if it already has.
    ///
    /// Cancel safe.
    pub async fn changed_since(&self, revision: u64) -> u64 {
        let mut changes = self.0.revision.subscribe();
        // The channel never closes: this handle owns its sender.
        changes
            .wait_for(|current| *current > revision)
            .await
            .map_or(revision, |current| *current)
    }
}

impl Default for ToolRegistry {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for ToolRegistry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list()
            .entries(self.0.current.load().tools().iter().map(RegisteredTool::name))
            .finish()
    }
}

/// A set of changes that a registry applies atomically. See [`ToolRegistry::change`].
pub struct RegistryChange<'a> {
    before: &'a ToolSnapshot,
    /// The new tools, sorted by name; `None` until the first change.
    tools: Option<Vec<RegisteredTool>>,
    /// The tools whose names not every vendor accepts, by the portable form; `None` until it is needed. Tools that were
    /// removed may remain.
    shortened: Option<HashMap<String, Text>>,
    key_locks: &'a mut KeyLocks,
}

impl RegistryChange<'_> {
    /// Adds a tool.
    ///
    /// # Errors
    /// As for [`ToolRegistry::register`].
    pub fn add(&mut self, tool: impl IntoRegistration) -> Result<(), ToolError> {
        let tool = self.compile(tool.into_registration())?;
        self.check_portable_name(tool.name())?;
        let tools = self.tools();
        match search(tools, tool.name()) {
            Ok(_) => Err(ToolError::duplicate(tool.name())),
            Err(index) => {
                tools.insert(index, tool);
                Ok(())
            }
        }
    }

    /// Adds a tool, replacing an earlier tool with the same name, which is returned. The statistics start from zero.
    ///
    /// # Errors
    /// As for [`ToolRegistry::register`], except that the name may already be registered.
    pub fn replace(&mut self, tool: impl IntoRegistration) -> Result<Option<RegisteredTool>, ToolError> {
        let tool = self.compile(tool.into_registration())?;
        self.check_portable_name(tool.name())?;
        let tools = self.tools();
        Ok(match search(tools, tool.name()) {
            Ok(index) => Some(std::mem::replace(&mut tools[index], tool)),
            Err(index) => {
                tools.insert(index, tool);
                None
            }
        })
    }

    /// Removes a tool and returns it.
    pub fn remove(&mut self, name: &str) -> Option<RegisteredTool> {
        self.get(name)?;
        let tools = self.tools();
        search(tools, name).ok().map(|index| tools.remove(index))
    }

    /// Keeps only the tools for which `keep` returns `true`.
    pub fn retain(&mut self, mut keep: impl FnMut(&RegisteredTool) -> bool) {
        self.tools().retain(|tool| keep(tool));
    }

    /// Returns a tool by name, with the changes made so far.
    pub fn get(&self, name: &str) -> Option<&RegisteredTool> {
        match &self.tools {
            Some(tools) => search(tools, name).ok().map(|index| &tools[index]),
            None => self.before.get(name),
        }
    }

    /// Checks that no other tool has the same portable name, and remembers that of this one.
    fn check_portable_name(&mut self, name: &Text) -> Result<(), ToolError> {
        let current = self.tools.as_deref().unwrap_or_else(|| self.before.tools());
        let shortened = self.shortened.get_or_insert_with(|| {
            let names = current.iter().map(RegisteredTool::name);
            names
                .filter_map(|name| Some((shortened(name)?, name.clone())))
                .collect()
        });
        let portable = tool_name::portable(name);
        let other = match shortened.get(&*portable) {
            Some(other) if other != name && search(current, other).is_ok() => Some(other),
            _ if *portable == **name => None,
            _ => search(current, &portable).ok().map(|index| current[index].name()),
        };
        if let Some(other) = other {
            return Err(ToolError::same_portable_name(name, other, &portable));
        }
        if let Some(portable) = self::shortened(name) {
            shortened.insert(portable, name.clone());
        }
        Ok(())
    }

    fn compile(&mut self, registration: Registration) -> Result<RegisteredTool, ToolError> {
        RegisteredTool::new(registration, |key| {
            Arc::clone(self.key_locks.entry(key.clone()).or_default())
        })
    }

    fn tools(&mut self) -> &mut Vec<RegisteredTool> {
        let before = self.before;
        self.tools.get_or_insert_with(|| before.tools().to_vec())
    }
}

/// Returns the portable form of a name, unless it is the name itself.
fn shortened(name: &Text) -> Option<String> {
    (!tool_name::is_portable(name)).then(|| tool_name::portable(name).into_owned())
}

impl fmt::Debug for RegistryChange<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RegistryChange").finish_non_exhaustive()
    }
}
