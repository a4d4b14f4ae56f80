//! x
pub(super) fn run(
    _: &super::Context,
    _: &super::args::ImportArgs,
    _: &mut super::report::Report,
) -> anyhow::Result<super::Exit> {
    Ok(super::Exit::Ok)
}
