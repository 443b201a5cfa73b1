//! [`TextState`]: where and how a page shows texts, while its operators are carried out.

use std::{collections::BTreeMap, rc::Rc};

use lopdf::{Object, content::Operation};

use super::{
    font::{Font, Shown},
    matrix::Matrix,
    page_text::{PageText, Placed, Point},
};

/// The number of graphics states that can be saved.
const MAX_SAVED: usize = 512;

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
}

/// The state of a page while it is drawn.
#[derive(Debug)]
pub(super) struct TextState {
    graphics: Graphics,
    saved: Vec<Graphics>,
    /// The place of the next text, and of the line that it is on.
    text: Matrix,
    line: Matrix,
    page: PageText,
    /// The number of codes of all texts.
    codes: usize,
    /// The number of codes of each font whose characters are not known.
    unknown: usize,
    /// The font of texts whose font is missing.
    fallback: Rc<Font>,
}

/// The part of the state that a form cannot change.
#[derive(Debug)]
pub(super) struct Kept(Graphics);

impl TextState {
    pub(super) fn new(fallback: Rc<Font>) -> Self {
        Self {
            graphics: Graphics {
                transformation: Matrix::IDENTITY,
                font: None,
                size: 1.0,
                leading: 0.0,
                code_spacing: 0.0,
                space_spacing: 0.0,
                width_scale: 1.0,
            },
            saved: Vec::new(),
            text: Matrix::IDENTITY,
            line: Matrix::IDENTITY,
            page: PageText::default(),
            codes: 0,
            unknown: 0,
            fallback,
        }
    }

    /// Returns the text of the page.
    pub(super) fn into_text(self) -> String {
        self.page.into_text()
    }

    /// Returns the number of codes whose characters are known, and of the others.
    pub(super) fn counts(&self) -> (usize, usize) {
        (self.codes - self.unknown, self.unknown)
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
    pub(super) fn apply(&mut self, operation: &Operation, fonts: &Fonts) {
        let operands = operation.operands.as_slice();
        let number = |index: usize| {
            let operand = operands.get(index).and_then(|operand| operand.as_float().ok());
            operand.unwrap_or(0.0)
        };
        match operation.operator.as_str() {
            "q" if self.saved.len() < MAX_SAVED => self.saved.push(self.graphics.clone()),
            "Q" => self.graphics = self.saved.pop().unwrap_or_else(|| self.graphics.clone()),
            "cm" => self.transform(operands),
            "BT" => self.set_line(Matrix::IDENTITY),
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
            "Tj" | "TJ" => self.show(operands),
            "'" => {
                self.next_line(0.0, -self.graphics.leading);
                self.show(operands);
            }
            "\"" => {
                self.graphics.space_spacing = number(0);
                self.graphics.code_spacing = number(1);
                self.next_line(0.0, -self.graphics.leading);
                self.show(operands.get(2..).unwrap_or_default());
            }
            _ => {}
        }
    }

    fn set_line(&mut self, line: Matrix) {
        self.line = line;
        self.text = line;
    }

    fn next_line(&mut self, x: f32, y: f32) {
        self.set_line(Matrix::translation(x, y).then(self.line));
    }

    /// Shows texts. Arrays contain texts and movements between them.
    fn show(&mut self, operands: &[Object]) {
        let font = self.graphics.font.as_ref().unwrap_or(&self.fallback);
        let font = Rc::clone(font);
        let Some(first) = operands.first() else { return };
        let parts = match first {
            Object::Array(parts) => parts.as_slice(),
            _ => std::slice::from_ref(first),
        };
        // Where the next text is, where the first one begins, and where the last one ends.
        let (mut at, mut start, mut end) = (0.0_f32, 0.0, 0.0);
        let mut shown = String::new();
        let mut gap = 0.0;
        for part in parts {
            if let Ok(movement) = part.as_float() {
                let movement = backward(&font) * -movement / 1000.0;
                gap += movement;
                at += self.scaled(movement * self.graphics.size, &font);
            } else if let Object::String(bytes, _) = part {
                let is_first = shown.is_empty();
                let before = shown.len();
                let found = font.show(bytes, &mut shown);
                let is_apart = gap >= font.gap() && !is_first;
                let has_space = |text: &str| text.ends_with(char::is_whitespace);
                let (head, tail) = shown.split_at(before);
                if is_apart && !has_space(head) && !tail.is_empty() && !tail.starts_with(char::is_whitespace) {
                    shown.insert(before, ' ');
                }
                start = if is_first { at } else { start };
                at += self.advance(&found, &font);
                // Negative spacing moves the next code over this one, which ends later nevertheless.
                let overlap = self
                    .scaled(backward(&font) * self.graphics.code_spacing, &font)
                    .min(0.0);
                (end, gap) = (at - overlap, 0.0);
                self.codes += found.codes;
                self.unknown += found.unknown;
            }
        }
        let place = self.placed(&font, start, end);
        self.page.push(&shown, place);
        self.text = moved(&font, at).then(self.text);
    }

    /// Returns how far a text moves the place of the next one.
    fn advance(&self, shown: &Shown, font: &Font) -> f32 {
        let graphics = &self.graphics;
        let spacing = graphics.code_spacing * shown.codes as f32 + graphics.space_spacing * shown.spaces as f32;
        self.scaled(shown.width * graphics.size + backward(font) * spacing, font)
    }

    /// Widths are scaled, but not heights.
    fn scaled(&self, length: f32, font: &Font) -> f32 {
        if font.is_vertical() {
            length
        } else {
            length * self.graphics.width_scale
        }
    }

    fn placed(&self, font: &Font, start: f32, end: f32) -> Placed {
        let place = self.text.then(self.graphics.transformation);
        let at = |length: f32| moved(font, length).then(place).point(0.0, 0.0);
        let ((right, width), (up, height)) = (place.right(), place.up());
        let size = self.graphics.size;
        let sign = if size < 0.0 { -1.0 } else { 1.0 };
        let towards = |point: Point, sign: f32| Point {
            x: point.x * sign,
            y: point.y * sign,
        };
        let (forward, down, length) = if font.is_vertical() {
            (towards(up, -sign), towards(right, -sign), height)
        } else {
            let sign_of_scale = if self.graphics.width_scale < 0.0 { -sign } else { sign };
            (towards(right, sign_of_scale), towards(up, -sign), width)
        };
        Placed {
            start: at(start),
            end: at(end),
            forward,
            down,
            size: size.abs() * height,
            gap: self.scaled(font.gap() * size, font).abs() * length,
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
