//! [`TodoList`]: todos, and which of them are next.

use std::{
    cmp::Reverse,
    collections::{BTreeSet, HashMap},
};

use agcore_session::Timestamp;
use serde::{Deserialize, Serialize};

use super::{
    error::{TodoError, TodoErrorKind},
    graph::longest_chains,
    item::{CompletionDetails, Todo, TodoAttempt, TodoStatus},
};

/// The place in the order: the longest chain first, then the larger priority, then the order of the list.
type Rank = (Reverse<u32>, Reverse<i32>, usize);

/// The result of a failed attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum TodoOutcome {
    /// The todo is pending again.
    Retry,
    /// The todo has failed, and so have these todos, which depend on it.
    Failed {
        /// The ids, in the order of the list.
        dependants: Vec<String>,
    },
}

/// Todos with dependencies, and the order in which they are carried out.
///
/// A todo is ready when all todos on which it depends are completed and its `retry_after` has passed. Of those that are ready,
/// the one with the longest chain of dependants comes first, then the one with the larger priority, then the one that was
/// added first. A todo whose retries are used up fails, and so does everything that depends on it.
///
/// The list is data: it is serialized as the list of its todos and checked when it is read.
///
/// ```
/// use agcore_flow_files::{CompletionDetails, Todo, TodoList};
/// use agcore_session::Timestamp;
///
/// let now = Timestamp::from_millis(0);
/// let mut todos = TodoList::new(vec![
///     Todo::new("rest", "Rest").with_priority(9),
///     Todo::new("plant", "Plant the beans").with_dependency("dig"),
///     Todo::new("dig", "Dig the bed"),
/// ])?;
/// let ready: Vec<&str> = todos.ready(now).map(|todo| todo.id.as_str()).collect();
/// assert_eq!(ready, ["dig", "rest"]);
///
/// todos.start("dig", now)?;
/// todos.complete("dig", CompletionDetails::new(now, "dug"))?;
/// assert_eq!(todos.ready(now).count(), 2);
///
/// let error = TodoList::new(vec![
///     Todo::new("a", "").with_dependency("b"),
///     Todo::new("b", "").with_dependency("a"),
/// ]);
/// assert!(error.unwrap_err().to_string().contains("in a cycle"));
/// # Ok::<(), agcore_flow_files::TodoError>(())
/// ```
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(try_from = "Vec<Todo>", into = "Vec<Todo>")]
pub struct TodoList {
    todos: Vec<Todo>,
    numbers: HashMap<String, usize>,
    dependants: Vec<Vec<usize>>,
    /// How many dependencies of each todo are not completed.
    open: Vec<usize>,
    /// Pending todos whose dependencies are completed.
    ready: BTreeSet<Rank>,
}

impl TodoList {
    /// Creates a list.
    ///
    /// # Errors
    /// When two todos have the same id, a dependency does not exist, or there is a cycle.
    pub fn new(todos: Vec<Todo>) -> Result<Self, TodoError> {
        let mut numbers = HashMap::with_capacity(todos.len());
        for (number, todo) in todos.iter().enumerate() {
            if numbers.insert(todo.id.clone(), number).is_some() {
                return Err(TodoError::new(TodoErrorKind::Duplicate(todo.id.clone())));
            }
        }
        let mut dependencies = Vec::with_capacity(todos.len());
        for todo in &todos {
            dependencies.push(dependencies_of(todo, &numbers)?);
        }
        let lengths = longest_chains(&dependencies).map_err(|cycle| {
            let ids = cycle.into_iter().map(|number| todos[number].id.clone());
            TodoError::new(TodoErrorKind::Cycle(ids.collect()))
        })?;
        let mut list = Self {
            dependants: vec![Vec::new(); todos.len()],
            open: vec![0; todos.len()],
            ready: BTreeSet::new(),
            numbers,
            todos,
        };
        for (todo, length) in list.todos.iter_mut().zip(lengths) {
            todo.critical_path_length = length;
        }
        for (number, dependencies) in dependencies.into_iter().enumerate() {
            for dependency in dependencies {
                list.dependants[dependency].push(number);
                list.open[number] += usize::from(list.todos[dependency].status != TodoStatus::Completed);
            }
            list.update_ready(number);
        }
        Ok(list)
    }

    /// Adds todos, which may depend on those of the list and on each other.
    ///
    /// # Errors
    /// As for [`new`](Self::new), and when a new todo depends on one that failed, was skipped or was cancelled.
    pub fn add(&mut self, todos: Vec<Todo>) -> Result<(), TodoError> {
        for todo in &todos {
            let statuses = todo.dependencies.iter().filter_map(|id| Some(self.get(id)?.status));
            if statuses
                .into_iter()
                .any(|status| status.is_final() && status != TodoStatus::Completed)
            {
                let rule = "it depends on a todo that will not be completed; remove the dependency";
                return Err(TodoError::invalid_change(&todo.id, rule));
            }
        }
        let all = self.todos.iter().cloned().chain(todos);
        *self = Self::new(all.collect())?;
        Ok(())
    }

    /// Returns all todos, in the order in which they were added.
    pub fn todos(&self) -> &[Todo] {
        &self.todos
    }

    /// Returns a todo.
    pub fn get(&self, id: &str) -> Option<&Todo> {
        self.numbers.get(id).map(|number| &self.todos[*number])
    }

    /// Returns the todos that can be started now, the most urgent first.
    pub fn ready(&self, now: Timestamp) -> impl Iterator<Item = &Todo> {
        let ready = self.ready.iter().map(|(_, _, number)| &self.todos[*number]);
        ready.filter(move |todo| is_due(todo, now))
    }

    /// Returns the earliest moment at which a todo becomes ready without any change of the list, if there is one.
    pub fn next_retry(&self, now: Timestamp) -> Option<Timestamp> {
        let waiting = self
            .ready
            .iter()
            .filter_map(|(_, _, number)| self.todos[*number].retry_after);
        waiting.filter(|after| *after > now).min()
    }

    /// Returns whether no todo will change any more.
    pub fn is_finished(&self) -> bool {
        self.todos.iter().all(|todo| todo.status.is_final())
    }

    /// Marks a todo as being carried out.
    ///
    /// # Errors
    /// When there is no such todo, or it is not ready.
    pub fn start(&mut self, id: &str, now: Timestamp) -> Result<(), TodoError> {
        let number = self.number(id)?;
        if !self.ready.contains(&self.rank(number)) || !is_due(&self.todos[number], now) {
            return Err(TodoError::invalid_change(
                id,
                "it is not ready; start a todo that `ready` returns",
            ));
        }
        self.set_status(number, TodoStatus::Processing);
        Ok(())
    }

    /// Marks a todo that is being carried out as completed.
    ///
    /// # Errors
    /// When there is no such todo, or it is not being carried out.
    pub fn complete(&mut self, id: &str, details: CompletionDetails) -> Result<(), TodoError> {
        let number = self.processing(id)?;
        let todo = &mut self.todos[number];
        todo.completion_details = Some(details);
        todo.retry_after = None;
        self.set_status(number, TodoStatus::Completed);
        for dependant in self.dependants[number].clone() {
            self.open[dependant] -= 1;
            self.update_ready(dependant);
        }
        Ok(())
    }

    /// Records that an attempt failed. The todo is tried again after the given moment, or has failed if its retries are used
    /// up; then everything that depends on it has failed as well, with the reason in its history.
    ///
    /// # Errors
    /// When there is no such todo, or it is not being carried out.
    pub fn fail(
        &mut self,
        id: &str,
        mut attempt: TodoAttempt,
        retry_after: Option<Timestamp>,
    ) -> Result<TodoOutcome, TodoError> {
        let number = self.processing(id)?;
        let todo = &mut self.todos[number];
        attempt.attempt = todo.retry.saturating_add(1);
        attempt.retry_count = todo.retry;
        let (timestamp, reason) = (attempt.timestamp, attempt.error.clone());
        todo.error_history.push(attempt);
        if todo.retry < todo.max_retry {
            todo.retry += 1;
            todo.retry_after = retry_after;
            self.set_status(number, TodoStatus::Pending);
            return Ok(TodoOutcome::Retry);
        }
        let dependants = self.close(number, TodoStatus::Failed, timestamp, &format!("failed: {reason}"));
        Ok(TodoOutcome::Failed { dependants })
    }

    /// Skips a todo that is not needed, and everything that depends on it. Returns the ids of the latter.
    ///
    /// # Errors
    /// When there is no such todo, or it will not change any more.
    pub fn skip(&mut self, id: &str, now: Timestamp) -> Result<Vec<String>, TodoError> {
        let number = self.unfinished(id)?;
        Ok(self.close(number, TodoStatus::Skipped, now, "was skipped"))
    }

    /// Cancels a todo and everything that depends on it. Returns the ids of the latter.
    ///
    /// # Errors
    /// When there is no such todo, or it will not change any more.
    pub fn cancel(&mut self, id: &str, now: Timestamp) -> Result<Vec<String>, TodoError> {
        let number = self.unfinished(id)?;
        Ok(self.close(number, TodoStatus::Cancelled, now, "was cancelled"))
    }

    /// Makes todos pending again that were being carried out when a run ended, so that a resumed run starts them again.
    pub fn reset_processing(&mut self) {
        for number in 0..self.todos.len() {
            if self.todos[number].status == TodoStatus::Processing {
                self.set_status(number, TodoStatus::Pending);
            }
        }
    }

    /// Ends a todo and all unfinished todos that depend on it, and returns the ids of the latter.
    fn close(&mut self, number: usize, status: TodoStatus, now: Timestamp, reason: &str) -> Vec<String> {
        self.set_status(number, status);
        let error = format!("the todo {:?}, on which it depends, {reason}", self.todos[number].id);
        let mut closed = BTreeSet::new();
        let mut stack = self.dependants[number].clone();
        while let Some(dependant) = stack.pop() {
            if self.todos[dependant].status.is_final() {
                continue;
            }
            self.set_status(dependant, status);
            self.todos[dependant]
                .error_history
                .push(TodoAttempt::new(now, error.clone()));
            closed.insert(dependant);
            stack.extend(&self.dependants[dependant]);
        }
        closed.into_iter().map(|number| self.todos[number].id.clone()).collect()
    }

    fn set_status(&mut self, number: usize, status: TodoStatus) {
        self.todos[number].status = status;
        self.update_ready(number);
    }

    fn update_ready(&mut self, number: usize) {
        let rank = self.rank(number);
        if self.open[number] == 0 && self.todos[number].status == TodoStatus::Pending {
            self.ready.insert(rank);
        } else {
            self.ready.remove(&rank);
        }
    }

    fn rank(&self, number: usize) -> Rank {
        let todo = &self.todos[number];
        (Reverse(todo.critical_path_length), Reverse(todo.priority), number)
    }

    fn number(&self, id: &str) -> Result<usize, TodoError> {
        let number = self.numbers.get(id).copied();
        number.ok_or_else(|| TodoError::new(TodoErrorKind::Unknown(id.to_owned())))
    }

    fn processing(&self, id: &str) -> Result<usize, TodoError> {
        let number = self.number(id)?;
        if self.todos[number].status != TodoStatus::Processing {
            return Err(TodoError::invalid_change(
                id,
                "it is not being carried out; start it first",
            ));
        }
        Ok(number)
    }

    fn unfinished(&self, id: &str) -> Result<usize, TodoError> {
        let number = self.number(id)?;
        if self.todos[number].status.is_final() {
            return Err(TodoError::invalid_change(id, "it has ended; add a new todo instead"));
        }
        Ok(number)
    }
}

impl TryFrom<Vec<Todo>> for TodoList {
    type Error = TodoError;

    fn try_from(todos: Vec<Todo>) -> Result<Self, TodoError> {
        Self::new(todos)
    }
}

impl From<TodoList> for Vec<Todo> {
    fn from(list: TodoList) -> Self {
        list.todos
    }
}

/// Two lists are equal if their todos are; everything else follows from these.
impl PartialEq for TodoList {
    fn eq(&self, other: &Self) -> bool {
        self.todos == other.todos
    }
}

impl Eq for TodoList {}

fn is_due(todo: &Todo, now: Timestamp) -> bool {
    todo.retry_after.is_none_or(|after| after <= now)
}

/// Returns the numbers of the dependencies of a todo, each once.
fn dependencies_of(todo: &Todo, numbers: &HashMap<String, usize>) -> Result<Vec<usize>, TodoError> {
    let found = todo.dependencies.iter().map(|dependency| {
        numbers.get(dependency).copied().ok_or_else(|| {
            TodoError::new(TodoErrorKind::UnknownDependency {
                todo: todo.id.clone(),
                dependency: dependency.clone(),
            })
        })
    });
    let found: BTreeSet<usize> = found.collect::<Result<_, _>>()?;
    Ok(found.into_iter().collect())
}
