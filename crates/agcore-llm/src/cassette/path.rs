//! [`FieldPath`]: a path that selects values of a JSON document.

use serde_json::Value;

/// A path that selects values of a JSON document: names and indexes separated by dots, and `*` for all members of an
/// object or array. Indexes may also be in brackets, which is how differences are printed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FieldPath(Vec<Step>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Step {
    Any,
    Named(Box<str>),
}

impl From<&str> for FieldPath {
    fn from(path: &str) -> Self {
        let steps = path
            .split(['.', '[', ']'])
            .map(str::trim)
            .filter(|step| !step.is_empty());
        let step = |step: &str| match step {
            "*" => Step::Any,
            name => Step::Named(name.into()),
        };
        Self(steps.map(step).collect())
    }
}

impl FieldPath {
    /// Changes the selected values with a function.
    pub(super) fn change(&self, value: &mut Value, apply: &dyn Fn(&mut Value)) {
        change(&self.0, value, apply);
    }

    /// Removes the selected values. A single item of an array is replaced with `null`, so that the other items keep
    /// their indexes.
    pub(super) fn remove(&self, value: &mut Value) {
        let Some((last, before)) = self.0.split_last() else {
            return;
        };
        change(before, value, &|parent| remove_member(parent, last));
    }
}

fn change(steps: &[Step], value: &mut Value, apply: &dyn Fn(&mut Value)) {
    let Some((step, rest)) = steps.split_first() else {
        apply(value);
        return;
    };
    match (step, value) {
        (Step::Any, Value::Object(members)) => members.values_mut().for_each(|value| change(rest, value, apply)),
        (Step::Any, Value::Array(items)) => items.iter_mut().for_each(|value| change(rest, value, apply)),
        (Step::Named(name), Value::Object(members)) => {
            if let Some(value) = members.get_mut(&**name) {
                change(rest, value, apply);
            }
        }
        (Step::Named(index), Value::Array(items)) => {
            if let Some(value) = index.parse().ok().and_then(|index: usize| items.get_mut(index)) {
                change(rest, value, apply);
            }
        }
        _ => {}
    }
}

fn remove_member(parent: &mut Value, last: &Step) {
    match (last, parent) {
        (Step::Any, Value::Object(members)) => members.clear(),
        (Step::Any, Value::Array(items)) => items.clear(),
        (Step::Named(name), Value::Object(members)) => drop(members.shift_remove(&**name)),
        (Step::Named(index), Value::Array(items)) => {
            if let Some(value) = index.parse().ok().and_then(|index: usize| items.get_mut(index)) {
                *value = Value::Null;
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn selects_values() {
        let check = |path: &str, expected: Value| {
            let mut value = json!({"a": {"b": 1, "c": 2}, "l": [{"b": 3}, {"b": 4}, 5]});
            FieldPath::from(path).change(&mut value, &|value| *value = "x".into());
            assert_eq!(value, expected, "{path}");
        };
        check("a.b", json!({"a": {"b": "x", "c": 2}, "l": [{"b": 3}, {"b": 4}, 5]}));
        check("l[1].b", json!({"a": {"b": 1, "c": 2}, "l": [{"b": 3}, {"b": "x"}, 5]}));
        check(
            "l.*.b",
            json!({"a": {"b": 1, "c": 2}, "l": [{"b": "x"}, {"b": "x"}, 5]}),
        );
        check("*.b", json!({"a": {"b": "x", "c": 2}, "l": [{"b": 3}, {"b": 4}, 5]}));
        for missing in ["b", "a.x.y", "l.9", "l.x", "a.b.c"] {
            check(missing, json!({"a": {"b": 1, "c": 2}, "l": [{"b": 3}, {"b": 4}, 5]}));
        }
    }

    #[test]
    fn removes_values() {
        let check = |path: &str, expected: Value| {
            let mut value = json!({"a": {"b": 1, "c": 2}, "l": [1, 2]});
            FieldPath::from(path).remove(&mut value);
            assert_eq!(value, expected, "{path}");
        };
        check("a.b", json!({"a": {"c": 2}, "l": [1, 2]}));
        check("a", json!({"l": [1, 2]}));
        check("a.*", json!({"a": {}, "l": [1, 2]}));
        check("l[0]", json!({"a": {"b": 1, "c": 2}, "l": [null, 2]}));
        check("l.*", json!({"a": {"b": 1, "c": 2}, "l": []}));
        check("", json!({"a": {"b": 1, "c": 2}, "l": [1, 2]}));
    }
}
