//! The permission engine against a slow, obvious model of its rules: random rules, random calls, random answers.

use std::sync::Arc;

use agcore_chat::{ApprovalScope, ToolOutcome};
use agcore_tools::{
    Approval, Arguments, InMemoryGrants, Permission, PermissionConfig, PermissionRules, Rule, RuleState, ToolPolicy,
    permission::{ArgumentTest, Glob},
};
use futures_util::FutureExt;
use proptest::{prelude::*, sample::subsequence};
use serde_json::{Value, json};

use crate::support::{Echo, Scripted, executor_of, settle};

const TOOLS: [&str; 3] = ["fs.read", "fs.write", "mail"];
const PERMISSIONS: [Permission; 3] = [Permission::Read, Permission::Write, Permission::Shell];
const PATHS: [&str; 3] = ["/a", "/a/b", "/c"];

/// A rule in plain data, from which both the real rule and the model's are made.
#[derive(Debug, Clone)]
struct PlainRule {
    state: RuleState,
    on: On,
}

#[derive(Debug, Clone)]
enum On {
    Permission(usize),
    Tool(&'static str),
    /// Tool pattern, path, and which of [`PATHS`] the value must be or lie in.
    Argument(&'static str, &'static str, Test),
}

#[derive(Debug, Clone, Copy)]
enum Test {
    Present,
    Equals(usize),
    Starts(usize),
}

#[derive(Debug, Clone)]
struct PlainCall {
    tool: usize,
    path: Option<usize>,
    files: Vec<usize>,
    answer: PlainAnswer,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum PlainAnswer {
    Yes(ApprovalScope),
    No,
    Later,
    /// Yes, once, with the path changed to this.
    Edit(usize),
}

#[derive(Debug, Clone)]
struct World {
    allowed: Vec<usize>,
    denied: Vec<usize>,
    allow_unspecified: bool,
    /// What each tool declares.
    declares: Vec<Vec<usize>>,
    rules: Vec<PlainRule>,
    approver: bool,
    calls: Vec<PlainCall>,
}

// ---- the model: one sentence of the requirements at a time ----

#[derive(Debug, Clone, PartialEq)]
enum Expected {
    Runs { asked: bool, path: Option<usize> },
    Denied { asked: bool },
    Question,
}

struct Model<'a> {
    world: &'a World,
    /// Tool, and the values at each path that must be the same.
    grants: Vec<(usize, Vec<Same>)>,
}

type Same = (&'static str, Vec<usize>);

impl Model<'_> {
    /// The values at a path.
    fn at(call: &PlainCall, path: &str) -> Vec<usize> {
        match path {
            "$.path" => call.path.into_iter().collect(),
            "$.files[*]" => call.files.clone(),
            other => panic!("{other}"),
        }
    }

    fn pattern_fits(pattern: &str, name: &str) -> bool {
        match pattern.strip_suffix('*') {
            Some(start) => name.starts_with(start),
            None => pattern == name,
        }
    }

    fn value_fits(test: Test, value: usize) -> bool {
        match test {
            Test::Present => true,
            Test::Equals(wanted) => wanted == value,
            Test::Starts(wanted) => PATHS[value].starts_with(PATHS[wanted]),
        }
    }

    fn speaks_of(&self, rule: &PlainRule, call: &PlainCall) -> bool {
        let name = TOOLS[call.tool];
        match &rule.on {
            On::Permission(permission) => self.world.declares[call.tool].contains(permission),
            On::Tool(pattern) => Self::pattern_fits(pattern, name),
            On::Argument(pattern, path, test) => {
                let values = Self::at(call, path);
                let fitting = values.iter().filter(|value| Self::value_fits(*test, **value)).count();
                let enough = if rule.state == RuleState::Allow {
                    fitting == values.len()
                } else {
                    true
                };
                Self::pattern_fits(pattern, name) && fitting > 0 && enough
            }
        }
    }

    fn expect(&mut self, call: &PlainCall) -> Expected {
        let world = self.world;
        let declares = &world.declares[call.tool];
        // Any permission in `denied` → deny.
        if declares.iter().any(|permission| world.denied.contains(permission)) {
            return Expected::Denied { asked: false };
        }
        // The tool declares none, or `allowed` is empty → `allow_unspecified`; else all must be in it.
        let statically_allowed = if declares.is_empty() || world.allowed.is_empty() {
            world.allow_unspecified
        } else {
            declares.iter().all(|permission| world.allowed.contains(permission))
        };
        let speaking: Vec<&PlainRule> = world.rules.iter().filter(|rule| self.speaks_of(rule, call)).collect();
        // Deny stands over ask over allow, whatever the level.
        if speaking.iter().any(|rule| rule.state == RuleState::Deny) {
            return Expected::Denied { asked: false };
        }
        // An allow or ask rule that names a tool or argument lifts *not allowed*.
        let named = speaking.iter().any(|rule| !matches!(rule.on, On::Permission(_)));
        let allowed = statically_allowed || named;
        let ask = speaking.iter().any(|rule| rule.state == RuleState::Ask);
        if allowed && !ask {
            return Expected::Runs {
                asked: false,
                path: call.path,
            };
        }
        // *Not allowed* becomes ask where an approver is injected; a grant answers for a person; nobody means deny.
        let asked_paths: Vec<&'static str> = speaking
            .iter()
            .filter(|rule| rule.state == RuleState::Ask)
            .filter_map(|rule| match rule.on {
                On::Argument(_, path, _) => Some(path),
                _ => None,
            })
            .collect();
        if !world.approver {
            return Expected::Denied { asked: false };
        }
        if self.is_granted(call, &asked_paths) {
            return Expected::Runs {
                asked: false,
                path: call.path,
            };
        }
        self.answer(call, &asked_paths)
    }

    fn is_granted(&self, call: &PlainCall, asked: &[&'static str]) -> bool {
        self.grants.iter().any(|(tool, same)| {
            *tool == call.tool
                && same.iter().all(|(path, values)| Self::at(call, path) == *values)
                && asked.iter().all(|path| same.iter().any(|(known, _)| known == path))
        })
    }

    fn answer(&mut self, call: &PlainCall, asked: &[&'static str]) -> Expected {
        match call.answer {
            PlainAnswer::No => Expected::Denied { asked: true },
            PlainAnswer::Later => Expected::Question,
            PlainAnswer::Yes(scope) => {
                if scope != ApprovalScope::Once {
                    self.grants.push((
                        call.tool,
                        asked.iter().map(|path| (*path, Self::at(call, path))).collect(),
                    ));
                }
                Expected::Runs {
                    asked: true,
                    path: call.path,
                }
            }
            PlainAnswer::Edit(path) => {
                // Edited arguments are checked like any others: a deny rule stands, anything else was just answered.
                let edited = PlainCall {
                    path: Some(path),
                    ..call.clone()
                };
                let denied = self
                    .world
                    .rules
                    .iter()
                    .any(|rule| rule.state == RuleState::Deny && self.speaks_of(rule, &edited));
                if denied {
                    Expected::Denied { asked: true }
                } else {
                    Expected::Runs {
                        asked: true,
                        path: Some(path),
                    }
                }
            }
        }
    }
}

// ---- the engine ----

impl World {
    fn policy(&self, approver: &Arc<Scripted>) -> ToolPolicy {
        let permissions = |places: &[usize]| {
            places
                .iter()
                .map(|place| PERMISSIONS[*place].clone())
                .collect::<Vec<_>>()
        };
        let config = PermissionConfig::new()
            .with_allowed(permissions(&self.allowed))
            .with_denied(permissions(&self.denied))
            .with_allow_unspecified(self.allow_unspecified);
        let rules = PermissionRules::new(config).with_rules(self.rules.iter().map(PlainRule::real));
        let policy = ToolPolicy::new(rules).with_grants(Arc::new(InMemoryGrants::new()));
        if self.approver {
            policy.with_approver(approver.clone())
        } else {
            policy
        }
    }

    fn tools(&self) -> Vec<Echo> {
        let declared = |tool: usize| self.declares[tool].iter().map(|place| PERMISSIONS[*place].clone());
        TOOLS
            .iter()
            .enumerate()
            .map(|(tool, name)| Echo::new(name).needs(declared(tool)))
            .collect()
    }
}

impl PlainRule {
    fn real(&self) -> Rule {
        match &self.on {
            On::Permission(place) => Rule::permission(self.state, PERMISSIONS[*place].clone()),
            On::Tool(pattern) => Rule::tool(self.state, *pattern),
            On::Argument(pattern, path, test) => {
                let test = match test {
                    Test::Present => ArgumentTest::Present,
                    Test::Equals(value) => ArgumentTest::Equals(PATHS[*value].into()),
                    Test::Starts(value) => ArgumentTest::Matches(Glob::new(format!("{}*", PATHS[*value]))),
                };
                Rule::argument(self.state, *pattern, path, test).unwrap()
            }
        }
    }
}

impl PlainCall {
    fn arguments(&self) -> Value {
        let files: Vec<_> = self.files.iter().map(|file| PATHS[*file]).collect();
        let mut arguments = json!({"files": files});
        if let Some(path) = self.path {
            arguments["path"] = PATHS[path].into();
        }
        arguments
    }

    fn approval(&self) -> Approval {
        match self.answer {
            PlainAnswer::Yes(ApprovalScope::Session) => Approval::session(),
            PlainAnswer::Yes(ApprovalScope::Always) => Approval::always(),
            PlainAnswer::Yes(_) => Approval::once(),
            PlainAnswer::No => Approval::deny("no"),
            PlainAnswer::Later => Approval::Suspend,
            PlainAnswer::Edit(path) => {
                let edited = Self {
                    path: Some(path),
                    ..self.clone()
                }
                .arguments();
                Approval::edited(Arguments::from(edited.as_object().cloned().unwrap()))
            }
        }
    }
}

fn check(world: &World) {
    let mut model = Model {
        world,
        grants: Vec::new(),
    };
    let expected: Vec<Expected> = world.calls.iter().map(|call| model.expect(call)).collect();
    let is_asked = |expected: &Expected| match expected {
        Expected::Runs { asked, .. } | Expected::Denied { asked } => *asked,
        Expected::Question => true,
    };
    let answers = world
        .calls
        .iter()
        .zip(&expected)
        .filter(|(_, e)| is_asked(e))
        .map(|(call, _)| call.approval());
    let approver = Scripted::new(answers);
    let tools = world.tools();
    let executor = executor_of(tools.clone())
        .policy(world.policy(&approver))
        .build()
        .unwrap();
    for (call, expected) in world.calls.iter().zip(&expected) {
        // A refusal is told once in a turn; here each call is a turn of its own.
        executor.session().begin_turn();
        let (ran, asked) = (tools[call.tool].count(), approver.asked().len());
        let outcome = settle(&executor, TOOLS[call.tool], call.arguments())
            .now_or_never()
            .expect("nothing waits");
        let asked = approver.asked().len() > asked;
        let found = match &outcome {
            ToolOutcome::Done(result) if result.is_error => Expected::Denied { asked },
            ToolOutcome::Done(result) => {
                let seen: Value = serde_json::from_str(&result.content.text()).unwrap();
                let path = seen
                    .get("path")
                    .map(|path| PATHS.iter().position(|known| path == known).unwrap());
                Expected::Runs { asked, path }
            }
            ToolOutcome::Ask(_) => Expected::Question,
            other => panic!("{other:?}"),
        };
        assert_eq!(&found, expected, "{call:?}");
        let runs = matches!(expected, Expected::Runs { .. });
        assert_eq!(
            tools[call.tool].count() - ran,
            usize::from(runs),
            "{call:?} of {world:?}"
        );
    }
}

// ---- random worlds ----

fn rule() -> impl Strategy<Value = PlainRule> {
    let state = prop_oneof![Just(RuleState::Allow), Just(RuleState::Ask), Just(RuleState::Deny)];
    let tool = || prop_oneof![Just("fs.*"), Just("fs.write"), Just("mail"), Just("*")];
    let path = prop_oneof![Just("$.path"), Just("$.files[*]")];
    let test = prop_oneof![
        Just(Test::Present),
        (0..3_usize).prop_map(Test::Equals),
        (0..3_usize).prop_map(Test::Starts)
    ];
    let on = prop_oneof![
        (0..3_usize).prop_map(On::Permission),
        tool().prop_map(On::Tool),
        (tool(), path, test).prop_map(|(tool, path, test)| On::Argument(tool, path, test)),
    ];
    (state, on).prop_map(|(state, on)| PlainRule { state, on })
}

fn plain_call() -> impl Strategy<Value = PlainCall> {
    let answer = prop_oneof![
        1 => Just(PlainAnswer::Yes(ApprovalScope::Once)),
        2 => Just(PlainAnswer::Yes(ApprovalScope::Session)),
        2 => Just(PlainAnswer::Yes(ApprovalScope::Always)),
        1 => Just(PlainAnswer::No),
        1 => Just(PlainAnswer::Later),
        1 => (0..3_usize).prop_map(PlainAnswer::Edit),
    ];
    let path = proptest::option::of(0..3_usize);
    let files = proptest::collection::vec(0..3_usize, 0..3);
    (0..3_usize, path, files, answer).prop_map(|(tool, path, files, answer)| PlainCall {
        tool,
        path,
        files,
        answer,
    })
}

fn some_of_three() -> impl Strategy<Value = Vec<usize>> {
    subsequence(vec![0, 1, 2], 0..=3)
}

fn world() -> impl Strategy<Value = World> {
    // Denials end everything early, so they are kept rare.
    let denied = prop_oneof![3 => Just(Vec::new()), 1 => some_of_three()];
    let declares = proptest::collection::vec(some_of_three(), 3);
    let rules = proptest::collection::vec(rule(), 0..5);
    let calls = proptest::collection::vec(plain_call(), 1..8);
    (
        some_of_three(),
        denied,
        any::<bool>(),
        declares,
        rules,
        prop::bool::weighted(0.8),
        calls,
    )
        .prop_map(
            |(allowed, denied, allow_unspecified, declares, rules, approver, calls)| World {
                allowed,
                denied,
                allow_unspecified,
                declares,
                rules,
                approver,
                calls,
            },
        )
}

fn cases() -> u32 {
    if std::env::var_os("AGCORE_SOAK").is_some() {
        200_000
    } else {
        2_000
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_engine_does_what_the_model_says(world in world()) {
        check(&world);
    }
}
