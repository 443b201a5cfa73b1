//! The requests to planners and workers.

use std::fmt::Write as _;

use crate::{
    data_text::escaped,
    plan::{Plan, Step, StepStatus},
};

/// The start of an answer by which a worker reports that a step cannot be carried out.
pub(super) const FAILED: &str = "FAILED:";

/// The longest result that others see, in bytes.
const RESULT_BYTES: usize = 16 * 1024;

/// Returns the system prompt of the planner.
pub(super) fn planner(instructions: &str) -> String {
    format!(
        "You break goals down into plans. Each step is carried out by an agent with tools, which sees the goal, the step and the \
         results of the steps it depends on, but nothing else. Use few steps; a simple goal needs only one. Do not add a step \
         that only collects the results: that is done anyway.\n\n{instructions}"
    )
}

/// Returns the request for a plan.
pub(super) fn plan(goal: &str, tools: &[String], failed: &[Plan]) -> String {
    let mut text = format!("Goal: {goal}\n");
    if !tools.is_empty() {
        // Writing to a String cannot fail.
        let _ = write!(text, "\nTools of the agents: {}\n", tools.join(", "));
    }
    for plan in failed {
        text.push_str(
            "\nAn earlier plan did not reach the goal. Make a new plan for what is left to do, in another way:\n",
        );
        for step in plan.steps() {
            let _ = write!(text, "- {} ({})", step.description, step.status());
            if let Some(reason) = step.reason() {
                let _ = write!(text, ": {reason}");
            }
            text.push('\n');
        }
    }
    text
}

/// Returns the request to correct a plan.
pub(super) fn correction(problem: &str) -> String {
    format!("This plan cannot be used: {problem}. Write the whole plan again, in the required form.")
}

/// Returns the request to carry out a step.
pub(super) fn step(plan: &Plan, step: &Step, earlier: &[Plan]) -> String {
    let mut text = format!(
        "You carry out one step of a plan.\n\nGoal of the plan: {}\n\nYour step: {}\n",
        plan.goal(),
        step.description
    );
    if let Some(criteria) = &step.success_criteria {
        let _ = write!(text, "\nThe step is done when: {criteria}\n");
    }
    if !step.tools.is_empty() {
        let _ = write!(text, "\nThese tools may help: {}\n", step.tools.join(", "));
    }
    let of_earlier = earlier.iter().flat_map(Plan::steps);
    let needed = step.depends_on.iter().filter_map(|index| plan.steps().get(*index));
    results(&mut text, &of_earlier.chain(needed).collect::<Vec<_>>());
    let _ = write!(
        text,
        "\nAnswer with the result of the step, with everything that later steps need. If you cannot carry it out, answer with \
         `{FAILED}` and the reason."
    );
    text
}

/// Returns the request for the answer to the goal.
pub(super) fn answer(plan: &Plan, earlier: &[Plan]) -> String {
    let mut text = format!("All steps of a plan were carried out.\n\nGoal: {}\n", plan.goal());
    let all = earlier.iter().chain([plan]).flat_map(Plan::steps);
    results(&mut text, &all.collect::<Vec<_>>());
    text.push_str("\nWrite the answer to the goal for the user. Do not mention the plan.");
    text
}

/// Adds the results of completed steps, as data: no result can end its block.
fn results(text: &mut String, steps: &[&Step]) {
    let completed = steps.iter().filter(|step| step.status() == StepStatus::Completed);
    for step in completed {
        let result = agcore_chat::text::clip(step.result().unwrap_or_default(), RESULT_BYTES);
        let _ = write!(
            text,
            "\n<result step=\"{}\">\n{}\n</result>\n",
            escaped(&step.description),
            escaped(&result)
        );
    }
}
