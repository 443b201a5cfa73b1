//! [`Placed`]: where a glyph is on the page.

/// A place on the page, or a direction.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Point {
    pub(super) x: f32,
    pub(super) y: f32,
}

impl Point {
    /// Returns the way from another point to this one.
    pub(super) fn since(self, other: Self) -> Self {
        Self {
            x: self.x - other.x,
            y: self.y - other.y,
        }
    }

    /// Returns how far this way leads in a direction of length 1.
    pub(super) fn along(self, direction: Self) -> f32 {
        self.x * direction.x + self.y * direction.y
    }

    /// Returns the point at a distance in a direction.
    pub(super) fn moved(self, direction: Self, distance: f32) -> Self {
        Self {
            x: direction.x.mul_add(distance, self.x),
            y: direction.y.mul_add(distance, self.y),
        }
    }
}

/// The place of a glyph on the page.
#[derive(Debug, Clone, Copy)]
pub(super) struct Placed {
    /// Where the glyph begins, and where it ends.
    pub(super) start: Point,
    pub(super) end: Point,
    /// The direction in which the text is written, and that in which the next line follows.
    pub(super) forward: Point,
    pub(super) down: Point,
    /// The font size, in the unit of the page.
    pub(super) size: f32,
    /// The smallest gap that is a space, in the unit of the page.
    pub(super) gap: f32,
}

impl Placed {
    /// Returns how far the glyph extends in the direction of its text.
    pub(super) fn width(&self) -> f32 {
        self.end.since(self.start).along(self.forward).abs()
    }

    /// Returns whether the size of another glyph is about the same.
    pub(super) fn has_size_of(&self, other: &Self) -> bool {
        (self.size - other.size).abs() <= SAME_SIZE * self.size.max(other.size)
    }

    /// Returns whether another glyph is written in about the same direction.
    pub(super) fn has_direction_of(&self, other: &Self) -> bool {
        self.forward.along(other.forward) >= SAME_DIRECTION
    }
}

/// The largest difference of the font sizes of two lines of the same paragraph, in parts of the larger one.
const SAME_SIZE: f32 = 0.15;

/// The smallest cosine of the angle between two texts in the same direction.
const SAME_DIRECTION: f32 = 0.9;
