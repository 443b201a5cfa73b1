//! [`RuntimeState`]: everything that a planner loop knows.

use agcore_chat::UsageTracker;
use agcore_files::{OriginFile, Preprocessed};
use serde::{Deserialize, Deserializer, Serialize, de::Error as _};
use serde_json::{Map, Value};

use super::{
    action::ActionRecord,
    error::{RuntimeStateError, RuntimeStateErrorKind},
    output::{MemoryHit, OutputPart},
    per_turn::PerTurn,
};
use crate::todo::TodoList;

/// The state of a planner loop over all turns of a conversation: plain data for checkpoints.
///
/// A new turn keeps the files, what was found in them, the memory, and the history of the turns before; its prompt, goals, todos,
/// actions and usage are its own. Messages are kept in a store, and the state has their ids.
///
/// ```
/// use agcore_flow_files::{ActionRecord, RuntimeState};
///
/// let mut state = RuntimeState::new();
/// state.begin_turn("Plan the garden");
/// let id = state.record(ActionRecord::new("planner").with_next("search"))?;
/// assert_eq!((state.turn(), id), (1, 1));
/// assert_eq!(state.next(), ["search"]);
///
/// let read = RuntimeState::from_json(serde_json::to_value(&state)?)?;
/// assert_eq!(read, state);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RuntimeState {
    #[serde(deserialize_with = "current_version")]
    version: u32,
    turn: u32,
    last_action: u64,
    /// The message of the user in each turn.
    #[serde(default)]
    pub prompts: PerTurn<String>,
    /// The facts that are known about the user; only members that are set.
    #[serde(default)]
    pub user_context: Map<String, Value>,
    /// The items that were recalled from memory.
    #[serde(default)]
    pub memory_hits: Vec<MemoryHit>,
    /// The style of the output, in words.
    #[serde(default)]
    pub output_style: Option<String>,
    /// The parts of the output.
    #[serde(default)]
    pub output_structure: Vec<OutputPart>,
    /// The scenario that was chosen.
    #[serde(default)]
    pub scenario: Option<String>,
    /// The goals of each turn.
    #[serde(default)]
    pub task_goals: PerTurn<Vec<String>>,
    /// The files that the user gave.
    #[serde(default)]
    pub origin_files: Vec<OriginFile>,
    /// The documents, tables and other files that were found in the files.
    #[serde(default)]
    pub preprocessed_files: Preprocessed,
    /// The todos of each turn.
    #[serde(default)]
    pub todos: PerTurn<TodoList>,
    /// The ids of the messages of the conversation.
    #[serde(default)]
    pub chat_history: Vec<String>,
    #[serde(default)]
    action_history: PerTurn<Vec<ActionRecord>>,
    #[serde(default)]
    usage: PerTurn<UsageTracker>,
}

impl RuntimeState {
    /// The version of the form in which states are written. Version 1 is the first.
    pub const VERSION: u32 = 1;

    /// Creates the state of a conversation without turns.
    pub fn new() -> Self {
        Self {
            version: Self::VERSION,
            turn: 0,
            last_action: 0,
            prompts: PerTurn::default(),
            user_context: Map::new(),
            memory_hits: Vec::new(),
            output_style: None,
            output_structure: Vec::new(),
            scenario: None,
            task_goals: PerTurn::default(),
            origin_files: Vec::new(),
            preprocessed_files: Preprocessed::new(),
            todos: PerTurn::default(),
            chat_history: Vec::new(),
            action_history: PerTurn::default(),
            usage: PerTurn::default(),
        }
    }

    /// Reads a stored state.
    ///
    /// # Errors
    /// When the state was written by a newer version, has no version, or does not have the form of its version.
    pub fn from_json(state: Value) -> Result<Self, RuntimeStateError> {
        let version = state.get("version").and_then(Value::as_u64).unwrap_or(0);
        if version > u64::from(Self::VERSION) {
            let message = format!(
                "the stored state has version {version}, and this program reads versions up to {}; update the program",
                Self::VERSION
            );
            return Err(RuntimeStateError::new(RuntimeStateErrorKind::NewerVersion, message));
        }
        if version == 0 {
            let message = "the stored state has no version; begin a new conversation";
            return Err(RuntimeStateError::new(RuntimeStateErrorKind::Invalid, message));
        }
        serde_json::from_value(upgraded(state, version, MIGRATIONS)).map_err(RuntimeStateError::invalid)
    }

    /// Begins a turn with the message of the user, and returns its number. The first turn is 1.
    ///
    /// The output of the turn before, its style and its scenario do not apply any more.
    pub fn begin_turn(&mut self, prompt: impl Into<String>) -> u32 {
        self.turn = self.turn.saturating_add(1);
        self.prompts.insert(self.turn, prompt.into());
        self.output_style = None;
        self.output_structure.clear();
        self.scenario = None;
        self.turn
    }

    /// Returns the number of the turn; 0 if none has started.
    pub fn turn(&self) -> u32 {
        self.turn
    }

    /// Returns the message of the user in this turn.
    pub fn prompt(&self) -> Option<&str> {
        self.prompts.get(self.turn).map(String::as_str)
    }

    /// Adds the record of an action to this turn, with its usage, and returns its id: one more than that of the last record of
    /// the conversation.
    ///
    /// # Errors
    /// When no turn has started.
    pub fn record(&mut self, mut action: ActionRecord) -> Result<u64, RuntimeStateError> {
        if self.turn == 0 {
            let message = "no turn has started; call `begin_turn` first";
            return Err(RuntimeStateError::new(RuntimeStateErrorKind::NoTurn, message));
        }
        self.last_action = self.last_action.saturating_add(1);
        action.id = self.last_action;
        self.usage.entry(self.turn).merge(&action.usage);
        self.action_history.entry(self.turn).push(action);
        Ok(self.last_action)
    }

    /// Returns the records of each turn.
    pub fn action_history(&self) -> &PerTurn<Vec<ActionRecord>> {
        &self.action_history
    }

    /// Returns the model calls of each turn.
    pub fn usage(&self) -> &PerTurn<UsageTracker> {
        &self.usage
    }

    /// Returns the last record of this turn.
    pub fn last_action(&self) -> Option<&ActionRecord> {
        self.action_history.get(self.turn)?.last()
    }

    /// Returns the arguments of the calls that the planner prepared for the tool that runs now.
    pub fn prepared_calls(&self) -> &[Value] {
        let prepared = self.last_action().and_then(|action| action.result.get("calls"));
        prepared.and_then(Value::as_array).map_or(&[], Vec::as_slice)
    }

    /// Continues a conversation: what its earlier turns left behind comes before this turn, whose actions are numbered anew. A file
    /// that has the name of an earlier one replaces it.
    ///
    /// ```
    /// use agcore_flow_files::{ActionRecord, RuntimeState};
    ///
    /// let mut earlier = RuntimeState::new();
    /// earlier.begin_turn("Plan the garden");
    /// earlier.record(ActionRecord::new("planner"))?;
    ///
    /// let mut state = RuntimeState::new();
    /// state.begin_turn("Now the flowers");
    /// state.record(ActionRecord::new("initialise"))?;
    /// state.inherit(earlier);
    /// assert_eq!((state.turn(), state.prompt()), (2, Some("Now the flowers")));
    /// assert_eq!(state.last_action().map(|action| action.id), Some(2));
    /// # Ok::<(), agcore_flow_files::RuntimeStateError>(())
    /// ```
    pub fn inherit(&mut self, earlier: Self) {
        let own = std::mem::replace(self, earlier);
        for (turn, prompt) in own.prompts.iter() {
            self.begin_turn(prompt.as_str());
            for action in own.action_history.get(turn).into_iter().flatten() {
                // A turn has just started, so nothing can go wrong.
                let _ = self.record(action.clone());
            }
            self.task_goals
                .extend(own.task_goals.get(turn).map(|goals| (self.turn, goals.clone())));
            self.todos
                .extend(own.todos.get(turn).map(|todos| (self.turn, todos.clone())));
        }
        let is_new = |name: &str| own.origin_files.iter().any(|file| file.name == name);
        let found = &mut self.preprocessed_files;
        found.documents.retain(|document| !is_new(&document.name));
        found.tables.retain(|table| !is_new(&table.name));
        found.other_files.retain(|other| !is_new(&other.file.name));
        found.warnings.retain(|warning| !is_new(warning.file()));
        self.origin_files.retain(|file| !is_new(&file.name));
        self.origin_files.extend(own.origin_files);
        found.append(own.preprocessed_files);
        self.output_style = own.output_style;
        self.output_structure = own.output_structure;
        let new = own.chat_history.into_iter();
        let new: Vec<String> = new.filter(|id| !self.chat_history.contains(id)).collect();
        self.chat_history.extend(new);
    }

    /// Returns the names of the nodes that come next, by the last record of this turn.
    pub fn next(&self) -> &[String] {
        self.last_action().map_or(&[], |action| action.next.as_slice())
    }
}

/// The steps from each version to the next, beginning with version 1.
const MIGRATIONS: &[fn(&mut Value)] = &[];

/// Carries out the steps from a version to the current one.
fn upgraded(mut state: Value, version: u64, steps: &[fn(&mut Value)]) -> Value {
    let done = usize::try_from(version.saturating_sub(1)).unwrap_or(usize::MAX);
    for (number, step) in steps.iter().enumerate().skip(done) {
        step(&mut state);
        state["version"] = Value::from(number + 2);
    }
    state
}

/// Refuses states of other versions: [`RuntimeState::from_json`] upgrades them.
fn current_version<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
    let version = u32::deserialize(deserializer)?;
    if version == RuntimeState::VERSION {
        return Ok(version);
    }
    let message = format!(
        "the state has version {version}, and version {} is expected",
        RuntimeState::VERSION
    );
    Err(D::Error::custom(message))
}

impl Default for RuntimeState {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn each_state_goes_through_the_steps_that_it_needs() {
        let steps: [fn(&mut Value); 2] = [|state| state["two"] = json!(1), |state| state["three"] = json!(1)];
        let upgrade = |version: u64| upgraded(json!({"version": version}), version, &steps);
        assert_eq!(upgrade(1), json!({"version": 3, "two": 1, "three": 1}));
        assert_eq!(upgrade(2), json!({"version": 3, "three": 1}));
        assert_eq!(upgrade(3), json!({"version": 3}));
        // The last step leads to the version of this program.
        assert_eq!(MIGRATIONS.len() + 1, usize::try_from(RuntimeState::VERSION).unwrap());
    }
}
