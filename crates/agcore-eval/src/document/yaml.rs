//! YAML documents.

use agcore_yaml::{Limits, Node, Place};
use serde_json::{Map, Value};

use super::places::{Places, Wrong};

/// Reads a document.
pub(super) fn parse(text: &str) -> Result<(Value, Places), Wrong> {
    let limits = Limits::default().without_aliases();
    let root = agcore_yaml::parse(text, &limits).map_err(|error| Wrong {
        place: error.place,
        member: error.member,
        problem: error.problem,
    })?;
    let mut places = Places::default();
    let Some(root) = root else {
        return Ok((Value::Object(Map::new()), places));
    };
    add_places(&root, "", &mut places);
    Ok((root.to_json(), places))
}

/// Adds the places of what is in a value. Members of tables have those of their keys.
fn add_places(node: &Node, path: &str, places: &mut Places) {
    let mut add = |path: String, place: Place, node: &Node| {
        places.add(path.clone(), place);
        add_places(node, &path, places);
    };
    match &node.value {
        agcore_yaml::Value::List(items) => {
            for (index, item) in items.iter().enumerate() {
                add(Places::element(path, index), item.place, item);
            }
        }
        agcore_yaml::Value::Table(members) => {
            for member in members {
                add(Places::member(path, &member.name), member.place, &member.node);
            }
        }
        _ => {}
    }
}
