//! Build-time data.
fn main() {}
