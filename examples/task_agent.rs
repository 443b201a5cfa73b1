//! A task: the model makes a plan, and its steps are carried out, those that do not depend on each other side by side.
//!
//! One step fails here. What depends on it is skipped, with the reason, and a new plan is made that knows what was done.
//!
//! Run it: `cargo run --example task_agent`, or with a real model, as the [README](README.md) describes.

use std::error::Error;

use agcore::{
    AgentBuilder, AgentSpec, ChatResponse, LlmProvider,
    agent::{AgentErrorKind, Plan, TaskAgent},
    chat::{AgentEvent, EventKind},
    llm::provider_fn,
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let bundle = AgentBuilder::new()
        .with_provider(agcore_examples::model(offline())?)
        .build()?;
    let task = TaskAgent::new(bundle)
        .with_agent(AgentSpec::new(
            "planner of trips",
            "You plan trips. Invent what you do not know.",
        ))
        .with_max_parallel(2)
        .with_max_replans(1);

    let mut run = task.run("Plan a weekend in Rome for 300 euros.").stream();
    while let Some(event) = run.next().await {
        if let EventKind::Agent(AgentEvent::PlanStep {
            index,
            status,
            description,
            ..
        }) = &event.kind
        {
            println!("step {index} {status}: {description}");
        }
    }
    let report = match run.finish().await {
        Err(error) if error.kind() == AgentErrorKind::InvalidPlan => {
            println!("the model made no plan: {error}");
            return Ok(());
        }
        report => report?,
    };
    for earlier in &report.earlier {
        print_reasons(earlier);
    }
    match &report.answer {
        Some(answer) => println!("answer: {answer}"),
        None => print_reasons(&report.plan),
    }

    // A plan is data: keep it as JSON, and continue later with `execute_plan` or `replan`.
    let saved = serde_json::to_string(&report.plan)?;
    let plan: Plan = serde_json::from_str(&saved)?;
    println!("{} steps, all completed: {}", plan.steps().len(), plan.is_completed());
    Ok(())
}

/// Prints why a plan did not reach its goal.
fn print_reasons(plan: &Plan) {
    println!("a plan failed:");
    for step in plan.steps() {
        if let Some(reason) = step.reason() {
            println!("  {} was {}: {reason}", step.description, step.status());
        }
    }
}

/// The model that is used without `AGCORE_MODEL`. It plans, carries out steps, and writes the answer.
fn offline() -> impl LlmProvider {
    provider_fn(|call| async move {
        let request = call.request.messages.last().map(|message| message.text().into_owned());
        let request = request.unwrap_or_default();
        let step = request.lines().find_map(|line| line.strip_prefix("Your step: "));
        Ok(ChatResponse::from_text(match step {
            Some("Find a flight.") => "AZ 610 on Friday, 120 euros.",
            Some("Find a hotel in the centre.") => "FAILED: everything in the centre is over 200 euros a night",
            Some("Find a hotel outside the centre.") => "Hotel Tiburtina, 80 euros a night.",
            Some(_) => "120 + 2 × 80 = 280 euros.",
            None if request.starts_with("All steps") => "Fly with AZ 610, sleep at Hotel Tiburtina: 280 euros.",
            None if request.contains("An earlier plan") => {
                r#"{"steps": [{"id": 1, "description": "Find a hotel outside the centre."},
                    {"id": 2, "description": "Add up the costs.", "depends_on": [1]}]}"#
            }
            None => {
                r#"Here is a plan:
                {"steps": [{"id": 1, "description": "Find a flight."}, {"id": 2, "description": "Find a hotel in the centre."},
                    {"id": 3, "description": "Add up the costs.", "depends_on": [1, 2]}]}"#
            }
        }))
    })
}
