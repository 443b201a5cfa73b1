//! [`Progress`]: the nodes of a run, as they start and end.

use std::io::{self, IsTerminal, Write};

use agcore::{
    StreamEvent,
    chat::{EventKind, ToolEvent},
    flow::FlowEvent,
};
use agcore_terminal::render::Render;

/// Shows the nodes of a run on standard error.
#[derive(Debug, Default)]
pub(super) struct Progress {
    is_terminal: bool,
    is_quiet: bool,
}

impl Progress {
    /// Shows nothing if it is quiet.
    pub(super) fn new(is_quiet: bool) -> Self {
        Self {
            is_terminal: io::stderr().is_terminal(),
            is_quiet,
        }
    }

    /// Shows an event. Calls of tools are rendered like those of a chat.
    ///
    /// # Errors
    /// When the output is closed.
    pub(super) fn show(&self, event: &FlowEvent, render: &mut dyn Render) -> io::Result<()> {
        match event {
            FlowEvent::RunStarted { flow, is_resumed } => {
                let how = if *is_resumed { "continues" } else { "starts" };
                self.line(render, &format!("{flow} {how}"))
            }
            FlowEvent::NodeStarted { node, attempt, .. } => match attempt {
                1 => self.line(render, &format!("  {node} …")),
                more => self.line(render, &format!("  {node} … attempt {more}")),
            },
            FlowEvent::NodeRetried { node, fault, .. } => self.line(
                render,
                &format!("  {node} failed and is tried again: {}", fault.message),
            ),
            FlowEvent::NodeFinished(record) => {
                let tokens = record.usage.as_ref().and_then(|usage| usage.total());
                let tokens = tokens.map(|tokens| format!(", {tokens} tokens")).unwrap_or_default();
                let next = record.next.join(", ");
                let millis = record.duration.as_millis();
                self.line(render, &format!("  {} ✓ {millis} ms{tokens} → {next}", record.node))
            }
            FlowEvent::NodeFailed { node, fault, .. } => self.line(render, &format!("  {node} ✗ {}", fault.message)),
            FlowEvent::Agent { event, .. } | FlowEvent::ToolCall { event, .. } => show_call(event, render),
            FlowEvent::Inside { event, .. } => self.show(event, render),
            _ => Ok(()),
        }
    }

    fn line(&self, render: &mut dyn Render, text: &str) -> io::Result<()> {
        if self.is_quiet {
            return Ok(());
        }
        if self.is_terminal {
            render.hide()?;
        }
        // Names of nodes are those of a file; messages can contain anything.
        let shown: String = text.chars().filter(|c| !c.is_control()).collect();
        writeln!(io::stderr().lock(), "{shown}")
    }
}

/// Renders calls of tools. What agents write is shown when the flow has checked it.
fn show_call(event: &StreamEvent, render: &mut dyn Render) -> io::Result<()> {
    match &event.kind {
        EventKind::Tool(ToolEvent::Progress { .. }) => Ok(()),
        EventKind::Tool(_) => render.event(event),
        _ => Ok(()),
    }
}
