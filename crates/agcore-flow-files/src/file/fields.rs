//! The descriptions of the members of results: wording for models, which files contain and not the program.

use std::collections::BTreeMap;

use agcore_document::{Field, Members};
use agcore_prompt::{PromptError, PromptTemplate, Value};
use serde_json::Value as Json;

use super::{
    problem::listed,
    report::Report,
    variables::{Known, compile},
};

/// The descriptions of the members of a result, by their names. A member inside of another one has the name `outer.inner`.
#[derive(Debug, Clone, Default)]
pub(crate) struct Fields(BTreeMap<String, PromptTemplate>);

impl Fields {
    /// Writes the descriptions into a schema.
    ///
    /// # Errors
    /// When a variable is missing.
    pub(crate) fn describe(&self, schema: &mut Json, variables: &Value) -> Result<(), PromptError> {
        for (name, template) in &self.0 {
            let text = template.render(variables)?;
            if let Some(Json::Object(member)) = member(schema, name) {
                member.insert("description".to_owned(), Json::from(text.trim()));
            }
        }
        Ok(())
    }
}

/// Returns the schema of a member.
fn member<'s>(schema: &'s mut Json, name: &str) -> Option<&'s mut Json> {
    let mut schema = schema;
    for part in name.split('.') {
        // The members of a list are those of its items.
        if schema.get("items").is_some() {
            schema = schema.get_mut("items")?;
        }
        schema = schema.get_mut("properties")?.get_mut(part)?;
    }
    Some(schema)
}

/// Checks descriptions. `names` are the names of the members that the result has.
pub(super) fn fields(
    report: &mut Report<'_>,
    described: Field<Members<Field<String>>>,
    known: &Known,
    names: &[&str],
) -> Fields {
    if names.is_empty() {
        let message = "the members of this result cannot be described here; remove `fields`, or write the descriptions into the schema \
                       of `output`";
        report.problem(described.place, message);
        return Fields::default();
    }
    let mut fields = BTreeMap::new();
    for (name, text) in described.value.unwrap_or_default() {
        if !names.contains(&name.value.as_str()) {
            let names = listed(names);
            let message = format!("the result has no member `{}`; its members are {names}", name.value);
            report.problem(name.place, message);
            continue;
        }
        let template = compile(report, &text, known);
        fields.extend(template.map(|template| (name.value, template)));
    }
    Fields(fields)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn members_are_described_where_they_are() {
        let mut schema = json!({"properties": {
            "name": {"type": "string"},
            "todos": {"type": "array", "items": {"type": "object", "properties": {"id": {"type": "string"}}}},
        }});
        let template = |text: &str| PromptTemplate::compile(text.to_owned()).unwrap();
        let fields = Fields(BTreeMap::from([
            ("name".to_owned(), template("The name for {{request}}.\n")),
            ("todos".to_owned(), template("All of them.")),
            ("todos.id".to_owned(), template("Unique.")),
            ("other".to_owned(), template("Nowhere.")),
        ]));
        let variables = Value::from_serialize(&json!({"request": "tea"})).unwrap();
        fields.describe(&mut schema, &variables).unwrap();
        let expected = json!({"properties": {
            "name": {"type": "string", "description": "The name for tea."},
            "todos": {"type": "array", "description": "All of them.", "items": {
                "type": "object", "properties": {"id": {"type": "string", "description": "Unique."}},
            }},
        }});
        assert_eq!(schema, expected);
    }
}
