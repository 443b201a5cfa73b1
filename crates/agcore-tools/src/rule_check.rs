//! [`RuleProblem`]: a rule that matches no call of the tools at hand.

use std::fmt;

use serde_json::Value;

use crate::{
    permission::{PathSegment, PermissionRules, RuleSubject, rule::Rule},
    registry::{RegisteredTool, ToolSnapshot},
};

/// The number of nested references that are followed in a schema.
const MAX_DEPTH: usize = 32;

/// A rule that matches no call of the tools at hand, most likely because of a typing mistake. See
/// [`PermissionRules::check`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RuleProblem {
    /// The rule, as an index into [`PermissionRules::rules`].
    pub rule: usize,
    /// The kind of problem.
    pub kind: RuleProblemKind,
    /// The rule, in words.
    text: String,
}

/// The reason why a rule matches no call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum RuleProblemKind {
    /// No tool has a name that matches.
    NoTool,
    /// No matching tool has the argument in its schema.
    NoArgument,
}

impl fmt::Display for RuleProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let reason = match self.kind {
            RuleProblemKind::NoTool => "no tool has such a name",
            RuleProblemKind::NoArgument => "no tool of that name has such an argument in its schema",
        };
        write!(f, "rule {} ({}) matches no call: {reason}", self.rule + 1, self.text)
    }
}

impl PermissionRules {
    /// Returns the rules that match no call of these tools, whatever its arguments.
    ///
    /// Such a rule is most likely a mistake. It is not an error, since tools may be registered later, or for some sessions
    /// only.
    ///
    /// ```
    /// use agcore_tools::{
    ///     PermissionRules, Rule, RuleState, ToolRegistry,
    ///     permission::ArgumentTest,
    ///     schemars::{self, JsonSchema},
    ///     typed,
    /// };
    ///
    /// #[derive(serde::Deserialize, JsonSchema)]
    /// struct File {
    ///     path: String,
    /// }
    ///
    /// let tools = ToolRegistry::new();
    /// tools.register(typed("read", "Reads a file.", |file: File| async move { Ok(file.path) }))?;
    ///
    /// let etc = || ArgumentTest::Within("/etc".into());
    /// let rules = PermissionRules::default().with_rules([
    ///     Rule::argument(RuleState::Deny, "read", "$.path", etc())?,
    ///     Rule::argument(RuleState::Deny, "read", "$.file", etc())?,
    ///     Rule::tool(RuleState::Ask, "wriet"),
    /// ]);
    /// let problems: Vec<_> = rules.check(&tools.snapshot()).iter().map(ToString::to_string).collect();
    /// assert_eq!(problems, [
    ///     "rule 2 (deny read with $.file within /etc) matches no call: no tool of that name has such an argument in its \
    ///      schema",
    ///     "rule 3 (ask wriet) matches no call: no tool has such a name",
    /// ]);
    /// # Ok::<(), agcore_tools::ToolError>(())
    /// ```
    pub fn check(&self, tools: &ToolSnapshot) -> Vec<RuleProblem> {
        let problem = |(index, rule): (usize, &Rule)| {
            let kind = match &rule.subject {
                RuleSubject::Permission(_) => return None,
                RuleSubject::Tool(glob) => {
                    let is_known = tools.tools().iter().any(|tool| glob.matches(tool.name()));
                    (!is_known).then_some(RuleProblemKind::NoTool)
                }
                RuleSubject::Argument { tool: glob, path, .. } => {
                    let mut named = tools.tools().iter().filter(|tool| glob.matches(tool.name())).peekable();
                    if named.peek().is_none() {
                        Some(RuleProblemKind::NoTool)
                    } else {
                        let has = |tool: &RegisteredTool| may_have(tool.tool().parameters(), path.segments());
                        (!named.any(has)).then_some(RuleProblemKind::NoArgument)
                    }
                }
            };
            Some(RuleProblem {
                rule: index,
                kind: kind?,
                text: rule.to_string(),
            })
        };
        self.rules.iter().enumerate().filter_map(problem).collect()
    }
}

/// Returns whether a value that matches the schema may have a value at the path. The members that the schema lists are
/// taken to be complete.
fn may_have(schema: &Value, path: &[PathSegment]) -> bool {
    Schema {
        root: schema,
        schema,
        depth: 0,
    }
    .may_have(path)
}

#[derive(Clone, Copy)]
struct Schema<'a> {
    root: &'a Value,
    schema: &'a Value,
    depth: usize,
}

impl<'a> Schema<'a> {
    fn inner(self, schema: &'a Value) -> Self {
        Self {
            schema,
            depth: self.depth + 1,
            ..self
        }
    }

    fn may_have(self, path: &[PathSegment]) -> bool {
        let Some((segment, rest)) = path.split_first() else {
            return true;
        };
        // What the schema does not describe may be anything.
        let Some(members) = self.schema.as_object() else {
            return self.schema != &Value::Bool(false);
        };
        if self.depth > MAX_DEPTH {
            return true;
        }
        let mut described = false;
        for alternatives in ["allOf", "anyOf", "oneOf"] {
            for schema in members
                .get(alternatives)
                .and_then(Value::as_array)
                .into_iter()
                .flatten()
            {
                described = true;
                if self.inner(schema).may_have(path) {
                    return true;
                }
            }
        }
        if let Some(reference) = members.get("$ref").and_then(Value::as_str) {
            let target = reference
                .strip_prefix('#')
                .and_then(|pointer| self.root.pointer(pointer));
            return target.is_none_or(|target| self.inner(target).may_have(path));
        }
        let is_wrong_type = match (members.get("type").and_then(Value::as_str), segment) {
            (None, _) => false,
            (Some(kind), PathSegment::Name(_)) => kind != "object",
            (Some(kind), PathSegment::Index(_)) => kind != "array",
            (Some(kind), PathSegment::All) => kind != "object" && kind != "array",
        };
        if is_wrong_type {
            return false;
        }
        let found = match segment {
            PathSegment::Name(name) => self.member(name, &mut described),
            PathSegment::Index(_) => self.items(&mut described),
            PathSegment::All => {
                let mut all = self.items(&mut described);
                if let Some(Value::Object(properties)) = members.get("properties") {
                    described = true;
                    all.extend(properties.values());
                }
                all.extend(self.additional());
                all
            }
        };
        !described || found.into_iter().any(|schema| self.inner(schema).may_have(rest))
    }

    /// Returns the schemas of a member.
    fn member(self, name: &str, described: &mut bool) -> Vec<&'a Value> {
        let Some(Value::Object(properties)) = self.schema.get("properties") else {
            return self.additional().inspect(|_| *described = true).into_iter().collect();
        };
        *described = true;
        // A pattern may match any name.
        let patterns = self.schema.get("patternProperties").and_then(Value::as_object);
        let patterns = patterns.into_iter().flat_map(|patterns| patterns.values());
        properties
            .get(name)
            .into_iter()
            .chain(patterns)
            .chain(self.additional())
            .collect()
    }

    fn additional(self) -> Option<&'a Value> {
        self.schema
            .get("additionalProperties")
            .filter(|schema| **schema != Value::Bool(false))
    }

    /// Returns the schemas of the items of an array.
    fn items(self, described: &mut bool) -> Vec<&'a Value> {
        let prefix = self.schema.get("prefixItems").and_then(Value::as_array);
        let items: Vec<_> = prefix.into_iter().flatten().chain(self.schema.get("items")).collect();
        *described |= !items.is_empty() || self.schema.get("properties").is_some();
        items
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::permission::JsonPath;

    #[test]
    fn finds_what_a_schema_lists() {
        let schema = json!({
            "type": "object",
            "properties": {
                "path": {"type": "string"},
                "files": {"type": "array", "items": {"$ref": "#/$defs/File"}},
                "either": {"anyOf": [{"properties": {"a": {}}}, {"properties": {"b": {}}}]},
                "headers": {"type": "object", "additionalProperties": {"type": "string"}},
                "any": {},
            },
            "additionalProperties": false,
            "$defs": {"File": {"properties": {"name": {"type": "string"}, "parent": {"$ref": "#/$defs/File"}}}},
        });
        for (path, expected) in [
            ("$", true),
            ("$.path", true),
            ("$.path.deeper", false),
            ("$.file", false),
            ("$.*", true),
            ("$.files[0].name", true),
            ("$.files[*].parent.parent.name", true),
            ("$.files[*].size", false),
            ("$.files.name", false),
            ("$.either.a", true),
            ("$.either.b", true),
            ("$.either.c", false),
            ("$.headers.accept", true),
            ("$.headers[0]", false),
            ("$.any.thing[3]", true),
        ] {
            let path = JsonPath::new(path).unwrap();
            assert_eq!(may_have(&schema, path.segments()), expected, "{}", path.as_str());
        }
        for schema in [json!(true), json!({}), json!({"type": "object"})] {
            assert!(
                may_have(&schema, JsonPath::new("$.a.b").unwrap().segments()),
                "{schema}"
            );
        }
    }

    #[test]
    fn endless_references_end() {
        let schema = json!({"$ref": "#"});
        assert!(may_have(&schema, JsonPath::new("$.a").unwrap().segments()));
    }
}
