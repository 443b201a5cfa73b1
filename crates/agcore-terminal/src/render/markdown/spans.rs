//! Writing formatted text: each span in its style.

use anstyle::{AnsiColor, Effects, Style};

use super::inline::{self, Mark, Rest, Span};
use crate::render::layout::Layout;

/// The longest target of a link, in bytes.
const MAX_TARGET: usize = 2_000;

/// Returns whether a target may be opened by the terminal: a web address that contains nothing but what a URL does.
fn is_web_address(target: &str) -> bool {
    let is_web = ["http://", "https://"].iter().any(|scheme| target.starts_with(scheme));
    is_web && target.len() <= MAX_TARGET && target.bytes().all(|byte| byte.is_ascii_graphic())
}

/// Writes the spans of a text that are complete, and returns how many bytes were consumed.
pub(super) fn write_spans(
    layout: &mut Layout,
    style: Style,
    text: &str,
    before: &mut Option<char>,
    is_whole: bool,
    out: &mut String,
) -> usize {
    let mut done = 0;
    loop {
        let rest = Rest {
            text: &text[done..],
            before: *before,
            is_whole,
        };
        let Some((span, bytes)) = inline::next(rest) else {
            return done;
        };
        write_span(layout, style, span, out);
        *before = rest.text[..bytes].chars().next_back();
        done += bytes;
    }
}

fn write_span(layout: &mut Layout, style: Style, span: Span<'_>, out: &mut String) {
    match span {
        Span::Text(text) => layout.text(style, text, out),
        Span::Code(code) => layout.text(style.fg_color(Some(AnsiColor::Green.into())), code, out),
        Span::Marked(mark, inside) => {
            let effects = match mark {
                Mark::Emphasis => Effects::ITALIC,
                Mark::Strong => Effects::BOLD,
                Mark::Both => Effects::BOLD | Effects::ITALIC,
                Mark::Strikethrough => Effects::STRIKETHROUGH,
            };
            write_nested(layout, style.effects(style.get_effects() | effects), inside, out);
        }
        Span::Link(text, target) => {
            layout.set_link(Some(target).filter(|target| is_web_address(target)));
            match target == text {
                // An address has no marks.
                true => layout.text(style.underline(), text, out),
                false => write_nested(layout, style.underline(), text, out),
            }
            layout.set_link(None);
            if target != text && !target.is_empty() {
                layout.text(style.dimmed(), &format!(" ({target})"), out);
            }
        }
    }
}

/// Writes complete text that may contain spans.
fn write_nested(layout: &mut Layout, style: Style, text: &str, out: &mut String) {
    write_spans(layout, style, text, &mut None, true, out);
}
