//! The home of the tests that judge without a process. The data say `/home/dev`, which reads well and may exist: a home that
//! no machine has stands for it, so that no file of a machine changes a verdict. The user's name alone stands in the data as it is.

/// The home.
pub const HOME: &str = "/home/dev-of-tests";

/// What tests are written in, with that home.
pub fn moved(text: &str) -> String {
    text.replace("/home/dev", HOME).replace("~dev", "~dev-of-tests")
}

/// The project.
pub fn project() -> String {
    format!("{HOME}/project")
}
