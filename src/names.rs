//! Lists of names that the program looks up. They stand in `config/names.toml`, with what each means.

include!(concat!(env!("OUT_DIR"), "/names.rs"));
