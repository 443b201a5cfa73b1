//! The widths of glyphs, in parts of the font size.

use std::collections::HashMap;

use lopdf::{Dictionary, Object};

use super::source::Source;

/// The largest number of widths of a composite font: glyphs have numbers of two bytes.
const MAX_WIDTHS: usize = 1 << 16;

/// The unit of widths, in parts of the font size.
const UNIT: f32 = 0.001;

/// Returns the widths of the 256 codes of a simple font, `None` for those that it does not define. `unit` is the unit of the
/// widths.
pub(super) fn of_codes<'p>(source: &Source<'p>, font: &'p Dictionary, unit: f32) -> Vec<Option<f32>> {
    let mut widths = vec![None; 256];
    let first = source.number(font, b"FirstChar").unwrap_or(0.0).clamp(0.0, 256.0) as usize;
    let found = source.array(font, b"Widths").unwrap_or_default();
    let slots = widths.get_mut(first..).unwrap_or_default();
    for (slot, width) in slots.iter_mut().zip(found) {
        *slot = number(source, width).map(|width| width * unit);
    }
    widths
}

/// The widths of the glyphs of a composite font.
#[derive(Debug)]
pub(super) struct CidWidths {
    usual: f32,
    widths: HashMap<u32, f32>,
    /// Neighbouring glyphs of the same width: the first, the last, and the width.
    ranges: Vec<(u32, u32, f32)>,
}

impl CidWidths {
    pub(super) fn read<'p>(source: &mut Source<'p>, font: &'p Dictionary) -> Self {
        let usual = source.number(font, b"DW").unwrap_or(1000.0) * UNIT;
        let (mut widths, mut ranges) = (HashMap::new(), Vec::new());
        let mut items = source.array(font, b"W").unwrap_or_default().iter();
        let mut next = |source: &Source<'p>| items.next().and_then(|item| source.resolve(item));
        while let (Some(first), Some(second)) = (next(source).and_then(cid), next(source)) {
            if let Ok(list) = second.as_array() {
                let list = list.iter().take(MAX_WIDTHS.saturating_sub(widths.len()));
                let listed = (first..).zip(list);
                widths.extend(listed.filter_map(|(cid, width)| Some((cid, number(source, width)? * UNIT))));
            } else if let (Some(last), Some(width)) =
                (cid(second), next(source).and_then(|width| width.as_float().ok()))
                && ranges.len() < MAX_WIDTHS
            {
                ranges.push((first, last, width * UNIT));
            }
        }
        ranges.sort_by_key(|(first, ..)| *first);
        if !source.keep(widths.len() + ranges.len()) {
            (widths, ranges) = (HashMap::new(), Vec::new());
        }
        Self { usual, widths, ranges }
    }

    /// Returns the widths of a font that defines none.
    pub(super) fn unknown() -> Self {
        Self {
            usual: 1000.0 * UNIT,
            widths: HashMap::new(),
            ranges: Vec::new(),
        }
    }

    /// Returns the width of a glyph.
    pub(super) fn width(&self, cid: Option<u32>) -> f32 {
        let Some(cid) = cid else { return self.usual };
        let in_range = || {
            let end = self.ranges.partition_point(|(first, ..)| *first <= cid);
            let (_, last, width) = self.ranges.get(end.checked_sub(1)?)?;
            (cid <= *last).then_some(*width)
        };
        let found = self.widths.get(&cid).copied().or_else(in_range);
        found.unwrap_or(self.usual)
    }

    /// Returns the width of a typical glyph.
    pub(super) fn average(&self) -> f32 {
        let widths = self
            .widths
            .values()
            .copied()
            .chain(self.ranges.iter().map(|(.., width)| *width));
        let (count, sum) = widths.fold((0.0, 0.0), |(count, sum), width| (count + 1.0, sum + width));
        if count > 0.0 {
            self.usual.min(sum / count)
        } else {
            self.usual
        }
    }
}

fn number<'p>(source: &Source<'p>, object: &'p Object) -> Option<f32> {
    source.resolve(object)?.as_float().ok()
}

fn cid(object: &Object) -> Option<u32> {
    let number = object.as_float().ok()?;
    (0.0..=65_535.0).contains(&number).then_some(number as u32)
}
