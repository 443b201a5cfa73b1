//! Translates the events of flows into lines.

use agcore_flow::{FlowEvent, Interrupt, Record};
use serde_json::Value;

use super::millis;
use crate::{
    failure::ErrorInfo,
    flow::{FlowEnd, FlowQuestion, FlowStart, NodeData, NodeEnd, NodeRetry, NodeStart},
    line::Event,
    tokens::UsageTotals,
};

/// Translates an event of a flow. Events of agents are translated elsewhere, and the end of the run is its result.
pub(crate) fn flow_event(event: &FlowEvent) -> Option<Event> {
    Some(match event {
        FlowEvent::RunStarted { flow, is_resumed } => Event::FlowStart(FlowStart {
            flow: flow.clone(),
            resumed: *is_resumed,
        }),
        FlowEvent::NodeStarted {
            node,
            branch,
            visit,
            attempt,
        } => Event::NodeStart(NodeStart {
            node: node.clone(),
            branch: branch.clone(),
            visit: *visit,
            attempt: *attempt,
        }),
        FlowEvent::NodeRetried {
            node,
            branch,
            attempt,
            wait,
            fault,
        } => Event::NodeRetry(NodeRetry {
            node: node.clone(),
            branch: branch.clone(),
            attempt: *attempt,
            delay_ms: millis(*wait),
            error: ErrorInfo::from(fault),
        }),
        FlowEvent::NodeFinished(record) => Event::NodeEnd(Box::new(finished(record))),
        FlowEvent::NodeFailed { node, branch, fault } => Event::NodeEnd(Box::new(NodeEnd {
            node: node.clone(),
            branch: branch.clone(),
            id: None,
            visit: None,
            attempts: None,
            next: Vec::new(),
            data: None,
            duration_ms: None,
            usage: None,
            error: Some(ErrorInfo::from(fault)),
        })),
        FlowEvent::Custom { node, branch, data } => Event::NodeData(NodeData {
            node: node.clone(),
            branch: branch.clone(),
            data: data.clone(),
        }),
        FlowEvent::Interrupted(interrupt) => Event::FlowQuestion(question(interrupt)),
        _ => return None,
    })
}

fn finished(record: &Record) -> NodeEnd {
    NodeEnd {
        node: record.node.clone(),
        branch: record.branch.clone(),
        id: Some(record.id),
        visit: Some(record.visit),
        attempts: Some(record.attempts),
        next: record.next.clone(),
        data: record.data.clone(),
        duration_ms: Some(millis(record.duration)),
        usage: record.usage.as_deref().map(UsageTotals::from),
        error: None,
    }
}

/// Translates the end of a flow with this state and these open questions.
pub(crate) fn flow_end(state: &Value, questions: &[Interrupt]) -> FlowEnd {
    FlowEnd {
        state: state.clone(),
        questions: questions.iter().map(question).collect(),
    }
}

fn question(interrupt: &Interrupt) -> FlowQuestion {
    FlowQuestion {
        id: interrupt.id.clone(),
        node: interrupt.node.clone(),
        branch: interrupt.branch.clone(),
        prompt: interrupt.prompt.clone(),
    }
}
