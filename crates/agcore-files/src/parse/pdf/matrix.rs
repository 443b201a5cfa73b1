//! [`Matrix`]: transformations of the page.

use lopdf::Object;

use super::place::Point;

/// A transformation as in PDF: the six numbers `a b c d e f`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Matrix([f32; 6]);

impl Matrix {
    pub(super) const IDENTITY: Self = Self([1.0, 0.0, 0.0, 1.0, 0.0, 0.0]);

    /// Reads a transformation from the operands of an operator.
    pub(super) fn from_operands(operands: &[Object]) -> Option<Self> {
        let mut numbers = [0.0; 6];
        if operands.len() != numbers.len() {
            return None;
        }
        for (number, operand) in numbers.iter_mut().zip(operands) {
            *number = operand.as_float().ok()?;
        }
        Some(Self(numbers))
    }

    /// Returns a translation.
    pub(super) fn translation(x: f32, y: f32) -> Self {
        Self([1.0, 0.0, 0.0, 1.0, x, y])
    }

    /// Returns this transformation, followed by another.
    pub(super) fn then(self, next: Self) -> Self {
        let ([a, b, c, d, e, f], [na, nb, nc, nd, ne, nf]) = (self.0, next.0);
        Self([
            a * na + b * nc,
            a * nb + b * nd,
            c * na + d * nc,
            c * nb + d * nd,
            e * na + f * nc + ne,
            e * nb + f * nd + nf,
        ])
    }

    /// Returns where a point is moved to.
    pub(super) fn point(self, x: f32, y: f32) -> Point {
        let [a, b, c, d, e, f] = self.0;
        Point {
            x: a * x + c * y + e,
            y: b * x + d * y + f,
        }
    }

    /// Returns the direction of lines and how much lengths in it grow.
    pub(super) fn right(self) -> (Point, f32) {
        direction(self.0[0], self.0[1], Point { x: 1.0, y: 0.0 })
    }

    /// Returns the direction from a line to the one above it and how much lengths in it grow.
    pub(super) fn up(self) -> (Point, f32) {
        direction(self.0[2], self.0[3], Point { x: 0.0, y: 1.0 })
    }
}

/// Returns the direction of a way, and its length. A way without a length has the usual direction.
fn direction(x: f32, y: f32, usual: Point) -> (Point, f32) {
    let length = x.hypot(y);
    if length > 0.0 && length.is_finite() {
        let (x, y) = (x / length, y / length);
        (Point { x, y }, length)
    } else {
        (usual, 0.0)
    }
}
