//! Arguments with which people replace those of calls.

use agcore_chat::{Answer, Question};
use agcore_session::Approval;
use serde_json::{Map, Value};

use crate::{
    problem::Problem,
    run::RunInput,
    service::{agents::Work, state::Service},
};

impl Service {
    /// Checks arguments that people have edited with the schemas of their tools, as the call that gets them does once more: its
    /// turn would continue with an error otherwise. Tools that are not among those of the agent, such as those of its sub-agents,
    /// are left to the call.
    ///
    /// # Errors
    /// `invalid_request` with all violations.
    pub(super) fn check_edits(
        &self,
        agent: Option<&str>,
        input: &RunInput,
        approvals: &[Approval],
    ) -> Result<(), Problem> {
        for (question, arguments) in edits(input) {
            let asked = approvals.iter().find(|approval| approval.id == question);
            let asked = asked.and_then(|approval| serde_json::from_value::<Question>(approval.question.clone()).ok());
            let Some(asked) = asked else { continue };
            let tools = match &self.agents.choose(agent)?.work {
                Work::Agent(agent) => Some(agent.bundle.tools()),
                Work::Flow(flow) => flow.builder().map(|builder| builder.bundle().tools()),
            };
            let Some(tool) = tools.and_then(|tools| tools.get(&asked.tool)) else {
                continue;
            };
            tool.check_edited(arguments).map_err(|error| {
                let violations: Vec<String> = error.violations().iter().map(ToString::to_string).collect();
                let reasons = match violations.is_empty() {
                    true => error.message().to_owned(),
                    false => violations.join("; "),
                };
                Problem::invalid(format!(
                    "the edited arguments are not valid for the tool `{}`: {reasons}; correct them, and answer again",
                    asked.tool
                ))
            })?;
        }
        Ok(())
    }
}

/// Returns the arguments that people have edited, with the ids of the questions.
fn edits(input: &RunInput) -> impl Iterator<Item = (String, Map<String, Value>)> {
    let of_agent = input
        .answers
        .iter()
        .map(|given| (given.question.to_string(), given.answer.clone()));
    let of_flow = input.flow.iter().flat_map(|flow| &flow.answers).filter_map(|given| {
        let answer: Answer = serde_json::from_value(given.answer.clone()).ok()?;
        Some((given.question.clone(), answer))
    });
    of_agent.chain(of_flow).filter_map(|(question, answer)| match answer {
        Answer::Approve { arguments, .. } => Some((question, arguments?)),
        _ => None,
    })
}
