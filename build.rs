//! Build-time data.
#[path = "build/programs.rs"]
mod programs;

fn main() {
    programs::generate();
}
