//! Compares the permission engine with a simple model of its rules, on random rules, calls and answers.

use std::sync::Arc;

use agcore_chat::{ApprovalScope, ToolOutcome};
use agcore_tools::{
    Actor, Approval, Arguments, InMemoryGrants, Permission, PermissionConfig, PermissionRules, Rule, RuleState,
    ToolAnnotations, ToolPolicy, ToolSession,
    permission::{ArgumentTest, Glob},
};
use futures_util::FutureExt;
use proptest::{prelude::*, sample::subsequence};
use serde_json::{Value, json};

use crate::support::{Echo, ScriptedApprover, context_builder, registry, settle};

const TOOLS: [&str; 3] = ["fs.read", "fs.write", "mail"];
const PERMISSIONS: [Permission; 3] = [Permission::Read, Permission::Write, Permission::Delete];

/// The index of [`Permission::Delete`].
const DELETE: usize = 2;
const USERS: [&str; 2] = ["ann", "bob"];
const PATHS: [&str; 3] = ["/a", "/a/b", "/c"];

/// A rule as plain data, which both the engine and the model are given.
#[derive(Debug, Clone)]
struct PlainRule {
    state: RuleState,
    subject: PlainSubject,
}

#[derive(Debug, Clone)]
enum PlainSubject {
    Permission(usize),
    Tool(&'static str),
    /// Tool pattern, path, and the condition on the value, which is an index into [`PATHS`].
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
    /// The user for whom the call is made, as an index into [`USERS`].
    user: usize,
    tool: usize,
    path: Option<usize>,
    files: Vec<usize>,
    answer: PlainAnswer,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum PlainAnswer {
    Allow(ApprovalScope),
    Deny,
    Suspend,
    /// An approval for this call only, with the path changed to this one.
    Edit(usize),
}

#[derive(Debug, Clone)]
struct World {
    allowed: Vec<usize>,
    denied: Vec<usize>,
    allow_unspecified: bool,
    /// The permissions that each tool declares.
    declares: Vec<Vec<usize>>,
    /// Whether each tool declares to be destructive.
    destructive: Vec<bool>,
    rules: Vec<PlainRule>,
    approver: bool,
    calls: Vec<PlainCall>,
}

// The model: one sentence of the requirements at a time.

#[derive(Debug, Clone, PartialEq)]
enum Expected {
    Runs { asked: bool, path: Option<usize> },
    Denied { asked: bool },
    Question,
}

struct Model<'a> {
    world: &'a World,
    grants: Vec<PlainGrant>,
}

struct PlainGrant {
    user: usize,
    tool: usize,
    required: Required,
}

enum Required {
    /// The same arguments: the path and the files.
    Same(Option<usize>, Vec<usize>),
    /// The values at each of these paths.
    Values(Vec<(&'static str, Vec<usize>)>),
}

impl Model<'_> {
    /// Returns the values at a path.
    fn values_at(call: &PlainCall, path: &str) -> Vec<usize> {
        match path {
            "$.path" => call.path.into_iter().collect(),
            "$.files[*]" => call.files.clone(),
            other => panic!("{other}"),
        }
    }

    fn pattern_matches(pattern: &str, name: &str) -> bool {
        match pattern.strip_suffix('*') {
            Some(start) => name.starts_with(start),
            None => pattern == name,
        }
    }

    fn value_passes(test: Test, value: usize) -> bool {
        match test {
            Test::Present => true,
            Test::Equals(wanted) => wanted == value,
            Test::Starts(wanted) => PATHS[value].starts_with(PATHS[wanted]),
        }
    }

    fn matches(&self, rule: &PlainRule, call: &PlainCall) -> bool {
        let name = TOOLS[call.tool];
        match &rule.subject {
            PlainSubject::Permission(permission) => self.world.declares[call.tool].contains(permission),
            PlainSubject::Tool(pattern) => Self::pattern_matches(pattern, name),
            PlainSubject::Argument(pattern, path, test) => {
                let values = Self::values_at(call, path);
                let passing = values.iter().filter(|value| Self::value_passes(*test, **value)).count();
                let enough = if rule.state == RuleState::Allow {
                    passing == values.len()
                } else {
                    true
                };
                Self::pattern_matches(pattern, name) && passing > 0 && enough
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
        let matching: Vec<&PlainRule> = world.rules.iter().filter(|rule| self.matches(rule, call)).collect();
        // Deny overrides ask, and ask overrides allow, for all kinds of rules.
        if matching.iter().any(|rule| rule.state == RuleState::Deny) {
            return Expected::Denied { asked: false };
        }
        // An allow or ask rule that names a tool or argument lifts *not allowed*.
        let named = matching
            .iter()
            .any(|rule| !matches!(rule.subject, PlainSubject::Permission(_)));
        let allowed = statically_allowed || named;
        let ask = matching.iter().any(|rule| rule.state == RuleState::Ask);
        // A destructive tool that no rule names is asked about; without an approver, the permission `delete` suffices.
        let decided = !world.approver && declares.contains(&DELETE);
        let destructive = world.destructive[call.tool] && !named && !decided;
        if allowed && !ask && !destructive {
            return Expected::Runs {
                asked: false,
                path: call.path,
            };
        }
        // With an approver, *not allowed* becomes ask, and a grant answers in place of the person; without one, it is
        // denied.
        let asked_paths: Vec<&'static str> = matching
            .iter()
            .filter(|rule| rule.state == RuleState::Ask)
            .filter_map(|rule| match rule.subject {
                PlainSubject::Argument(_, path, _) => Some(path),
                _ => None,
            })
            .collect();
        // A rule that is not about an argument asks about the whole call, as *not allowed* and *destructive* do.
        let is_about_call = |rule: &&PlainRule| !matches!(rule.subject, PlainSubject::Argument(..));
        let asks_about_call = |rule: &&PlainRule| rule.state == RuleState::Ask && is_about_call(rule);
        let whole = !allowed || !ask || matching.iter().any(asks_about_call);
        if !world.approver {
            return Expected::Denied { asked: false };
        }
        if self.is_granted(call, &asked_paths) {
            return Expected::Runs {
                asked: false,
                path: call.path,
            };
        }
        self.answer(call, &asked_paths, whole)
    }

    fn is_granted(&self, call: &PlainCall, asked: &[&'static str]) -> bool {
        self.grants.iter().any(|grant| {
            let covers = match &grant.required {
                Required::Same(path, files) => *path == call.path && *files == call.files,
                Required::Values(required) => {
                    required
                        .iter()
                        .all(|(path, values)| Self::values_at(call, path) == *values)
                        && asked.iter().all(|path| required.iter().any(|(known, _)| known == path))
                }
            };
            grant.user == call.user && grant.tool == call.tool && covers
        })
    }

    fn answer(&mut self, call: &PlainCall, asked: &[&'static str], whole: bool) -> Expected {
        match call.answer {
            PlainAnswer::Deny => Expected::Denied { asked: true },
            PlainAnswer::Suspend => Expected::Question,
            PlainAnswer::Allow(scope) => {
                if scope != ApprovalScope::Once {
                    self.grants.push(PlainGrant {
                        user: call.user,
                        tool: call.tool,
                        required: if whole {
                            Required::Same(call.path, call.files.clone())
                        } else {
                            Required::Values(asked.iter().map(|path| (*path, Self::values_at(call, path))).collect())
                        },
                    });
                }
                Expected::Runs {
                    asked: true,
                    path: call.path,
                }
            }
            PlainAnswer::Edit(path) => {
                // Edited arguments are checked like any others: only a deny rule overrides the approval.
                let edited = PlainCall {
                    path: Some(path),
                    ..call.clone()
                };
                let denied = self
                    .world
                    .rules
                    .iter()
                    .any(|rule| rule.state == RuleState::Deny && self.matches(rule, &edited));
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

// The engine.

impl World {
    fn policy(&self, approver: &Arc<ScriptedApprover>) -> ToolPolicy {
        let permissions = |indices: &[usize]| {
            indices
                .iter()
                .map(|index| PERMISSIONS[*index].clone())
                .collect::<Vec<_>>()
        };
        let config = PermissionConfig::new()
            .with_allowed(permissions(&self.allowed))
            .with_denied(permissions(&self.denied))
            .with_allow_unspecified(self.allow_unspecified);
        let rules = PermissionRules::new(config).with_rules(self.rules.iter().map(PlainRule::to_rule));
        let policy = ToolPolicy::new(rules).with_grants(Arc::new(InMemoryGrants::new()));
        if self.approver {
            policy.with_approver(approver.clone())
        } else {
            policy
        }
    }

    fn tools(&self) -> Vec<Echo> {
        let declared = |tool: usize| self.declares[tool].iter().map(|index| PERMISSIONS[*index].clone());
        TOOLS
            .iter()
            .enumerate()
            .map(|(tool, name)| {
                let annotations = ToolAnnotations::new().with_destructive(self.destructive[tool]);
                Echo::new(name)
                    .with_permissions(declared(tool))
                    .with_annotations(annotations)
            })
            .collect()
    }
}

impl PlainRule {
    fn to_rule(&self) -> Rule {
        match &self.subject {
            PlainSubject::Permission(index) => Rule::permission(self.state, PERMISSIONS[*index].clone()),
            PlainSubject::Tool(pattern) => Rule::tool(self.state, *pattern),
            PlainSubject::Argument(pattern, path, test) => {
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
            PlainAnswer::Allow(ApprovalScope::Session) => Approval::session(),
            PlainAnswer::Allow(ApprovalScope::Always) => Approval::always(),
            PlainAnswer::Allow(_) => Approval::once(),
            PlainAnswer::Deny => Approval::deny("denied"),
            PlainAnswer::Suspend => Approval::Suspend,
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
    let approver = ScriptedApprover::new(answers);
    let tools = world.tools();
    // The users share everything, even the session.
    let (policy, session) = (world.policy(&approver), ToolSession::new());
    let executors = USERS.map(|user| {
        registry(tools.clone())
            .executor(context_builder().with_actor(Actor::user(user)).build())
            .with_policy(policy.clone())
            .with_session(session.clone())
            .build()
            .unwrap()
    });
    for (call, expected) in world.calls.iter().zip(&expected) {
        // The model sees each refusal once per turn, so each call gets its own turn.
        let executor = &executors[call.user];
        executor.session().begin_turn();
        let (ran, asked) = (tools[call.tool].count(), approver.requests().len());
        let outcome = settle(executor, TOOLS[call.tool], call.arguments())
            .now_or_never()
            .expect("the call completes immediately");
        let asked = approver.requests().len() > asked;
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

// Random worlds.

fn rule() -> impl Strategy<Value = PlainRule> {
    let state = prop_oneof![Just(RuleState::Allow), Just(RuleState::Ask), Just(RuleState::Deny)];
    let tool = || prop_oneof![Just("fs.*"), Just("fs.write"), Just("mail"), Just("*")];
    let path = prop_oneof![Just("$.path"), Just("$.files[*]")];
    let test = prop_oneof![
        Just(Test::Present),
        (0..3_usize).prop_map(Test::Equals),
        (0..3_usize).prop_map(Test::Starts)
    ];
    let subject = prop_oneof![
        (0..3_usize).prop_map(PlainSubject::Permission),
        tool().prop_map(PlainSubject::Tool),
        (tool(), path, test).prop_map(|(tool, path, test)| PlainSubject::Argument(tool, path, test)),
    ];
    (state, subject).prop_map(|(state, subject)| PlainRule { state, subject })
}

fn plain_call() -> impl Strategy<Value = PlainCall> {
    let answer = prop_oneof![
        1 => Just(PlainAnswer::Allow(ApprovalScope::Once)),
        2 => Just(PlainAnswer::Allow(ApprovalScope::Session)),
        2 => Just(PlainAnswer::Allow(ApprovalScope::Always)),
        1 => Just(PlainAnswer::Deny),
        1 => Just(PlainAnswer::Suspend),
        1 => (0..3_usize).prop_map(PlainAnswer::Edit),
    ];
    let path = proptest::option::of(0..3_usize);
    let files = proptest::collection::vec(0..3_usize, 0..3);
    (0..2_usize, 0..3_usize, path, files, answer).prop_map(|(user, tool, path, files, answer)| PlainCall {
        user,
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
    // Denied permissions decide most calls early, so they are rare here.
    let denied = prop_oneof![3 => Just(Vec::new()), 1 => some_of_three()];
    let declares = proptest::collection::vec(some_of_three(), 3);
    let rules = proptest::collection::vec(rule(), 0..5);
    let calls = proptest::collection::vec(plain_call(), 1..8);
    (
        some_of_three(),
        denied,
        any::<bool>(),
        declares,
        proptest::collection::vec(prop::bool::weighted(0.3), 3),
        rules,
        prop::bool::weighted(0.8),
        calls,
    )
        .prop_map(
            |(allowed, denied, allow_unspecified, declares, destructive, rules, approver, calls)| World {
                allowed,
                denied,
                allow_unspecified,
                declares,
                destructive,
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
    fn the_engine_agrees_with_the_model(world in world()) {
        check(&world);
    }
}
