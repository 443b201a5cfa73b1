//! [`EditorApprover`]: asks about calls in the editor.

use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

use agcore_chat::text::{clip, visible};
use agcore_tools::{Approval, ApprovalRequest, Approver, Grant};
use agent_client_protocol::v1::schema::{ToolCallStatus, ToolCallUpdate, ToolCallUpdateFields};
use async_trait::async_trait;

use crate::{
    call_view::CallView,
    editor::{Asked, Editor},
    permission::{WiderGrant, decision, options},
    translator::{call_key, text_content},
};

/// The longest reason that is shown beside a call, in bytes.
const MAX_REASON: usize = 1000;

type View = dyn Fn(&ApprovalRequest) -> CallView + Send + Sync;
type Wider = dyn Fn(&ApprovalRequest) -> Option<WiderGrant> + Send + Sync;

/// Asks about calls in the editor, one at a time, with what they would change. "Always" answers become grants, and a call that is
/// rejected always is denied for the rest of the session.
///
/// If the editor goes while a question is open, the call becomes a question of the session: the turn is suspended, and the question
/// can be answered later, also by another program.
#[derive(Clone)]
pub struct EditorApprover {
    editor: Editor,
    view: Arc<View>,
    wider: Arc<Wider>,
    denied: Arc<Mutex<Vec<Grant>>>,
}

impl EditorApprover {
    /// Creates an approver. `view` describes a call, with its change: what a person sees is what must run.
    pub fn new(editor: Editor, view: impl Fn(&ApprovalRequest) -> CallView + Send + Sync + 'static) -> Self {
        Self {
            editor,
            view: Arc::new(view),
            wider: Arc::new(|_| None),
            denied: Arc::default(),
        }
    }

    /// Offers a wider grant for calls for which the function returns one.
    #[must_use]
    pub fn with_wider(
        mut self,
        wider: impl Fn(&ApprovalRequest) -> Option<WiderGrant> + Send + Sync + 'static,
    ) -> Self {
        self.wider = Arc::new(wider);
        self
    }

    fn is_denied(&self, request: &ApprovalRequest) -> bool {
        let denied = self.denied.lock().unwrap_or_else(PoisonError::into_inner);
        let covers = |grant: &Grant| grant.covers(&request.actor, &request.tool, &request.arguments, &[]);
        denied.iter().any(covers)
    }

    fn deny_always(&self, request: &ApprovalRequest) {
        let grant = Grant::same_arguments(request.tool.as_str(), &request.arguments).with_owner(request.actor.clone());
        self.denied.lock().unwrap_or_else(PoisonError::into_inner).push(grant);
    }
}

impl fmt::Debug for EditorApprover {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EditorApprover")
            .field("editor", &self.editor)
            .finish_non_exhaustive()
    }
}

#[async_trait]
impl Approver for EditorApprover {
    async fn approve(&self, request: &ApprovalRequest) -> Approval {
        if self.is_denied(request) {
            return Approval::deny("The user rejected this call for the rest of the session.").with_approver("editor");
        }
        let wider = (self.wider)(request);
        let asked = self
            .editor
            .ask(
                call(request, self.editor.named_view((self.view)(request))),
                options(request, wider.as_ref()),
            )
            .await;
        match asked {
            Asked::Selected(id) => {
                let decision = decision(request, wider, &id);
                if decision.is_lasting_denial {
                    self.deny_always(request);
                }
                decision.approval
            }
            Asked::Cancelled => Approval::deny("The user did not answer.").with_approver("editor"),
            Asked::Gone => Approval::Suspend,
        }
    }
}

/// Returns the call as the question shows it.
fn call(request: &ApprovalRequest, view: CallView) -> ToolCallUpdate {
    let view = view.by(request.agent.as_deref());
    let mut content = view.asked(request.arguments.as_value());
    if !request.reason.is_empty() {
        content.push(text_content(&visible(&clip(&request.reason, MAX_REASON))));
    }
    let fields = ToolCallUpdateFields::new()
        .title(view.title)
        .name(request.tool.to_string())
        .kind(view.kind)
        .status(ToolCallStatus::Pending)
        .locations(view.locations)
        .content(content)
        .raw_input(request.arguments.as_value().clone());
    ToolCallUpdate::new(call_key(request.parent_call.as_deref(), &request.call_id), fields)
}
