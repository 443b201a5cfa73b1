//! Conversions from the errors of the layers below, and to a [`Fault`].

use std::error::Error as _;

use agcore_chat::{Fault, FaultKind};
use agcore_cycle::{CycleError, CycleErrorKind, machine::MachineError};
use agcore_llm::LlmError;
use agcore_memory::{MemoryError, MemoryErrorKind};
use agcore_session::{SessionError, SessionErrorKind};
use agcore_tools::ToolError;

use super::{AgentError, AgentErrorKind, Source};
use crate::plan::PlanError;

impl AgentError {
    /// Returns the error as data, for events and journals.
    pub fn fault(&self) -> Fault {
        let kind = match (&self.0.source, self.0.kind) {
            (Some(Source::Cycle(error)), AgentErrorKind::Conflict | AgentErrorKind::Unavailable) => {
                let kind = storage_fault(error).map_or(FaultKind::Storage, |fault| fault.kind);
                return Fault::new(kind, error.message()).with_retryable(self.is_retryable());
            }
            (Some(Source::Cycle(error)), _) => return error.fault(),
            (Some(Source::Tool(error)), AgentErrorKind::ToolFailure) => return error.fault(),
            (_, AgentErrorKind::Cancelled) => FaultKind::Cancelled,
            (_, AgentErrorKind::HookBlocked) => FaultKind::HookBlocked,
            (_, AgentErrorKind::ToolFailure) => FaultKind::Tool,
            (_, AgentErrorKind::LimitReached) => FaultKind::Limit,
            (_, AgentErrorKind::Storage | AgentErrorKind::Unavailable | AgentErrorKind::InvalidState) => {
                FaultKind::Storage
            }
            (_, AgentErrorKind::Conflict) => FaultKind::Conflict,
            (
                _,
                AgentErrorKind::InvalidInput
                | AgentErrorKind::Busy
                | AgentErrorKind::Held
                | AgentErrorKind::InvalidConfig,
            ) => FaultKind::InvalidRequest,
            (_, AgentErrorKind::NotFound) => FaultKind::NotFound,
            (_, AgentErrorKind::InvalidOutput | AgentErrorKind::InvalidPlan) => FaultKind::Malformed,
            (_, AgentErrorKind::Model) => FaultKind::Unknown,
        };
        Fault::new(kind, self.message()).with_retryable(self.is_retryable())
    }
}

impl From<CycleError> for AgentError {
    fn from(error: CycleError) -> Self {
        let kind = match error.kind() {
            CycleErrorKind::Cancelled => AgentErrorKind::Cancelled,
            CycleErrorKind::HookBlocked => AgentErrorKind::HookBlocked,
            CycleErrorKind::ToolFailure => AgentErrorKind::ToolFailure,
            CycleErrorKind::LimitReached => AgentErrorKind::LimitReached,
            CycleErrorKind::Storage => match storage_fault(&error) {
                Some(fault) if fault.kind == FaultKind::Conflict => AgentErrorKind::Conflict,
                Some(fault) if fault.is_retryable() => AgentErrorKind::Unavailable,
                _ => AgentErrorKind::Storage,
            },
            CycleErrorKind::InvalidInput => AgentErrorKind::InvalidInput,
            CycleErrorKind::InvalidOutput => AgentErrorKind::InvalidOutput,
            // `Model`, and kinds that this version does not know.
            _ => AgentErrorKind::Model,
        };
        Self::new(kind, String::new()).with_source(Source::Cycle(error))
    }
}

/// Returns what a recorder reported, if that is why a turn was interrupted.
fn storage_fault(error: &CycleError) -> Option<&Fault> {
    error.source()?.downcast_ref()
}

/// The provider could not be created, so that `agent(model(name, key)?).session()?` needs a single error type.
impl From<LlmError> for AgentError {
    fn from(error: LlmError) -> Self {
        CycleError::from(error).into()
    }
}

impl From<MachineError> for AgentError {
    fn from(error: MachineError) -> Self {
        CycleError::from(error).into()
    }
}

/// The store of sessions failed.
impl From<SessionError> for AgentError {
    fn from(error: SessionError) -> Self {
        let kind = match error.kind() {
            SessionErrorKind::NotFound => AgentErrorKind::NotFound,
            SessionErrorKind::AlreadyExists | SessionErrorKind::InvalidInput | SessionErrorKind::InvalidState => {
                AgentErrorKind::InvalidInput
            }
            SessionErrorKind::Serialization => AgentErrorKind::InvalidState,
            SessionErrorKind::Held => AgentErrorKind::Held,
            SessionErrorKind::Conflict { .. } => AgentErrorKind::Conflict,
            SessionErrorKind::Unavailable => AgentErrorKind::Unavailable,
            _ => AgentErrorKind::Storage,
        };
        Self::new(kind, error.to_string()).with_source(Source::Session(error))
    }
}

/// The store of the session's memory failed.
impl From<MemoryError> for AgentError {
    fn from(error: MemoryError) -> Self {
        let kind = match error.kind() {
            MemoryErrorKind::NotFound => AgentErrorKind::NotFound,
            MemoryErrorKind::AlreadyExists | MemoryErrorKind::InvalidInput | MemoryErrorKind::InvalidState => {
                AgentErrorKind::InvalidInput
            }
            MemoryErrorKind::Serialization => AgentErrorKind::InvalidState,
            MemoryErrorKind::Conflict { .. } => AgentErrorKind::Conflict,
            MemoryErrorKind::Unavailable => AgentErrorKind::Unavailable,
            _ => AgentErrorKind::Storage,
        };
        Self::new(kind, error.to_string()).with_source(Source::Memory(error))
    }
}

/// A plan cannot be used.
impl From<PlanError> for AgentError {
    fn from(error: PlanError) -> Self {
        Self::new(AgentErrorKind::InvalidPlan, error.to_string()).with_source(Source::Plan(error))
    }
}

/// The tools could not be set up.
impl From<ToolError> for AgentError {
    fn from(error: ToolError) -> Self {
        Self::new(AgentErrorKind::ToolFailure, error.to_string()).with_source(Source::Tool(error))
    }
}
