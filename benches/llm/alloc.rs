//! Counts allocations: those of the whole process, which has one thread.

use std::{
    alloc::{GlobalAlloc, Layout, System},
    cell::Cell,
};

/// The system's allocator; a call to grow counts as an allocation of the new size.
struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// What was allocated.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Allocated {
    pub(crate) count: u64,
    pub(crate) bytes: u64,
}

thread_local! {
    static COUNTS: Cell<bool> = const { Cell::new(false) };
    static ALLOCATED: Cell<Allocated> = const { Cell::new(Allocated { count: 0, bytes: 0 }) };
}

/// What this thread allocates in `work`.
pub(crate) fn counted<T>(work: impl FnOnce() -> T) -> (T, Allocated) {
    ALLOCATED.set(Allocated::default());
    COUNTS.set(true);
    let done = work();
    COUNTS.set(false);
    (done, ALLOCATED.get())
}

fn count(size: usize) {
    // Not while the thread ends, when its variables are gone.
    let counts = COUNTS.try_with(Cell::get).unwrap_or(false);
    if counts {
        let Allocated { count, bytes } = ALLOCATED.get();
        ALLOCATED.set(Allocated {
            count: count + 1,
            bytes: bytes + size as u64,
        });
    }
}

#[expect(unsafe_code, reason = "only the program's allocator sees its allocations")]
// SAFETY: every call goes to the system's allocator as it came; counting neither allocates nor panics.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: the caller's duties are those of the system's allocator.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: as above.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, place: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size);
        // SAFETY: as above; `place` came from the system's allocator.
        unsafe { System.realloc(place, layout, size) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        // SAFETY: as above; `place` came from the system's allocator.
        unsafe { System.dealloc(place, layout) }
    }
}
