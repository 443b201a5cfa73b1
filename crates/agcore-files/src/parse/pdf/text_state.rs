//! [`TextState`]: where and how a page shows texts, while its operators are carried out.

use std::{collections::BTreeMap, rc::Rc};

use lopdf::{Object, content::Operation};

use super::{
    font::{Font, Glyph, Meaning},
    matrix::Matrix,
    page_text::{PageText, UNKNOWN},
    place::{Placed, Point},
};
use crate::{problem::FileProblem, work::Work};

/// The number of graphics states that can be saved.
const MAX_SAVED: usize = 512;

/// The spacing of codes that separates words, in parts of the font size. Headings are often spaced, but not that widely.
const WORD_SPACING: f32 = 1.0;

/// The number of codes between two checks of the time.
const CODES_PER_CHECK: usize = 1 << 14;

/// The rendering modes of texts that are not drawn.
const INVISIBLE: [f32; 2] = [3.0, 7.0];

/// The fonts of a page by their names.
pub(super) type Fonts = BTreeMap<Vec<u8>, Rc<Font>>;

/// The part of the state that `q` saves and `Q` restores.
#[derive(Debug, Clone)]
struct Graphics {
    transformation: Matrix,
    font: Option<Rc<Font>>,
    size: f32,
    leading: f32,
    /// Added to the width of each code.
    code_spacing: f32,
    /// Added to the width of each space as well.
    space_spacing: f32,
    /// The factor of widths.
    width_scale: f32,
    /// Whether texts are not drawn.
    is_invisible: bool,
}

/// The state of a page while it is drawn.
#[derive(Debug)]
pub(super) struct TextState<'w> {
    work: &'w Work<'w>,
    graphics: Graphics,
    saved: Vec<Graphics>,
    /// The place of the next text, and of the line that it is on.
    text: Matrix,
    line: Matrix,
    page: PageText,
    counts: Counts,
    /// Whether a text object is open.
    is_in_text: bool,
    /// The font of texts whose font is missing.
    fallback: Rc<Font>,
}

/// The numbers of the codes of a page.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Counts {
    /// The number of all codes.
    pub(super) codes: usize,
    /// The number of those whose characters are not known.
    pub(super) unknown: usize,
    /// The number of those with characters other than white space.
    pub(super) shown: usize,
    /// The number of those that are not drawn.
    pub(super) invisible: usize,
}

/// The part of the state that a form cannot change.
#[derive(Debug)]
pub(super) struct Kept(Graphics);

impl<'w> TextState<'w> {
    pub(super) fn new(work: &'w Work<'w>, fallback: Rc<Font>) -> Self {
        Self {
            work,
            graphics: Graphics {
                transformation: Matrix::IDENTITY,
                font: None,
                size: 1.0,
                leading: 0.0,
                code_spacing: 0.0,
                space_spacing: 0.0,
                width_scale: 1.0,
                is_invisible: false,
            },
            saved: Vec::new(),
            text: Matrix::IDENTITY,
            line: Matrix::IDENTITY,
            page: PageText::default(),
            counts: Counts::default(),
            is_in_text: false,
            fallback,
        }
    }

    /// Returns the text of the page.
    pub(super) fn into_text(self) -> String {
        self.page.into_text()
    }

    /// Returns the numbers of codes.
    pub(super) fn counts(&self) -> Counts {
        self.counts
    }

    /// Returns whether a text object was started and not ended.
    pub(super) fn is_in_text(&self) -> bool {
        self.is_in_text
    }

    /// Returns the state before a form.
    pub(super) fn keep(&self) -> Kept {
        Kept(self.graphics.clone())
    }

    /// Goes back to the state before a form.
    pub(super) fn restore(&mut self, kept: Kept) {
        self.graphics = kept.0;
    }

    /// Changes the transformation of what follows.
    pub(super) fn transform(&mut self, operands: &[Object]) {
        if let Some(matrix) = Matrix::from_operands(operands) {
            self.graphics.transformation = matrix.then(self.graphics.transformation);
        }
    }

    /// Carries out an operator. The rise (`Ts`) is not needed: it does not change the line that a text is on.
    pub(super) fn apply(&mut self, operation: &Operation, fonts: &Fonts) -> Result<(), FileProblem> {
        let operands = operation.operands.as_slice();
        let number = |index: usize| {
            let operand = operands.get(index).and_then(|operand| operand.as_float().ok());
            operand.unwrap_or(0.0)
        };
        match operation.operator.as_str() {
            "q" if self.saved.len() < MAX_SAVED => self.saved.push(self.graphics.clone()),
            "Q" => self.graphics = self.saved.pop().unwrap_or_else(|| self.graphics.clone()),
            "cm" => self.transform(operands),
            "BT" => {
                self.is_in_text = true;
                self.set_line(Matrix::IDENTITY);
            }
            "ET" => self.is_in_text = false,
            "Tr" => self.graphics.is_invisible = INVISIBLE.contains(&number(0)),
            "Tf" => {
                let name = operands.first().and_then(|name| name.as_name().ok());
                self.graphics.font = name.and_then(|name| fonts.get(name).cloned());
                self.graphics.size = number(1);
            }
            "Tc" => self.graphics.code_spacing = number(0),
            "Tw" => self.graphics.space_spacing = number(0),
            "Tz" => self.graphics.width_scale = number(0) / 100.0,
            "TL" => self.graphics.leading = number(0),
            "Td" => self.next_line(number(0), number(1)),
            "TD" => {
                self.graphics.leading = -number(1);
                self.next_line(number(0), number(1));
            }
            "Tm" => {
                if let Some(matrix) = Matrix::from_operands(operands) {
                    self.set_line(matrix);
                }
            }
            "T*" => self.next_line(0.0, -self.graphics.leading),
            "Tj" | "TJ" => return self.show(operands),
            "'" => {
                self.next_line(0.0, -self.graphics.leading);
                return self.show(operands);
            }
            "\"" => {
                self.graphics.space_spacing = number(0);
                self.graphics.code_spacing = number(1);
                self.next_line(0.0, -self.graphics.leading);
                return self.show(operands.get(2..).unwrap_or_default());
            }
            _ => {}
        }
        Ok(())
    }

    fn set_line(&mut self, line: Matrix) {
        self.line = line;
        self.text = line;
    }

    fn next_line(&mut self, x: f32, y: f32) {
        self.set_line(Matrix::translation(x, y).then(self.line));
    }

    /// Shows texts. Arrays contain texts and movements between them.
    fn show(&mut self, operands: &[Object]) -> Result<(), FileProblem> {
        let font = self.graphics.font.as_ref().unwrap_or(&self.fallback);
        let font = Rc::clone(font);
        let Some(first) = operands.first() else { return Ok(()) };
        let parts = match first {
            Object::Array(parts) => parts.as_slice(),
            _ => std::slice::from_ref(first),
        };
        let line = self.line_of(&font);
        let mut next = Next::default();
        let mut result = Ok(());
        for part in parts {
            if let Ok(movement) = part.as_float() {
                next.at += self.scaled(backward(&font) * -movement / 1000.0 * self.graphics.size, &font);
            } else if let Object::String(bytes, _) = part {
                next.is_after_text = false;
                result = font.show(bytes, |glyph| self.add(&glyph, &font, &line, &mut next));
            }
            if result.is_err() {
                break;
            }
        }
        self.text = moved(&font, next.at).then(self.text);
        result
    }

    /// Adds a glyph, and moves the place of the next one.
    fn add(&mut self, glyph: &Glyph<'_>, font: &Font, line: &Line, next: &mut Next) -> Result<(), FileProblem> {
        let graphics = &self.graphics;
        let width = self.scaled(glyph.width * graphics.size, font);
        let after = self.scaled(backward(font) * graphics.code_spacing, font);
        let space = if glyph.is_space { graphics.space_spacing } else { 0.0 };
        let space = self.scaled(backward(font) * space, font);
        // Spacing between the letters of a word is a part of them, unless it is as wide as letters are. Negative spacing moves
        // the next glyph over this one.
        let is_word = after > self.scaled(WORD_SPACING * graphics.size, font).abs();
        let own = if is_word { 0.0 } else { after.max(0.0) };
        let place = line.placed(next.at, next.at + width + own + space);
        next.at += width + after + space;
        self.counts.codes += 1;
        let text = match glyph.meaning {
            Meaning::Text(text) => text,
            Meaning::Nothing => "",
            Meaning::Unknown => UNKNOWN,
        };
        self.counts.unknown += usize::from(glyph.meaning == Meaning::Unknown);
        if !text.trim().is_empty() {
            self.counts.shown += 1;
            self.counts.invisible += usize::from(graphics.is_invisible);
        }
        if !text.is_empty() {
            self.page.push(text, place, next.is_continued);
            (next.is_continued, next.is_after_text) = (true, true);
        } else if next.is_after_text {
            self.page.extend(place);
        }
        if self.counts.codes.is_multiple_of(CODES_PER_CHECK) {
            self.work.check()?;
        }
        if self.page.len() > self.work.limits.unpacked_bytes {
            return Err(self.work.unpacked_too_large());
        }
        Ok(())
    }

    /// Widths are scaled, but not heights.
    fn scaled(&self, length: f32, font: &Font) -> f32 {
        if font.is_vertical() {
            length
        } else {
            length * self.graphics.width_scale
        }
    }

    /// Returns the line on which the next text is.
    fn line_of(&self, font: &Font) -> Line {
        let place = self.text.then(self.graphics.transformation);
        let ((right, width), (up, height)) = (place.right(), place.up());
        let size = self.graphics.size;
        let sign = if size < 0.0 { -1.0 } else { 1.0 };
        let towards = |point: Point, sign: f32| Point {
            x: point.x * sign,
            y: point.y * sign,
        };
        let is_vertical = font.is_vertical();
        let (along, unit, down) = if is_vertical {
            (towards(up, -1.0), height, towards(right, -sign))
        } else {
            (right, width, towards(up, -sign))
        };
        let is_turned = !is_vertical && self.graphics.width_scale < 0.0;
        let forward = towards(along, if is_turned { -sign } else { sign });
        let start = place.point(0.0, 0.0);
        Line {
            along,
            unit,
            first: Placed {
                start,
                end: start,
                forward,
                down,
                size: size.abs() * height,
                gap: self.scaled(font.gap() * size, font).abs() * unit,
            },
        }
    }
}

/// The next glyph of a text.
#[derive(Debug, Default)]
struct Next {
    /// The distance from the beginning of the text.
    at: f32,
    /// Whether the text has characters so far.
    is_continued: bool,
    /// Whether the part of the text that is not interrupted by movements has.
    is_after_text: bool,
}

/// The line on which a text is.
#[derive(Debug)]
struct Line {
    /// The direction and the length of widths.
    along: Point,
    unit: f32,
    /// The place of a glyph at its beginning.
    first: Placed,
}

impl Line {
    /// Returns the place between two distances from the beginning.
    fn placed(&self, start: f32, end: f32) -> Placed {
        let at = |length: f32| self.first.start.moved(self.along, length * self.unit);
        Placed {
            start: at(start),
            end: at(end),
            ..self.first
        }
    }
}

/// Movements and spacing are upwards in texts from top to bottom.
fn backward(font: &Font) -> f32 {
    if font.is_vertical() { -1.0 } else { 1.0 }
}

/// Returns the movement along a text.
fn moved(font: &Font, length: f32) -> Matrix {
    if font.is_vertical() {
        Matrix::translation(0.0, -length)
    } else {
        Matrix::translation(length, 0.0)
    }
}
