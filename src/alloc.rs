//! The allocator of the static Linux binary: an arena for the thread that main runs on, dlmalloc behind it.
//!
//! A hook process makes some thousand small allocations and lives for half a millisecond. Taking and giving back
//! a lock for each of them, and keeping books on what is free, was measured at a quarter of its instructions; a
//! page that is touched for the first time costs as much as three thousand. So one thread's blocks come out of a
//! fixed arena: what is given back is kept in a list for its size, and is the first to be handed out again. Other
//! threads, what is larger, and all else once the arena is full, are dlmalloc's as usual.

#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout};
use std::cell::{Cell, UnsafeCell};
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};

/// Enough to read and check a thousand rules; only touched pages cost anything.
const ARENA: usize = 8 << 20;
/// A larger allocation (a payload, a file) goes to dlmalloc, which gives it back.
const LARGEST: usize = 16 << 10;
/// Up to here there is a list for each multiple of 16 bytes, then for each power of two.
const FINE: usize = 1 << 10;
const LISTS: usize = FINE / 16 + 5;

/// The blocks, which `build/features.ld` leaves behind everything small: a page that both lie on is touched once.
#[repr(align(16))]
struct ArenaMemory(UnsafeCell<[u8; ARENA]>);

struct Arena {
    /// Where nothing was handed out yet.
    next: Cell<usize>,
    /// By size: the block that was given back last; each begins with the place of the one before it.
    free: [Cell<*mut u8>; LISTS],
}

// SAFETY: only the thread whose `OWNS` is set reads or writes any of it but the blocks themselves, each of
// which belongs to whoever it was handed out to; `TAKEN` lets one thread have it.
unsafe impl Sync for Arena {}
// SAFETY: as above; it is reached by the arena alone.
unsafe impl Sync for ArenaMemory {}

static MEMORY: ArenaMemory = ArenaMemory(UnsafeCell::new([0; ARENA]));
static BOOKS_OF_ONE: Arena =
    Arena { next: Cell::new(0), free: [const { Cell::new(ptr::null_mut()) }; LISTS] };
static TAKEN: AtomicBool = AtomicBool::new(false);

thread_local! {
    /// Is the arena this thread's?
    static OWNS: Cell<bool> = const { Cell::new(false) };
}

/// See the module.
pub struct Allocator;

/// The first thread that asks has the arena: that of main, before there is another.
#[inline(always)]
fn thread_arena() -> Option<&'static Arena> {
    let owns = OWNS.get() || !TAKEN.load(Ordering::Relaxed) && claim_arena();
    owns.then_some(&BOOKS_OF_ONE)
}

#[cold]
fn claim_arena() -> bool {
    let first = !TAKEN.swap(true, Ordering::Relaxed);
    OWNS.set(first);
    first
}

/// How long a block of that size is: all begin on a 16-byte boundary.
#[inline(always)]
const fn block_size(size: usize) -> usize {
    if size <= FINE { (size + 15) & !15 } else { size.next_power_of_two() }
}

/// The list of the blocks that are so long.
#[inline(always)]
const fn free_list_index(rounded: usize) -> usize {
    if rounded <= FINE {
        rounded / 16
    } else {
        FINE / 16 + (rounded / FINE).trailing_zeros() as usize
    }
}

impl Arena {
    fn base(&self) -> *mut u8 {
        MEMORY.0.get().cast()
    }

    /// Is this one of its blocks?
    fn contains_block(&self, block: *mut u8) -> bool {
        (block as usize).wrapping_sub(self.base() as usize) < ARENA
    }

    fn take_block(&self, size: usize) -> Option<*mut u8> {
        let free = &self.free[free_list_index(size)];
        let block = free.get();
        if !block.is_null() {
            // SAFETY: a block in a list begins with the place of the next one.
            free.set(unsafe { block.cast::<*mut u8>().read() });
            return Some(block);
        }
        let at = self.next.get();
        if at + size > ARENA {
            return None;
        }
        self.next.set(at + size);
        // SAFETY: it ends inside the memory.
        Some(unsafe { self.base().add(at) })
    }

    /// Is it the block that was cut off last?
    fn is_last(&self, block: *mut u8, size: usize) -> bool {
        block as usize - self.base() as usize + size == self.next.get()
    }

    fn give_back(&self, block: *mut u8, size: usize) {
        if self.is_last(block, size) {
            return self.next.set(self.next.get() - size);
        }
        let free = &self.free[free_list_index(size)];
        // SAFETY: nobody uses the block any more, and it has room for this: the shortest is 16 bytes long.
        unsafe { block.cast::<*mut u8>().write(free.replace(block)) };
    }

    /// Makes the last block longer or shorter where it stands.
    fn resize_last_block(&self, block: *mut u8, old: usize, new: usize) -> bool {
        let fits = self.is_last(block, old) && self.next.get() - old + new <= ARENA;
        if fits {
            self.next.set(self.next.get() - old + new);
        }
        fits
    }
}

// SAFETY: blocks of the arena are distinct, aligned and live until they are given back; all others
// are dlmalloc's from beginning to end, because `holds` tells the two apart by address.
unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let small = layout.size() <= LARGEST && layout.align() <= 16;
        let arena = if small { thread_arena() } else { None };
        arena.and_then(|arena| arena.take_block(block_size(layout.size()))).unwrap_or_else(|| {
            // SAFETY: the caller's promises are those dlmalloc asks for.
            unsafe { dlmalloc::GlobalDlmalloc.alloc(layout) }
        })
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        if !BOOKS_OF_ONE.contains_block(block) {
            // SAFETY: the block came from dlmalloc with this layout.
            return unsafe { dlmalloc::GlobalDlmalloc.dealloc(block, layout) };
        }
        // What another thread was handed and drops stays as it is.
        if let Some(arena) = thread_arena() {
            arena.give_back(block, block_size(layout.size()));
        }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if !BOOKS_OF_ONE.contains_block(block) {
            // SAFETY: the block came from dlmalloc with this layout.
            return unsafe { dlmalloc::GlobalDlmalloc.realloc(block, layout, size) };
        }
        let (old, new) = (block_size(layout.size()), block_size(size));
        let stays = size <= LARGEST
            && thread_arena().is_some_and(|arena| arena.resize_last_block(block, old, new));
        // What was rounded up is still free.
        if stays || new <= old {
            return block;
        }
        // SAFETY: the new layout has the old one's alignment and a size the caller vouches for; both blocks are
        // valid for the smaller of the two sizes and do not overlap, and nobody uses the old one afterwards.
        unsafe {
            let new = self.alloc(Layout::from_size_align_unchecked(size, layout.align()));
            if !new.is_null() {
                ptr::copy_nonoverlapping(block, new, layout.size().min(size));
                self.dealloc(block, layout);
            }
            new
        }
    }
}
