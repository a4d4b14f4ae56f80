//! x
pub(super) fn run(_: &super::Context, _: &super::args::PageArgs) -> anyhow::Result<super::Exit> {
    Ok(super::Exit::Ok)
}
