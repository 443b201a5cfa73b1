//! [`ToolSearch`]: when tools are left out of requests, and which.

use std::{collections::BTreeSet, fmt, sync::Arc};

use agcore_tools::RegisteredTool;

use crate::agent::CATEGORY;

/// The tools that instructions of the library name, so that they are always offered.
const ALWAYS: [&str; 3] = ["use_skill", "update_state", "read_result"];

/// The settings of tool search: instead of the definitions of all tools, requests contain those of a few, and a list of the names
/// of the others. The model loads what it needs with the tool `search_tools`, by words or by names.
///
/// A definition that was loaded follows the other tools in all later requests of the session, in the order of loading, and is never
/// removed, so that each list of tools begins with the one before. The list of names is part of the system prompt and does not
/// change when tools are loaded. What was loaded belongs to the state of the session: it outlives compactions, and is there
/// when the session is opened again.
///
/// Rules, approvals, hooks and layers hold for a loaded tool as for any other. A call of a tool that is not loaded does not run:
/// its arguments were guessed. The call loads the tool, and its result asks the model to call again.
///
/// ```
/// use agcore_agent::{ToolSearch, agent};
/// use agcore_chat::ToolCall;
/// use agcore_testkit::scripted::{ScriptStep, ScriptedProvider};
/// use agcore_tools::{NoArguments, typed};
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
/// # let model = ScriptedProvider::new([
/// #     ScriptStep::calls([ToolCall::function("call_1", "search_tools", r#"{"query": "weather forecast"}"#)]),
/// #     ScriptStep::calls([ToolCall::function("call_2", "forecast", "{}")]),
/// #     ScriptStep::text("It will rain."),
/// # ]);
/// let session = agent(model.clone())
///     .with_tool(typed("forecast", "Returns the weather of tomorrow.", |_: NoArguments| async { Ok("rain") }))
///     .with_tool(typed("read_file", "Reads a file.", |_: NoArguments| async { Ok("…") }))
///     .with_tool_search(ToolSearch::above_tokens(10).pin("read_file"))
///     .session()?;
/// assert_eq!(session.turn("How will the weather be?").await?.text(), "It will rain.");
///
/// let names = |request: usize| model.requests()[request].tools.iter().map(|tool| tool.name().to_owned()).collect::<Vec<_>>();
/// assert_eq!(names(0), ["read_file", "search_tools"]);
/// assert_eq!(names(1), ["read_file", "search_tools", "forecast"]);
/// # Ok::<(), agcore_agent::AgentError>(())
/// # }).unwrap();
/// ```
#[derive(Clone)]
#[must_use]
pub struct ToolSearch {
    pub(super) threshold: u64,
    pub(super) max_results: usize,
    pub(super) list_tokens: u64,
    pinned: BTreeSet<String>,
    only: Option<Filter>,
}

/// Returns whether a tool may be left out of requests.
type Filter = Arc<dyn Fn(&RegisteredTool) -> bool + Send + Sync>;

impl ToolSearch {
    /// Leaves tools out of requests if their definitions have more than this number of tokens together, as the agent estimates it.
    /// Tools that are always offered do not count.
    ///
    /// Once a session has loaded a tool, it keeps its shorter list, even if there are fewer tools later.
    pub fn above_tokens(tokens: u64) -> Self {
        Self {
            threshold: tokens,
            max_results: 5,
            list_tokens: 4_000,
            pinned: BTreeSet::new(),
            only: None,
        }
    }

    /// Always offers the tool with this name.
    pub fn pin(mut self, name: impl Into<String>) -> Self {
        self.pinned.insert(name.into());
        self
    }

    /// Leaves out only tools that `accepts` accepts; by default, all that are not [pinned](Self::pin). Tools that ask other agents,
    /// `use_skill`, `update_state` and `read_result` are never left out.
    ///
    /// ```
    /// use agcore_agent::ToolSearch;
    ///
    /// // Tools of MCP servers have a category that names their server.
    /// let of_servers = |category: &str| category.starts_with("mcp:");
    /// let search = ToolSearch::above_tokens(10_000).only(move |tool| tool.category().is_some_and(of_servers));
    /// # let _ = search;
    /// ```
    pub fn only(mut self, accepts: impl Fn(&RegisteredTool) -> bool + Send + Sync + 'static) -> Self {
        self.only = Some(Arc::new(accepts));
        self
    }

    /// Sets the largest number of tools that a search by words loads, 5 by default.
    pub fn with_max_results(mut self, tools: usize) -> Self {
        self.max_results = tools.max(1);
        self
    }

    /// Sets the largest number of tokens of the list of names, 4000 by default. A list with a line of description for each tool
    /// that is longer has only names, and one with all names that is longer has as many as fit.
    pub fn with_list_tokens(mut self, tokens: u64) -> Self {
        self.list_tokens = tokens;
        self
    }

    /// Returns whether a tool may be left out of requests.
    pub(super) fn defers(&self, tool: &RegisteredTool) -> bool {
        let name = tool.name().as_str();
        let is_pinned = ALWAYS.contains(&name) || tool.category() == Some(CATEGORY) || self.pinned.contains(name);
        !is_pinned && self.only.as_ref().is_none_or(|only| only(tool))
    }
}

impl fmt::Debug for ToolSearch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolSearch")
            .field("threshold", &self.threshold)
            .field("pinned", &self.pinned)
            .field("max_results", &self.max_results)
            .field("list_tokens", &self.list_tokens)
            .finish_non_exhaustive()
    }
}
