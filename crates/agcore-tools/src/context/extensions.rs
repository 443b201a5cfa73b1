//! [`Extensions`]: values of any type, one of each, that a context carries to its tools.

use std::{
    any::{Any, TypeId, type_name},
    collections::HashMap,
    fmt,
    sync::Arc,
};

/// Values of any type, one of each.
#[derive(Clone, Default)]
pub struct Extensions(HashMap<TypeId, Slot>);

#[derive(Clone)]
struct Slot {
    type_name: &'static str,
    value: Arc<dyn Any + Send + Sync>,
}

impl Extensions {
    /// Puts a value in, in place of another of its type.
    pub fn insert<T: Send + Sync + 'static>(&mut self, value: T) {
        self.insert_shared(Arc::new(value));
    }

    /// Puts a value in that is shared already.
    pub fn insert_shared<T: Send + Sync + 'static>(&mut self, value: Arc<T>) {
        self.0.insert(
            TypeId::of::<T>(),
            Slot {
                type_name: type_name::<T>(),
                value,
            },
        );
    }

    /// The value of a type.
    pub fn get<T: Send + Sync + 'static>(&self) -> Option<Arc<T>> {
        Arc::clone(&self.0.get(&TypeId::of::<T>())?.value).downcast().ok()
    }

    /// Whether there is a value of a type.
    pub fn contains<T: 'static>(&self) -> bool {
        self.0.contains_key(&TypeId::of::<T>())
    }
}

impl fmt::Debug for Extensions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set()
            .entries(self.0.values().map(|slot| slot.type_name))
            .finish()
    }
}
