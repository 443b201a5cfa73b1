//! `agcore catalog check`: checks a catalog.

use agcore::{
    catalog::{Catalog, CatalogError, CatalogProblem, Snapshot},
    llm::ProviderType,
};
use agcore_args::CheckArgs;
use serde_json::{Value, json};

use crate::{
    exit::Failure,
    prices::{catalog_file, snapshot},
    stdout::print,
};

/// Checks a catalog and lists everything that is wrong.
///
/// # Errors
/// When the file cannot be read, or the catalog is wrong.
pub(super) fn run(args: &CheckArgs) -> Result<(), Failure> {
    let Some(file) = &args.file else {
        return listed(args);
    };
    let name = file.display().to_string();
    let roles: Vec<&str> = args.roles.iter().map(String::as_str).collect();
    let checked = catalog_file::read(file)?.and_then(|catalog| catalog.require_roles(&roles).map(|()| catalog));
    let unknown = checked.as_ref().map(unknown_apis).unwrap_or_default();
    if args.json {
        let problems = checked.as_ref().err().map_or_else(Vec::new, as_json);
        let result = json!({
            "file": name, "models": checked.as_ref().map_or(0, |catalog| catalog.models().count()),
            "problems": problems, "unknown_apis": unknown,
        });
        print(&format!("{result:#}\n"))?;
    }
    let catalog = checked.map_err(|error| catalog_file::problems(&error))?;
    if !unknown.is_empty() {
        return Err(Failure::task(format!(
            "{name}: this program does not have these APIs: {}",
            unknown.join(", ")
        )));
    }
    if args.json {
        return Ok(());
    }
    let (vendors, models, roles) = (catalog.vendors().len(), catalog.models().count(), catalog.roles().len());
    print(&format!(
        "{name} is valid: vendors {vendors}, models {models}, roles {roles}.\n"
    ))
}

/// Checks the list prices that are in force.
fn listed(args: &CheckArgs) -> Result<(), Failure> {
    if !args.roles.is_empty() {
        return Err(Failure::usage("list prices have no roles; name a catalog"));
    }
    let (snapshot, name) = snapshot::in_force()?;
    let checked = Snapshot::parse(&name, snapshot.as_text()).map_err(|error| catalog_file::problems(&error))?;
    let vendors = checked.vendors().count();
    let models: usize = checked.vendors().map(|vendor| checked.models(&vendor.name).len()).sum();
    if args.json {
        let result = json!({"file": name, "vendors": vendors, "models": models, "problems": [], "unknown_apis": []});
        return print(&format!("{result:#}\n"));
    }
    print(&format!("{name} is valid: vendors {vendors}, models {models}.\n"))
}

/// Returns the APIs that the program does not have.
fn unknown_apis(catalog: &Catalog) -> Vec<String> {
    let endpoints = catalog.vendors().iter().flat_map(|vendor| &vendor.endpoints);
    let unknown = endpoints.filter(|endpoint| endpoint.api.parse::<ProviderType>().is_err());
    unknown.map(|endpoint| endpoint.api.clone()).collect()
}

fn as_json(error: &CatalogError) -> Vec<Value> {
    let problem = |found: &CatalogProblem| {
        let CatalogProblem { place, problem, .. } = found;
        json!({
            "line": place.line, "column": place.column, "field": problem.field(), "value": problem.value(),
            "rule": problem.rule(),
        })
    };
    error.problems.iter().map(problem).collect()
}
