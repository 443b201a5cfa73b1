//! The options of a question about a call, and what the answers mean.

use agcore_chat::{Answer, Question, QuestionKind};
use agcore_tools::{Approval, ApprovalRequest, Grant, Permission};
use agent_client_protocol::v1::schema::{PermissionOption, PermissionOptionKind};

const ALLOW_ONCE: &str = "allow_once";
const ALLOW_SESSION: &str = "allow_session";
const ALLOW_ALWAYS: &str = "allow_always";
const ALLOW_SIMILAR: &str = "allow_similar";
const REJECT_ONCE: &str = "reject_once";
const REJECT_ALWAYS: &str = "reject_always";

/// The reason that the model gets.
const NO: &str = "The user answered no.";

/// A wider grant that an editor can offer, with what it covers in words.
#[derive(Debug, Clone, PartialEq)]
pub struct WiderGrant {
    /// The grant.
    pub grant: Grant,
    /// A description of the calls that it covers, such as `commands that begin with cargo test`.
    pub covers: String,
}

/// Returns the options of a question about a call. Calls that must be confirmed each time have no remembered answers.
///
/// `wider` is what one more option covers beyond the call.
pub fn options(request: &ApprovalRequest, wider: Option<&WiderGrant>) -> Vec<PermissionOption> {
    let mut options = vec![option(ALLOW_ONCE, "Allow", PermissionOptionKind::AllowOnce)];
    if !request.each_time {
        let what = match is_for_arguments(request) {
            true => "this exact call".to_owned(),
            false => request.tool.to_string(),
        };
        let always = |id, name: String| option(id, name, PermissionOptionKind::AllowAlways);
        options.push(always(ALLOW_SESSION, format!("Allow {what} in this session")));
        options.push(always(ALLOW_ALWAYS, format!("Always allow {what}")));
        if let Some(wider) = wider {
            options.push(always(ALLOW_SIMILAR, format!("Always allow {}", wider.covers)));
        }
    }
    options.push(option(REJECT_ONCE, "Reject", PermissionOptionKind::RejectOnce));
    if !request.each_time {
        let name = "Reject this call for the rest of the session";
        options.push(option(REJECT_ALWAYS, name, PermissionOptionKind::RejectAlways));
    }
    options
}

/// The meaning of an answer.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Decision {
    pub(crate) approval: Approval,
    /// Whether the same call is denied from now on.
    pub(crate) is_lasting_denial: bool,
}

/// Returns what the option with this id decides. An id that was not offered denies the call.
pub(crate) fn decision(request: &ApprovalRequest, wider: Option<WiderGrant>, id: &str) -> Decision {
    let offered = options(request, wider.as_ref());
    let is_offered = offered.iter().any(|option| &*option.option_id.0 == id);
    let kept = match is_for_arguments(request) {
        true => request.grant.clone(),
        false => request.tool_grant.clone(),
    };
    let approval = match (id, wider) {
        _ if !is_offered => Approval::deny("The editor sent an answer that was not offered."),
        (ALLOW_ONCE, _) => Approval::once(),
        (ALLOW_SESSION, _) => Approval::session().with_grant(kept),
        (ALLOW_ALWAYS, _) => Approval::always().with_grant(kept),
        (ALLOW_SIMILAR, Some(wider)) => Approval::always().with_grant(wider.grant),
        _ => Approval::deny(NO),
    };
    Decision {
        approval: approval.with_approver("editor"),
        is_lasting_denial: is_offered && id == REJECT_ALWAYS,
    }
}

/// Returns the options of a question of a suspended turn. Its answers are about this one call, because it may be one that is
/// confirmed each time.
pub(crate) fn question_options(question: &Question) -> Vec<PermissionOption> {
    let (yes, no) = match question.kind {
        QuestionKind::Uncertain => ("Run it again", "Do not run it again"),
        _ => ("Allow", "Reject"),
    };
    vec![
        option(ALLOW_ONCE, yes, PermissionOptionKind::AllowOnce),
        option(REJECT_ONCE, no, PermissionOptionKind::RejectOnce),
    ]
}

/// Returns the answer to a question of a suspended turn.
pub(crate) fn answer(id: &str) -> Answer {
    let answer = match id {
        ALLOW_ONCE => Answer::approve(),
        _ => Answer::deny(NO),
    };
    answer.with_approver("editor")
}

/// Returns whether remembered answers cover calls with the same arguments only: what a shell runs is in them.
fn is_for_arguments(request: &ApprovalRequest) -> bool {
    request.permissions.contains(&Permission::Shell)
}

fn option(id: &'static str, name: impl Into<String>, kind: PermissionOptionKind) -> PermissionOption {
    PermissionOption::new(id, name, kind)
}
