//! What is made at build time: the shipped rules as static data.

#[path = "build/shipped.rs"]
mod shipped;

fn main() {
    let out = std::path::PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    shipped::generate(&out);
}
