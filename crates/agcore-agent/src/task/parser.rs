//! [`PlanParser`]: reads plans that a model wrote; [`JsonPlanParser`]: the usual one.

use std::collections::HashMap;

use agcore_chat::text::clip;
use serde_json::{Map, Value};

use crate::plan::{PlanError, Step};

/// The largest number of places at which JSON is looked for.
const MAX_PLACES: usize = 200;
/// The largest number of mistakes that are reported.
const MAX_PROBLEMS: usize = 10;
/// The longest part of a value that is quoted, in bytes.
const QUOTED_BYTES: usize = 40;

/// Reads plans that a model wrote. [`JsonPlanParser`] is the usual one.
///
/// ```
/// use agcore_agent::{PlanError, PlanParser, Step};
///
/// /// One step per line, each after the one before.
/// struct Lines;
///
/// impl PlanParser for Lines {
///     fn instructions(&self) -> String {
///         "Write one step per line, and nothing else.".to_owned()
///     }
///
///     fn parse(&self, text: &str) -> Result<Vec<Step>, PlanError> {
///         let lines = text.lines().enumerate();
///         Ok(lines.map(|(index, line)| Step::new(index, line).with_dependencies(index.checked_sub(1))).collect())
///     }
/// }
///
/// let steps = Lines.parse("Boil water.\nMake tea.")?;
/// assert_eq!(steps[1].depends_on, [0]);
/// # Ok::<(), PlanError>(())
/// ```
pub trait PlanParser: Send + Sync {
    /// Describes, for the model, the form in which it writes a plan.
    fn instructions(&self) -> String;

    /// Reads the steps of a plan. The text comes from a model, so it may be anything.
    ///
    /// # Errors
    /// What is missing or wrong. The model sees the error and may correct the plan.
    fn parse(&self, text: &str) -> Result<Vec<Step>, PlanError>;
}

/// Reads plans in JSON: alone, in a fenced code block, or within prose.
///
/// ```
/// use agcore_agent::{JsonPlanParser, PlanError, PlanParser};
///
/// let steps = JsonPlanParser::new().parse(
///     "Here is my plan:\n```json\n{\"steps\": [\n  {\"id\": 1, \"description\": \"Boil water.\"},\n  \
///      {\"id\": 2, \"description\": \"Make tea.\", \"depends_on\": [1]}\n]}\n```\nShall I begin?",
/// )?;
/// assert_eq!((steps.len(), &*steps[1].depends_on), (2, &[0][..]));
///
/// let error = JsonPlanParser::new().parse(r#"{"steps": [{"depends_on": [7]}]}"#).unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "the text contains no usable plan: step 1 has no `description`; step 1 depends on 7, which is not the id of a step"
/// );
/// # Ok::<(), PlanError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub struct JsonPlanParser {
    max_steps: usize,
}

impl Default for JsonPlanParser {
    fn default() -> Self {
        Self::new()
    }
}

impl JsonPlanParser {
    /// Creates a parser of plans with up to 100 steps.
    pub const fn new() -> Self {
        Self { max_steps: 100 }
    }

    /// Sets the largest number of steps.
    pub const fn with_max_steps(mut self, steps: usize) -> Self {
        self.max_steps = steps;
        self
    }
}

impl PlanParser for JsonPlanParser {
    fn instructions(&self) -> String {
        format!(
            "Answer with JSON only, in this form:\n\
             {{\"steps\": [{{\"id\": 1, \"description\": \"…\", \"depends_on\": [], \"tools\": [\"…\"], \
             \"success_criteria\": \"…\"}}]}}\n\
             `depends_on` contains the ids of the steps whose results a step needs; steps that do not depend on each other may \
             run at the same time. `tools` and `success_criteria` are optional. Use at most {} steps.",
            self.max_steps
        )
    }

    fn parse(&self, text: &str) -> Result<Vec<Step>, PlanError> {
        let Some(found) = find(text) else {
            let problem = if text.trim().is_empty() {
                "it is empty"
            } else {
                "it contains no JSON object with a list `steps`"
            };
            return Err(PlanError::unreadable([problem]));
        };
        if found.is_empty() {
            return Err(PlanError::Empty);
        }
        if found.len() > self.max_steps {
            return Err(PlanError::TooLong {
                steps: found.len(),
                limit: self.max_steps,
            });
        }
        let mut problems = Vec::new();
        let ids = ids(&found, &mut problems);
        let steps: Vec<Step> = found
            .iter()
            .enumerate()
            .map(|(index, step)| read(index, step, &ids, &mut problems))
            .collect();
        if problems.is_empty() {
            return Ok(steps);
        }
        let more = problems.len().saturating_sub(MAX_PROBLEMS);
        problems.truncate(MAX_PROBLEMS);
        if more > 0 {
            problems.push(format!("and {more} more"));
        }
        Err(PlanError::Unreadable { problems })
    }
}

/// Returns the steps of the first plan in a text.
fn find(text: &str) -> Option<Vec<Value>> {
    let places = text.char_indices().filter(|(_, char)| matches!(char, '{' | '['));
    let mut end = 0;
    for (at, _) in places.take(MAX_PLACES) {
        if at < end {
            // Inside of JSON that is not a plan.
            continue;
        }
        let mut values = serde_json::Deserializer::from_str(&text[at..]).into_iter::<Value>();
        let Some(Ok(value)) = values.next() else {
            continue;
        };
        if let Some(steps) = steps_of(value) {
            return Some(steps);
        }
        end = at + values.byte_offset();
    }
    None
}

/// Returns the steps of a value, if it is a plan.
fn steps_of(value: Value) -> Option<Vec<Value>> {
    match value {
        Value::Object(mut plan) => match plan.remove("steps").or_else(|| plan.remove("plan")) {
            Some(Value::Array(steps)) => Some(steps),
            Some(inner @ Value::Object(_)) => steps_of(inner),
            _ => None,
        },
        // A list of steps without an object around it; not just any list.
        Value::Array(steps) => {
            let is_step = |step: &Value| step.get("description").is_some();
            steps.first().is_some_and(is_step).then_some(steps)
        }
        _ => None,
    }
}

/// Returns the index of each step by its id. A step without an id has its number, from 1.
fn ids(steps: &[Value], problems: &mut Vec<String>) -> HashMap<String, usize> {
    let mut ids = HashMap::new();
    for (index, step) in steps.iter().enumerate() {
        let id = step.get("id").or_else(|| step.get("index"));
        let id = id.and_then(name).unwrap_or_else(|| (index + 1).to_string());
        if ids.insert(id.clone(), index).is_some() {
            problems.push(format!("two steps have the id {}", clip(&id, QUOTED_BYTES)));
        }
    }
    ids
}

/// Returns an id as text.
fn name(id: &Value) -> Option<String> {
    match id {
        Value::String(text) if !text.trim().is_empty() => Some(text.trim().to_owned()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

fn read(index: usize, step: &Value, ids: &HashMap<String, usize>, problems: &mut Vec<String>) -> Step {
    let number = index + 1;
    let empty = Map::new();
    let members = match step {
        Value::String(description) if !description.trim().is_empty() => {
            return Step::new(index, description.trim());
        }
        Value::Object(members) => members,
        _ => {
            problems.push(format!("step {number} is not an object"));
            &empty
        }
    };
    let text = |member: &str| {
        members
            .get(member)
            .and_then(Value::as_str)
            .map(str::trim)
            .filter(|text| !text.is_empty())
    };
    if text("description").is_none() && !members.is_empty() {
        problems.push(format!("step {number} has no `description`"));
    }
    let mut result = Step::new(index, text("description").unwrap_or_default());
    result.success_criteria = text("success_criteria").map(str::to_owned);
    for dependency in list(members, "depends_on", number, problems) {
        match name(dependency).as_ref().and_then(|id| ids.get(id)) {
            Some(known) if !result.depends_on.contains(known) => result.depends_on.push(*known),
            Some(_) => {}
            None => {
                let id = dependency.to_string();
                let id = clip(&id, QUOTED_BYTES);
                problems.push(format!("step {number} depends on {id}, which is not the id of a step"));
            }
        }
    }
    let tools = list(members, "tools", number, problems);
    result.tools = tools.iter().filter_map(Value::as_str).map(str::to_owned).collect();
    result
}

/// Returns the elements of a list, which may be missing.
fn list<'a>(members: &'a Map<String, Value>, name: &str, step: usize, problems: &mut Vec<String>) -> &'a [Value] {
    match members.get(name) {
        None | Some(Value::Null) => &[],
        Some(Value::Array(values)) => values,
        Some(_) => {
            problems.push(format!("`{name}` of step {step} is not a list"));
            &[]
        }
    }
}
