//! What the standard library takes the processor for on x86-64 Linux without glibc: one without extensions.
//!
//! A search for a byte (memchr) asks once a process for AVX2, and std then asks for all there is: seven `cpuid`,
//! for each of which a virtual machine is left for its host. That was measured at a sixth of a hook process. So
//! std's cache is filled beforehand, and each search takes SSE2, which every such processor has.

#![allow(unsafe_code)]

use std::sync::atomic::{AtomicUsize, Ordering};

// `build/features.ld` puts the name on the first word of the cache, or on one that nobody reads where a compiler calls
// the cache otherwise.
unsafe extern "C" {
    static hookctl_features: AtomicUsize;
}

/// From now on std finds none of the features that anybody here asks for, and does not look.
pub fn assume_none() {
    // A word that is filled has its highest bit set; the others are features.
    // SAFETY: it is an atomic word that lives as long as the process.
    unsafe { hookctl_features.store(1 << (usize::BITS - 1), Ordering::Relaxed) }
}
