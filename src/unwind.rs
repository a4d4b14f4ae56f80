//! The unwinder of the static Linux binary: there is none.
//!
//! Panics abort and the binary has neither unwind tables nor symbols, so the C library's unwinder
//! found no frame for any backtrace. This one says so at once, and the compiler sees that nobody
//! reads debug information either: together 200 KB.
//!
//! Nor have its threads names, which nobody would see: the C library writes them with its printf, which is 10 KB.

#![allow(unsafe_code)]

use std::ffi::{c_char, c_int, c_void};

/// `_URC_END_OF_STACK`
const END_OF_STACK: c_int = 5;

// SAFETY: the name is that of the unwinder's function, whose signature this is; it calls nobody.
#[unsafe(export_name = "_Unwind_Backtrace")]
extern "C" fn backtrace(_frame: *const c_void, _data: *mut c_void) -> c_int {
    END_OF_STACK
}

// SAFETY: as above, for the C library's function that gives a thread its name.
#[unsafe(export_name = "pthread_setname_np")]
extern "C" fn set_thread_name(_thread: *mut c_void, _name: *const c_char) -> c_int {
    0
}

macro_rules! never {
    ($($name:literal $function:ident($($argument:ty),*)),+ $(,)?) => {
        $(
            // SAFETY: as above. Only unwinding calls it, and nothing unwinds.
            #[unsafe(export_name = $name)]
            extern "C" fn $function($(_: $argument),*) -> usize {
                std::process::abort()
            }
        )+
    };
}

never! {
    "_Unwind_Resume" resume(*mut c_void),
    "_Unwind_GetIP" ip(*mut c_void),
    "_Unwind_GetIPInfo" ip_info(*mut c_void, *mut c_int),
    "_Unwind_GetRegionStart" region(*mut c_void),
    "_Unwind_GetTextRelBase" text(*mut c_void),
    "_Unwind_GetDataRelBase" data(*mut c_void),
    "_Unwind_GetLanguageSpecificData" language(*mut c_void),
    "_Unwind_SetGR" set_register(*mut c_void, c_int, usize),
    "_Unwind_SetIP" set_ip(*mut c_void, usize),
}
