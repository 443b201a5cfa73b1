//! [`Known`]: the variables that a template may use.

use agcore_document::{Field, Place};
use agcore_prompt::PromptTemplate;

use super::{problem::listed, report::Report};

/// The variables that a template may use.
#[derive(Debug, Clone, Default)]
pub(super) struct Known {
    pub(super) variables: Vec<String>,
    /// The nodes whose results the variable `results` has, in a graph.
    pub(super) results: Option<Vec<String>>,
}

impl Known {
    /// Adds the variables that a file declares to some others.
    pub(super) fn new(own: &[&str], declared: &[String]) -> Self {
        let own = own.iter().map(|name| (*name).to_owned());
        Self {
            variables: own.chain(declared.iter().cloned()).collect(),
            results: None,
        }
    }
}

/// Compiles a template and checks its variables.
pub(super) fn compile(report: &mut Report<'_>, field: &Field<String>, known: &Known) -> Option<PromptTemplate> {
    match PromptTemplate::compile(field.value.clone()?) {
        Ok(template) => {
            check_variables(report, field.place, &template, known);
            Some(template)
        }
        Err(error) => {
            report.problem(field.place, format!("the template cannot be used: {error}"));
            None
        }
    }
}

fn check_variables(report: &mut Report<'_>, place: Place, template: &PromptTemplate, known: &Known) {
    let mut problems: Vec<String> = Vec::new();
    for variable in template.variables() {
        let mut parts = variable.split(['.', '[']);
        let root = parts.next().unwrap_or_default();
        if !known.variables.iter().any(|name| name == root) {
            let names = listed(&known.variables);
            problems.push(format!(
                "the template uses `{root}`, which is not a variable; use one of {names}"
            ));
        }
        let result = parts.next().filter(|part| root == "results" && !part.starts_with(']'));
        if let (Some(nodes), Some(result)) = (&known.results, result)
            && !nodes.iter().any(|node| node == result)
        {
            let nodes = listed(nodes);
            problems.push(format!(
                "the template uses the result of `{result}`, which is not a node; the nodes are {nodes}"
            ));
        }
    }
    problems.dedup();
    for problem in problems {
        report.problem(place, problem);
    }
    for partial in template.partials() {
        report.problem(
            place,
            format!("the template includes `{partial}`; flow files have no partials"),
        );
    }
}
