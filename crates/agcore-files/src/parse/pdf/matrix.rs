//! [`Matrix`]: transformations of the page.

use lopdf::Object;

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

    /// Returns where the origin is moved to.
    pub(super) fn origin(self) -> (f32, f32) {
        (self.0[4], self.0[5])
    }

    /// Returns how much a length in the direction of lines grows.
    pub(super) fn width_scale(self) -> f32 {
        self.0[0].hypot(self.0[1])
    }

    /// Returns how much the height of a line grows.
    pub(super) fn height_scale(self) -> f32 {
        self.0[2].hypot(self.0[3])
    }
}
