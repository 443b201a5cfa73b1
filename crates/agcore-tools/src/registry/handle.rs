//! [`ToolRegistry`]: a handle to the tools of an application.

use std::{
    collections::{BTreeMap, HashMap},
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

use agcore_chat::{Text, Tool};
use arc_swap::ArcSwap;
use tokio::sync::watch;

use super::{
    entry::{RegisteredTool, Registration},
    snapshot::{ToolSnapshot, place},
};
use crate::error::ToolError;

/// The tools of an application. Every clone is a handle to the same registry.
///
/// Tools may come and go at any time. Readers never wait; what they get is a [snapshot](ToolRegistry::snapshot), which
/// does not change any more.
#[derive(Clone)]
pub struct ToolRegistry(Arc<Shared>);

struct Shared {
    current: ArcSwap<ToolSnapshot>,
    /// Held by the one who writes.
    turnstiles: Mutex<Turnstiles>,
    revision: watch::Sender<u64>,
}

/// One lock for each concurrency key ever seen.
type Turnstiles = HashMap<Text, Arc<tokio::sync::Mutex<()>>>;

impl ToolRegistry {
    /// An empty registry.
    pub fn new() -> Self {
        Self(Arc::new(Shared {
            current: ArcSwap::from_pointee(ToolSnapshot::default()),
            turnstiles: Mutex::default(),
            revision: watch::Sender::new(0),
        }))
    }

    /// Adds a tool.
    ///
    /// # Errors
    /// [`Duplicate`](crate::ToolErrorKind::Duplicate) when its name is taken;
    /// [`Config`](crate::ToolErrorKind::Config) when its name or schema is of no use.
    pub fn register(&self, tool: impl Into<Registration>) -> Result<(), ToolError> {
        self.change(|change| change.add(tool))
    }

    /// Adds all of these tools, or none.
    ///
    /// # Errors
    /// As [`register`](Self::register); also when two of them have the same name.
    pub fn register_all<T: Into<Registration>>(&self, tools: impl IntoIterator<Item = T>) -> Result<(), ToolError> {
        self.change(|change| tools.into_iter().try_for_each(|tool| change.add(tool)))
    }

    /// Removes a tool. Calls of it that run go on; turns that began before still see it.
    pub fn unregister(&self, name: &str) -> Option<RegisteredTool> {
        // The change itself cannot fail.
        self.change(|change| Ok(change.remove(name))).ok().flatten()
    }

    /// Makes several changes as one: others see all of them or, when `make` fails, none. `make` must not use this
    /// registry otherwise.
    ///
    /// # Errors
    /// The error of `make`.
    pub fn change<R>(
        &self,
        make: impl FnOnce(&mut RegistryChange<'_>) -> Result<R, ToolError>,
    ) -> Result<R, ToolError> {
        let mut turnstiles = self.0.turnstiles.lock().unwrap_or_else(PoisonError::into_inner);
        let before = self.0.current.load_full();
        let mut change = RegistryChange {
            tools: None,
            before: &before,
            turnstiles: &mut turnstiles,
        };
        let result = make(&mut change)?;
        if let Some(tools) = change.tools {
            let revision = before.revision() + 1;
            self.0.current.store(Arc::new(ToolSnapshot::new(revision, tools)));
            self.0.revision.send_replace(revision);
        }
        Ok(result)
    }

    /// The tools at this moment.
    pub fn snapshot(&self) -> Arc<ToolSnapshot> {
        self.0.current.load_full()
    }

    /// A tool by name.
    pub fn get(&self, name: &str) -> Option<RegisteredTool> {
        self.0.current.load().get(name).cloned()
    }

    /// All tools, sorted by name.
    pub fn list(&self) -> Vec<RegisteredTool> {
        self.0.current.load().tools().to_vec()
    }

    /// What a model is told of the tools, sorted by name.
    pub fn definitions(&self) -> Arc<[Tool]> {
        self.0.current.load().definitions()
    }

    /// The tools with a tag.
    pub fn find_by_tag(&self, tag: &str) -> Vec<RegisteredTool> {
        self.0.current.load().find_by_tag(tag)
    }

    /// The tools of a category.
    pub fn find_by_category(&self, category: &str) -> Vec<RegisteredTool> {
        self.0.current.load().find_by_category(category)
    }

    /// The tools by category; those without one stand under the empty name.
    pub fn groups(&self) -> BTreeMap<String, Vec<RegisteredTool>> {
        self.0.current.load().groups()
    }

    /// Comes back when the registry has changed since a revision, with the new one. Cancel safe.
    pub async fn changed_since(&self, revision: u64) -> u64 {
        let mut changes = self.0.revision.subscribe();
        // The sender lives as long as this handle.
        changes
            .wait_for(|now| *now > revision)
            .await
            .map_or(revision, |now| *now)
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

/// Changes that a registry makes at once; see [`ToolRegistry::change`].
pub struct RegistryChange<'a> {
    before: &'a ToolSnapshot,
    /// The tools as they shall be, once anything changes; sorted by name.
    tools: Option<Vec<RegisteredTool>>,
    turnstiles: &'a mut Turnstiles,
}

impl RegistryChange<'_> {
    /// Adds a tool.
    ///
    /// # Errors
    /// As [`ToolRegistry::register`].
    pub fn add(&mut self, tool: impl Into<Registration>) -> Result<(), ToolError> {
        let tool = self.ready(tool.into())?;
        let tools = self.tools();
        match place(tools, tool.name()) {
            Ok(_) => Err(ToolError::duplicate(tool.name())),
            Err(place) => {
                tools.insert(place, tool);
                Ok(())
            }
        }
    }

    /// Adds a tool in place of one of its name, if there is any; its statistics begin anew.
    ///
    /// # Errors
    /// As [`ToolRegistry::register`], but never that the name is taken.
    pub fn replace(&mut self, tool: impl Into<Registration>) -> Result<Option<RegisteredTool>, ToolError> {
        let tool = self.ready(tool.into())?;
        let tools = self.tools();
        Ok(match place(tools, tool.name()) {
            Ok(place) => Some(std::mem::replace(&mut tools[place], tool)),
            Err(place) => {
                tools.insert(place, tool);
                None
            }
        })
    }

    /// Removes a tool.
    pub fn remove(&mut self, name: &str) -> Option<RegisteredTool> {
        self.get(name)?;
        let tools = self.tools();
        place(tools, name).ok().map(|place| tools.remove(place))
    }

    /// Keeps only these tools.
    pub fn retain(&mut self, mut keep: impl FnMut(&RegisteredTool) -> bool) {
        self.tools().retain(|tool| keep(tool));
    }

    /// A tool as things stand now.
    pub fn get(&self, name: &str) -> Option<&RegisteredTool> {
        match &self.tools {
            Some(tools) => place(tools, name).ok().map(|place| &tools[place]),
            None => self.before.get(name),
        }
    }

    fn ready(&mut self, registration: Registration) -> Result<RegisteredTool, ToolError> {
        RegisteredTool::new(registration, |key| {
            Arc::clone(self.turnstiles.entry(key.clone()).or_default())
        })
    }

    fn tools(&mut self) -> &mut Vec<RegisteredTool> {
        let before = self.before;
        self.tools.get_or_insert_with(|| before.tools().to_vec())
    }
}

impl fmt::Debug for RegistryChange<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RegistryChange").finish_non_exhaustive()
    }
}
