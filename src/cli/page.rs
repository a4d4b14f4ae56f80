//! `hookctl report`: what `hookctl stats` counts, as one page with charts. Nothing in it comes from elsewhere, nothing runs,
//! and every text of others is escaped.

use std::fmt::Write as _;

use anyhow::{Context as _, Result};

use super::args::PageArgs;
use super::report::{Level, Report};
use super::stats::{BUCKETS, Figures, OUTCOMES, Outcomes, SHOWN, describe, largest};
use super::{Context, Exit, check_output, display_path, make_visible};
use crate::files;
use crate::moment::Moment;

/// How the page begins: what does not is somebody else's file.
const START: &str = "<!doctype html>\n<!-- hookctl report -->\n";
/// Its head; the classes of bars are those of `OUTCOMES`.
const HEAD: &str = include_str!("page.html");
/// So many days are drawn.
const DAYS: usize = 90;
const WIDTH: usize = 720;
const ROW: usize = 24;

/// Writes the page.
///
/// # Errors
/// Where it cannot be written, or another file is there.
pub(super) fn run(context: &Context, args: &PageArgs, report: &mut Report) -> Result<Exit> {
    let path = check_output(context, &args.output, START.as_bytes(), "report")?;
    let name = display_path(context, &path);
    let figures = Figures::read(context, args.since.as_deref())?;
    if figures.events == 0 {
        let text = format!("nothing found in {}", context.paths.journal().display());
        report.say(Level::Note, text);
        return Ok(Exit::Found);
    }
    files::replace_file(&path, render_page(&figures).as_bytes())
        .with_context(|| format!("cannot write {name}"))?;
    report.set("file", path.display().to_string());
    report.set("events", figures.events);
    report.tell(&format!("Wrote {name}: open it in a browser.\n"))?;
    Ok(Exit::Ok)
}

fn render_page(figures: &Figures) -> String {
    let mut out = format!("{START}{HEAD}");
    let day = |time: &str| escape(time.get(..10).unwrap_or(time));
    let _ = writeln!(
        out,
        "<h1>What hookctl decided</h1>\n<p>{} events in {} sessions, {} to {}. Written {}.</p>",
        figures.events,
        figures.sessions.len(),
        day(&figures.first),
        day(&figures.last),
        escape(&Moment::now().to_seconds_text())
    );
    out.push_str("<ul class=keys>");
    for (name, count) in OUTCOMES.iter().zip(figures.all) {
        let _ = write!(out, "<li><i class={name}></i>{name} <b>{count}</b>");
    }
    let _ = writeln!(
        out,
        "</ul>\n<p>Prompts saved: {} at most. Asked by rules: {}, by the agent itself: {}. <i>passed</i> would have been \
         stopped, but for <code>observe</code> or a pause.</p>",
        figures.all[0], figures.all[3], figures.dialogs
    );
    chart_days(&mut out, figures);
    let rules: std::collections::BTreeMap<String, Outcomes> =
        figures.rules.iter().map(|(rule, (all, _))| (rule.clone(), *all)).collect();
    for (title, table) in [
        ("What rules stopped", &rules),
        ("By program", &figures.programs),
        ("By project", &figures.projects),
    ] {
        let rows = largest(table);
        let left = rows.len().saturating_sub(SHOWN);
        let rows: Vec<(String, Outcomes)> =
            rows.into_iter().take(SHOWN).map(|(name, all)| (name.clone(), *all)).collect();
        chart_rows(&mut out, title, &rows, left);
    }
    let mut start = 0.0;
    let times = BUCKETS.iter().zip(figures.buckets()).map(|(end, count)| {
        let name = match end.is_finite() {
            true => format!("{start} to {end} ms"),
            false => format!("over {start} ms"),
        };
        start = *end;
        // As of no outcome.
        (name, [0, count, 0, 0, 0, 0])
    });
    let times: Vec<(String, Outcomes)> = times.collect();
    chart_rows(&mut out, "How long it took", &times, 0);
    let _ = writeln!(
        out,
        "<p>Half of all took {:.1} ms at most, 95 of 100 {:.1} ms.</p>\n</main>",
        figures.time(50),
        figures.time(95)
    );
    out
}

/// Verdicts over time: a bar for each day.
fn chart_days(out: &mut String, figures: &Figures) {
    const HEIGHT: usize = 160;
    let skip = figures.days.len().saturating_sub(DAYS);
    let days: Vec<_> = figures.days.iter().skip(skip).collect();
    let most =
        days.iter().map(|(_, all)| all.iter().sum::<usize>()).max().unwrap_or_default().max(1);
    let step = (WIDTH / days.len().max(1)).clamp(4, 60);
    let _ = writeln!(
        out,
        "<h2>By day</h2>\n<svg id=days viewBox=\"0 0 {WIDTH} {}\" role=img aria-label=\"Verdicts by day\">",
        HEIGHT + 20
    );
    for (at, (day, all)) in days.iter().enumerate() {
        let mut top = HEIGHT;
        let _ = write!(out, "<g><title>{}: {}</title>", escape(day), escape(&describe(all)));
        for (name, count) in OUTCOMES.iter().zip(all.iter()) {
            let height = (count * HEIGHT).div_ceil(most).min(top);
            top -= height;
            if height > 0 {
                let (x, width) = (at * step, step - 1);
                let _ = write!(
                    out,
                    "<rect class={name} x={x} y={top} width={width} height={height} />"
                );
            }
        }
        out.push_str("</g>\n");
    }
    if let (Some((first, _)), Some((last, _))) = (days.first(), days.last()) {
        let y = HEIGHT + 15;
        let _ = write!(out, "<text x=0 y={y}>{}</text>", escape(first));
        if days.len() > 1 {
            let x = (days.len() * step).max(180);
            let _ = write!(out, "<text x={x} y={y} text-anchor=end>{}</text>", escape(last));
        }
    }
    out.push_str("</svg>\n");
}

/// Bars that lie, each with its name.
fn chart_rows(out: &mut String, title: &str, rows: &[(String, Outcomes)], left: usize) {
    const LABEL: usize = 260;
    if rows.is_empty() {
        return;
    }
    let sum = |all: &Outcomes| all.iter().sum::<usize>();
    let most = rows.iter().map(|(_, all)| sum(all)).max().unwrap_or_default().max(1);
    let _ = writeln!(
        out,
        "<h2>{title}</h2>\n<svg viewBox=\"0 0 {WIDTH} {}\" role=img aria-label=\"{title}\">",
        rows.len() * ROW
    );
    for (at, (name, all)) in rows.iter().enumerate() {
        let (y, middle) = (at * ROW + 3, at * ROW + 16);
        let mut x = LABEL;
        let _ = write!(
            out,
            "<g><title>{}: {}</title><text x={} y={middle} text-anchor=end>{}</text>",
            escape(name),
            escape(&describe(all)),
            LABEL - 8,
            escape(&shorten(name))
        );
        for (class, count) in OUTCOMES.iter().zip(all) {
            let width = (count * (WIDTH - LABEL - 60)).div_ceil(most);
            if width > 0 {
                let _ = write!(out, "<rect class={class} x={x} y={y} width={width} height=18 />");
            }
            x += width;
        }
        let _ = writeln!(out, "<text x={} y={middle}>{}</text></g>", x + 6, sum(all));
    }
    out.push_str("</svg>\n");
    if left > 0 {
        let _ = writeln!(out, "<p>And {left} more: <code>hookctl stats --json</code> has all.</p>");
    }
}

/// A name as there is room for it: its end tells most.
fn shorten(name: &str) -> String {
    const ROOM: usize = 28;
    let count = name.chars().count();
    match count > ROOM {
        true => format!("\u{2026}{}", name.chars().skip(count - ROOM + 1).collect::<String>()),
        false => name.to_string(),
    }
}

/// Text of others as text of the page.
fn escape(text: &str) -> String {
    let mut out = String::new();
    for c in make_visible(text).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}
