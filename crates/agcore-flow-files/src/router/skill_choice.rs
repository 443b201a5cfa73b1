//! [`SkillChoice`]: the skills among which a router chooses.

use agcore_agent::Skills;
use agcore_chat::{SchemaCheck, SchemaViolation};
use serde_json::{Value, json};

use super::Job;

/// The skills among which a router chooses. A decision with another one is sent back to the model.
#[derive(Debug, Clone)]
pub(super) struct SkillChoice {
    names: Vec<String>,
    described: Vec<Value>,
}

impl SkillChoice {
    /// Returns the skills of the worker, or those of a job that exist.
    pub(super) fn new(skills: &Skills, own: &[String], job: Option<&Job>) -> Self {
        let names = job.map_or(own, |job| &job.enabled_skills);
        let found: Vec<_> = names.iter().filter_map(|name| skills.get(name)).collect();
        let describe = |skill: &&agcore_agent::Skill| json!({"name": skill.name, "description": skill.description});
        Self {
            names: found.iter().map(|skill| skill.name.clone()).collect(),
            described: found.iter().map(describe).collect(),
        }
    }

    pub(super) fn names(&self) -> &[String] {
        &self.names
    }

    pub(super) fn described(&self) -> Vec<Value> {
        self.described.clone()
    }
}

impl SchemaCheck for SkillChoice {
    fn check(&self, _: &Value, value: &Value) -> Result<(), Vec<SchemaViolation>> {
        let chosen = value.get("skills").and_then(Value::as_array);
        let chosen = chosen.into_iter().flatten().filter_map(Value::as_str).enumerate();
        let unknown = chosen.filter(|(_, name)| !self.names.iter().any(|known| known == name));
        let violations: Vec<SchemaViolation> = unknown
            .map(|(at, name)| {
                let known = match self.names.as_slice() {
                    [] => "there are no skills; leave the list empty".to_owned(),
                    names => format!("choose among `{}`", names.join("`, `")),
                };
                SchemaViolation::new(
                    format!("$.skills[{at}]"),
                    format!("there is no skill `{name}`; {known}"),
                )
            })
            .collect();
        if violations.is_empty() { Ok(()) } else { Err(violations) }
    }
}
