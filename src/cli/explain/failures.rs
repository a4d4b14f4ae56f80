//! What hookctl answers when something fails: the table of docs/failures.md, as `explain --failures` prints it.

use std::fmt::Write as _;

use serde::Serialize;

/// One thing that can fail and what then leaves hookctl.
#[derive(Debug, Serialize)]
pub(super) struct FailureCase<'t> {
    /// What fails.
    what: &'t str,
    /// On PreToolUse: a call that has not happened yet.
    tool_call: &'t str,
    /// On PermissionRequest: a dialog that is about to open.
    dialog: &'t str,
    /// On every other event.
    other: &'t str,
}

/// The rows of the document's table, in the order of the hook path.
pub(super) fn rows(document: &str) -> Vec<FailureCase<'_>> {
    let row = |line| {
        let [what, tool_call, dialog, other] = cells(line)?;
        Some(FailureCase { what, tool_call, dialog, other })
    };
    // The first is the head.
    document.lines().filter_map(row).skip(1).collect()
}

/// The four cells of a table's line.
fn cells(line: &str) -> Option<[&str; 4]> {
    let cells: Vec<&str> = line.strip_prefix("| ")?.strip_suffix(" |")?.split(" | ").collect();
    cells.try_into().ok()
}

/// The table for a terminal.
pub(super) fn render_text(failures: &[FailureCase<'_>], bold: &dyn Fn(&str) -> String) -> String {
    let mut out = String::from(
        "What hookctl answers when something fails. Whatever happens: one JSON object or nothing \
         on\nstdout, exit status 0 or 2, before the agent's timeout.\n",
    );
    for FailureCase { what, tool_call, dialog, other } in failures {
        let _ = writeln!(out, "\n{}", bold(what));
        if tool_call == dialog && dialog == other {
            let _ = writeln!(out, "  every event        {other}");
            continue;
        }
        for (event, outcome) in
            [("PreToolUse", tool_call), ("PermissionRequest", dialog), ("other events", other)]
        {
            let _ = writeln!(out, "  {event:<18} {outcome}");
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::generated;

    #[test]
    fn each_line_of_the_table_is_a_row() {
        let document = generated::failures().unwrap();
        let lines = document.lines().filter(|line| line.starts_with('|')).count();
        // Beside the head and the line below it.
        assert_eq!(rows(&document).len(), lines - 2);
    }
}
