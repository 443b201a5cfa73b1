//! Dropping, copying, comparing and debugging of values. No depth overflows the stack.

use std::{fmt, mem};

use super::tree::{MAX_DEPTH, Object, Value};

/// Values are dropped without recursion. As for any type with a destructor, move content out with [`std::mem::take`].
impl Drop for Value {
    fn drop(&mut self) {
        if self.elements().any(Self::is_nested) {
            dismantle(self);
        }
    }
}

/// Drops everything in a value that is nested more than two levels deep.
#[cold]
fn dismantle(value: &mut Value) {
    let mut pending = Vec::new();
    take_nested(value, &mut pending);
    while let Some(mut value) = pending.pop() {
        take_nested(&mut value, &mut pending);
    }
}

/// Moves the elements that have containers as elements to `pending`.
fn take_nested(value: &mut Value, pending: &mut Vec<Value>) {
    let mut at = 0;
    while let Some(element) = value.element_mut(at) {
        if element.is_nested() {
            pending.push(mem::take(element));
        }
        at += 1;
    }
}

impl Value {
    /// Returns the elements of an array or the values of an object.
    fn elements(&self) -> impl Iterator<Item = &Self> {
        let elements = self.as_array().unwrap_or_default().iter();
        elements.chain(self.as_object().into_iter().flat_map(Object::values))
    }

    fn element(&self, at: usize) -> Option<&Self> {
        match self {
            Self::Array(elements) => elements.get(at),
            Self::Object(object) => object.value_at(at),
            _ => None,
        }
    }

    fn element_mut(&mut self, at: usize) -> Option<&mut Self> {
        match self {
            Self::Array(elements) => elements.get_mut(at),
            Self::Object(object) => object.value_at_mut(at),
            _ => None,
        }
    }

    /// Returns whether the value has containers with content as elements.
    fn is_nested(&self) -> bool {
        self.elements().any(|element| element.element(0).is_some())
    }

    /// Copies the value, with null for each element.
    fn outline(&self) -> Self {
        match self {
            Self::Null => Self::Null,
            Self::Bool(flag) => Self::Bool(*flag),
            Self::Integer(number) => Self::Integer(*number),
            Self::Unsigned(number) => Self::Unsigned(*number),
            Self::Float(number) => Self::Float(*number),
            Self::String(text) => Self::String(text.clone()),
            Self::Array(elements) => elements.iter().map(|_| Self::Null).collect(),
            Self::Object(object) => Self::Object(object.outline()),
        }
    }
}

/// A container that is being copied.
struct Copying<'v> {
    source: &'v Value,
    copy: Value,
    /// The index of the next element.
    next: usize,
}

impl<'v> Copying<'v> {
    fn new(source: &'v Value) -> Self {
        Self {
            source,
            copy: source.outline(),
            next: 0,
        }
    }
}

impl Clone for Value {
    fn clone(&self) -> Self {
        let mut outer: Vec<Copying<'_>> = Vec::new();
        let mut current = Copying::new(self);
        loop {
            if let Some(element) = current.source.element(current.next) {
                let inner = Copying::new(element);
                outer.push(mem::replace(&mut current, inner));
                continue;
            }
            let Some(mut container) = outer.pop() else {
                return current.copy;
            };
            if let Some(element) = container.copy.element_mut(container.next) {
                *element = current.copy;
            }
            container.next += 1;
            current = container;
        }
    }
}

/// Two values are equal if they have the same type and content. The order of fields counts.
impl PartialEq for Value {
    fn eq(&self, other: &Self) -> bool {
        let mut pending = Vec::new();
        let mut next = Some((self, other));
        while let Some(pair) = next {
            match pair {
                (Self::Array(a), Self::Array(b)) if a.len() == b.len() => pending.extend(a.iter().zip(b)),
                (Self::Object(a), Self::Object(b)) if a.keys().eq(b.keys()) => {
                    pending.extend(a.values().zip(b.values()));
                }
                (Self::Null, Self::Null) => {}
                (Self::Bool(a), Self::Bool(b)) if a == b => {}
                (Self::Integer(a), Self::Integer(b)) if a == b => {}
                (Self::Unsigned(a), Self::Unsigned(b)) if a == b => {}
                (Self::Float(a), Self::Float(b)) if a == b => {}
                (Self::String(a), Self::String(b)) if a == b => {}
                _ => return false,
            }
            next = pending.pop();
        }
        true
    }
}

/// Prints `…` for values that are nested too deeply.
impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Shown { value: self, depth: 0 }.fmt(f)
    }
}

/// A value with the number of containers around it, and its elements without a type name in front.
struct Shown<'v> {
    value: &'v Value,
    depth: usize,
}

struct ShownElements<'v>(Shown<'v>);

impl fmt::Debug for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let elements = |value| ShownElements(Shown { value, ..*self });
        match self.value {
            Value::Null => f.write_str("Null"),
            Value::Bool(flag) => f.debug_tuple("Bool").field(flag).finish(),
            Value::Integer(number) => f.debug_tuple("Integer").field(number).finish(),
            Value::Unsigned(number) => f.debug_tuple("Unsigned").field(number).finish(),
            Value::Float(number) => f.debug_tuple("Float").field(number).finish(),
            Value::String(text) => f.debug_tuple("String").field(text).finish(),
            _ if self.depth == MAX_DEPTH => f.write_str("…"),
            value @ Value::Array(_) => f.debug_tuple("Array").field(&elements(value)).finish(),
            value @ Value::Object(_) => f.debug_tuple("Object").field(&elements(value)).finish(),
        }
    }
}

impl fmt::Debug for ShownElements<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let depth = self.0.depth + 1;
        let shown = |value| Shown { value, depth };
        match self.0.value {
            Value::Object(object) => {
                let fields = object.iter().map(|(name, value)| (name, shown(value)));
                f.debug_map().entries(fields).finish()
            }
            array => f.debug_list().entries(array.elements().map(shown)).finish(),
        }
    }
}
