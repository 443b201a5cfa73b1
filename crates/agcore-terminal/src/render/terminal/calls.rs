//! Tool calls: their requests, their progress, and their cards.

use std::io::{self, Write};

use agcore_chat::ToolEvent;

use super::Terminal;
use crate::render::{
    card::{self, Card, call_name, command_failed, is_command},
    difference::difference_start,
    style::Palette,
    text::sanitized,
    todos::called_list,
};

impl<A: Write + Send, N: Write + Send> Terminal<A, N> {
    /// Shows a call of the main agent, or one of a sub-agent, whose name is shown with it.
    pub(super) fn tool(&mut self, sub_agent: Option<&str>, event: &ToolEvent) -> io::Result<()> {
        match event {
            ToolEvent::Requested { call_id, name, input } => {
                self.requested(call_id, &call_name(sub_agent, name), input)
            }
            ToolEvent::Started { call_id, name } => {
                self.started(call_id, &call_name(sub_agent, name), is_command(name));
                Ok(())
            }
            ToolEvent::Progress { call_id, progress } => match &progress.message {
                // The whole output is in the result; without a display that is redrawn, its parts are not shown.
                Some(_) if self.commands.iter().any(|id| **id == **call_id) => Ok(()),
                Some(message) => self.note(self.palette.dim, &format!("  … {}", sanitized(message))),
                None => Ok(()),
            },
            ToolEvent::Completed {
                call_id,
                name,
                input,
                output,
                is_error,
                duration,
                display,
                ..
            } => {
                self.ended(call_id);
                let is_own = sub_agent.is_none() && !is_error;
                let display = display.as_deref();
                let is_wrapped = self.notes_are_wrapped;
                let list = display.and_then(|display| called_list(name, display, self.palette, is_wrapped));
                if let Some(list) = list.filter(|_| is_own) {
                    return self.line(list.trim_end_matches('\n'));
                }
                let edited = self.edited.iter().find(|(id, _)| **id == **call_id);
                let card = Card {
                    name: &call_name(sub_agent, name),
                    input: edited.map_or(input, |(_, arguments)| arguments),
                    output,
                    has_failed: *is_error || command_failed(name, display),
                    duration: *duration,
                };
                let mut lines = card.line(self.palette, self.card_width());
                if let Some(change) = self.changes.as_ref().and_then(|changes| changes(call_id)) {
                    let change = difference_start(&change, self.palette, self.card_width());
                    lines = format!("{lines}\n{}", change.trim_end_matches('\n'));
                }
                self.line(&lines)
            }
            _ => Ok(()),
        }
    }

    fn requested(&mut self, call_id: &str, name: &str, input: &str) -> io::Result<()> {
        let (name, input) = card::call(name, input, self.card_width());
        match &mut self.status {
            Some(status) => {
                status.add_tool(call_id, format!("{name}{input}"));
                self.end_line()
            }
            None => {
                let Palette { tool, dim, .. } = self.palette;
                self.line(&format!("{tool}● {name}{tool:#}{dim}{input}{dim:#}"))
            }
        }
    }

    fn started(&mut self, call_id: &str, name: &str, is_command: bool) {
        match &mut self.status {
            Some(status) => {
                status.start_tool(call_id, name);
                if is_command {
                    status.show_output(call_id);
                }
            }
            None if is_command => self.commands.push(call_id.to_owned()),
            None => {}
        }
    }

    fn ended(&mut self, call_id: &str) {
        if let Some(status) = &mut self.status {
            status.end_tool(call_id);
        }
        self.commands.retain(|id| **id != *call_id);
    }
}
