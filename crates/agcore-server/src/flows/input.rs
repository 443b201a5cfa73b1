//! [`FlowInput`]: the part of the input of a run that only flows have.

use std::collections::BTreeMap;

use agcore_files::OriginFile;
use agcore_flow_files::{FlowFile, FlowRequest, Job};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::problem::Problem;

/// The part of the input of a run that only flows have: a request, or answers to an earlier run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct FlowInput {
    /// The request with which a flow begins.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) request: Option<FlowRequest>,
    /// The place at which the flow continues.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) place: Option<FlowPlace>,
    /// The answers with which it continues.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) answers: Vec<FlowAnswer>,
}

/// The place that a flow had reached when its run ended. It is stored as the outcome of the run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct FlowPlace {
    /// The run to which the checkpoints belong.
    pub(crate) run: String,
    /// The sessions in which the agents of the flow work, each with the number of the last event that clients have.
    #[serde(default)]
    pub(crate) stages: BTreeMap<String, u64>,
    /// The number of the last record that clients have.
    #[serde(default)]
    pub(crate) records: u64,
    /// The calls that nodes have made themselves, each with what clients have of it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) calls: BTreeMap<String, u64>,
}

/// An answer to a question of a flow.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct FlowAnswer {
    /// The id of the question in the session.
    pub(crate) question: String,
    /// The id of the question within the flow.
    pub(crate) interrupt: String,
    /// The answer in the form that the node expects.
    pub(crate) answer: Value,
}

/// The values that a client may send to a flow besides its message.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct FlowValues {
    pub(crate) job: Option<Value>,
    pub(crate) variables: Option<Value>,
    /// The state of the client, whose members are the variables that are not sent as such.
    pub(crate) state: Option<Value>,
    /// The files, which belong to the user.
    pub(crate) files: Vec<OriginFile>,
}

impl FlowInput {
    /// Returns the input with which a flow begins. That of a file takes the variables that the file declares, others take any.
    ///
    /// # Errors
    /// `invalid_request` if the values do not have the form that the flow expects.
    pub(crate) fn new(file: Option<&FlowFile>, text: String, values: &FlowValues) -> Result<Self, Problem> {
        let mut variables: Map<String, Value> = match &values.variables {
            None => Map::new(),
            Some(Value::Object(variables)) => variables.clone(),
            Some(_) => return Err(Problem::invalid("`forwardedProps.variables` must be an object")),
        };
        if let Some(file) = file {
            add_members(file, values.state.as_ref(), &mut variables);
            check_variables(file, &variables)?;
        }
        let mut request = FlowRequest::new(text);
        request.variables = variables;
        if let Some(job) = &values.job {
            let job = Job::deserialize(job).map_err(|_| {
                Problem::invalid(
                    "`forwardedProps.job` must be an object with `enabled_skills`, a list of names, and `context`, a number",
                )
            })?;
            request = request.with_job(job);
        }
        request.files.clone_from(&values.files);
        Ok(Self {
            request: Some(request),
            place: None,
            answers: Vec::new(),
        })
    }

    /// Returns the input with which a flow continues after its questions were answered.
    pub(crate) fn answering(place: FlowPlace, answers: Vec<FlowAnswer>) -> Self {
        Self {
            request: None,
            place: Some(place),
            answers,
        }
    }
}

/// Takes variables that a file declares from a state.
fn add_members(file: &FlowFile, state: Option<&Value>, variables: &mut Map<String, Value>) {
    for name in &*file.variables {
        if let (false, Some(value)) = (variables.contains_key(name), state.and_then(|state| state.get(name))) {
            variables.insert(name.clone(), value.clone());
        }
    }
}

/// Checks that a client sends the variables that a file declares, and no others.
fn check_variables(file: &FlowFile, variables: &Map<String, Value>) -> Result<(), Problem> {
    if let Some(missing) = file.variables.iter().find(|name| !variables.contains_key(*name)) {
        return Err(Problem::invalid(format!(
            "the flow needs the variable {missing:?}; send it in `forwardedProps.variables` or as a member of `state`"
        )));
    }
    match variables.keys().find(|name| !file.variables.contains(name)) {
        Some(unknown) => Err(Problem::invalid(format!(
            "`forwardedProps.variables` has {unknown:?}, which the flow does not declare; remove it"
        ))),
        None => Ok(()),
    }
}

impl FlowPlace {
    /// Returns the place of a flow that begins with a run.
    pub(crate) fn beginning(run: &str) -> Self {
        Self {
            run: run.to_owned(),
            ..Self::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn file() -> FlowFile {
        let text = "
version: 1
kind: graph
variables: [tone]
nodes: {answer: {}}
edges: [{from: answer, to: end}]
agents: {helper: {role: You help., goal: Help well., backstory: ''}}
tasks: {answer: {agent: helper, description: '{{request}} {{tone}}', expected_output: An answer.}}
";
        FlowFile::parse("help.flow.yaml", text, |_| Err("there are no other files".into())).unwrap()
    }

    fn values(job: Value, variables: Value) -> FlowValues {
        let some = |value: Value| Some(value).filter(|value| !value.is_null());
        FlowValues {
            job: some(job),
            variables: some(variables),
            state: None,
            files: Vec::new(),
        }
    }

    #[test]
    fn values_become_a_request() {
        let values = values(
            json!({"enabled_skills": ["reports"], "context": 3}),
            json!({"tone": "calm"}),
        );
        let input = FlowInput::new(Some(&file()), "Tea?".into(), &values).unwrap();
        let job = Job::new(["reports"]).with_context(3);
        let request = FlowRequest::new("Tea?").with_variable("tone", "calm").with_job(job);
        assert_eq!(input.request, Some(request));
        let stored = serde_json::to_value(&input).unwrap();
        assert_eq!(serde_json::from_value::<FlowInput>(stored).unwrap(), input);
    }

    #[test]
    fn members_of_the_state_are_variables() {
        let variables = |variables: Value, state: Value| {
            let values = FlowValues {
                state: Some(state),
                ..values(Value::Null, variables)
            };
            let input = FlowInput::new(Some(&file()), "Tea?".into(), &values);
            input.map(|input| Value::Object(input.request.unwrap().variables))
        };
        let state = json!({"tone": "calm", "other": 1});
        assert_eq!(variables(Value::Null, state.clone()).unwrap(), json!({"tone": "calm"}));
        assert_eq!(
            variables(json!({"tone": "loud"}), state).unwrap(),
            json!({"tone": "loud"})
        );
        assert!(variables(Value::Null, json!(["tone"])).is_err());
    }

    #[test]
    fn values_of_another_form_are_refused() {
        let check = |job: Value, variables: Value, expected: &str| {
            let problem = FlowInput::new(Some(&file()), String::new(), &values(job, variables)).unwrap_err();
            assert!(problem.to_string().contains(expected), "{problem}");
        };
        check(Value::Null, Value::Null, "needs the variable \"tone\"");
        check(Value::Null, json!([1]), "must be an object");
        check(Value::Null, json!({"tone": 1, "x": 2}), "\"x\"");
        check(json!({"context": -1}), json!({"tone": 1}), "`forwardedProps.job`");
        check(json!({"secret": 1}), json!({"tone": 1}), "`forwardedProps.job`");
    }
}
