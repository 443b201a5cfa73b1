//! The names of the nodes that every planner flow has.

pub(super) const INITIALISE: &str = "initialise";
pub(super) const INHERIT: &str = "inherit";
pub(super) const USER_CONTEXT: &str = "user_context";
pub(super) const PREPROCESS: &str = "preprocess";
pub(super) const RECALL: &str = "recall";
pub(super) const SCENARIO: &str = "scenario";
pub(super) const PLANNER: &str = "planner";
pub(super) const REFLECTION: &str = "reflection";
pub(super) const FINISH: &str = "finish";
pub(super) const OUTPUT: &str = "output";
pub(super) const ARCHIVE: &str = "archive";

/// The nodes whose records templates do not see among the actions.
pub(super) const UNSEEN: [&str; 7] = [INITIALISE, INHERIT, USER_CONTEXT, PREPROCESS, RECALL, SCENARIO, FINISH];

/// All names, which tools cannot have.
pub(super) const ALL: [&str; 11] = [
    INITIALISE,
    INHERIT,
    USER_CONTEXT,
    PREPROCESS,
    RECALL,
    SCENARIO,
    PLANNER,
    REFLECTION,
    FINISH,
    OUTPUT,
    ARCHIVE,
];
