//! The results as a chart: for each case and language a bar with the ratio of our time to the best peer's.

use std::fmt::Write;

use crate::contestants::{LIMIT, Language};
use crate::measure::Row;
use crate::report::Report;

/// The end of the axes: longer bars are truncated, and labelled with their number.
const MOST: f64 = 1.5;
const TICKS: [f64; 7] = [0.0, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5];

const LABELS: f64 = 250.0;
const PANEL: f64 = 330.0;
const GAP: f64 = 60.0;
const MARGIN: f64 = 20.0;
const LINE: f64 = 20.0;
const BAR: f64 = 12.0;
/// The height of title and axes above the first bar.
const TOP: f64 = 96.0;

const TEXT: &str = "#24292f";
const FAINT: &str = "#57606a";
const GRID: &str = "#d8dee4";
const FASTER: &str = "#2f6fb3";
const SLOWER: &str = "#c4552d";

/// Returns the chart as SVG: a line for each case, with a panel for each language.
pub(crate) fn draw(report: &Report, cases: &[&str]) -> String {
    let panels = Language::ALL.map(|language| report.rows(language, cases));
    let is_shown = |case: &&&str| panels.iter().flatten().any(|row| row.case == ***case);
    let cases: Vec<&str> = cases.iter().filter(is_shown).copied().collect();
    let about = report.about(&cases);
    let bottom = TOP + LINE * as_float(cases.len());
    // Each panel has a margin for the labels of its longest bars.
    let width = 2.0 * MARGIN + LABELS + 2.0 * (PANEL + GAP);
    let height = bottom + 40.0 + 16.0 * as_float(about.len());

    let mut svg = Svg::new(width, height);
    svg.text(MARGIN, 30.0, "start", 18, TEXT, "Zarrox's time, where the best peer takes 1");
    svg.text(
        MARGIN,
        50.0,
        "start",
        12,
        FAINT,
        "Shorter is faster. The black mark is the limit: a bare loop that does the same.",
    );
    for (number, case) in cases.iter().enumerate() {
        svg.text(MARGIN + LABELS - 10.0, line(number) + 10.0, "end", 12, TEXT, case);
    }
    for (number, (language, rows)) in Language::ALL.iter().zip(&panels).enumerate() {
        let left = MARGIN + LABELS + as_float(number) * (PANEL + GAP);
        svg.text(left, TOP - 24.0, "start", 14, TEXT, language.title());
        axis(&mut svg, left, bottom);
        for row in rows {
            let number = cases.iter().position(|case| row.case == *case).unwrap_or_default();
            bar(&mut svg, left, line(number), row);
        }
    }
    for (number, sentence) in about.iter().enumerate() {
        svg.text(MARGIN, bottom + 32.0 + 16.0 * as_float(number), "start", 11, FAINT, sentence);
    }
    svg.finished()
}

fn axis(svg: &mut Svg, left: f64, bottom: f64) {
    for tick in TICKS {
        let x = left + place(tick);
        let color = if tick == 1.0 { FAINT } else { GRID };
        svg.rect(x - 0.5, TOP - 4.0, 1.0, bottom - TOP + 4.0, color);
        svg.text(x, TOP - 8.0, "middle", 10, FAINT, &tick.to_string());
    }
}

/// The bar of a row, its number, and the mark of the limit.
fn bar(svg: &mut Svg, left: f64, top: f64, row: &Row) {
    let Some((_, ratio)) = row.best() else {
        svg.text(left + 4.0, top + 10.0, "start", 11, FAINT, "no peer");
        return;
    };
    let color = if ratio > 1.0 { SLOWER } else { FASTER };
    svg.rect(left, top, place(ratio), BAR, color);
    let limit = row.ratio(LIMIT).map(|ours| ratio / ours).filter(|limit| *limit <= MOST);
    if let Some(limit) = limit {
        svg.rect(left + place(limit) - 1.0, top - 2.0, 2.0, BAR + 4.0, TEXT);
    }
    // Beside the bar, without covering the mark.
    let end = place(limit.map_or(ratio, |limit| limit.max(ratio)));
    svg.text(left + end + 5.0, top + 10.0, "start", 11, TEXT, &format!("{ratio:.2}"));
}

/// Returns the x coordinate of a ratio.
fn place(ratio: f64) -> f64 {
    ratio.min(MOST) / MOST * PANEL
}

/// Returns the top of the bar of a case.
fn line(number: usize) -> f64 {
    TOP + LINE * as_float(number) + (LINE - BAR) / 2.0
}

fn as_float(number: usize) -> f64 {
    u32::try_from(number).map_or(f64::MAX, f64::from)
}

/// A picture that is being drawn.
struct Svg(String);

impl Svg {
    fn new(width: f64, height: f64) -> Self {
        let mut svg = Self(format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
             height=\"{height}\" font-family=\"Helvetica, Arial, sans-serif\" paint-order=\"stroke\">\n"
        ));
        svg.rect(0.0, 0.0, width, height, "#ffffff");
        svg
    }

    fn rect(&mut self, x: f64, y: f64, width: f64, height: f64, color: &str) {
        self.line(format_args!(
            "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" fill=\"{color}\"/>"
        ));
    }

    fn text(&mut self, x: f64, y: f64, anchor: &str, size: u32, color: &str, text: &str) {
        let text = text.replace('&', "&amp;").replace('<', "&lt;");
        self.line(format_args!(
            "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" font-size=\"{size}\" fill=\"{color}\" \
             stroke=\"#ffffff\" stroke-width=\"3\">{text}</text>"
        ));
    }

    fn line(&mut self, element: std::fmt::Arguments<'_>) {
        // Writing to a string cannot fail.
        let _ = writeln!(self.0, "{element}");
    }

    fn finished(self) -> String {
        self.0 + "</svg>\n"
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::tests::report;

    #[test]
    fn every_case_has_a_label_and_every_row_with_a_peer_a_bar() {
        let svg = draw(&report(), &["read", "mask", "not measured"]);
        assert!(svg.starts_with("<svg") && svg.ends_with("</svg>\n"));
        assert_eq!(svg.matches(">read<").count() + svg.matches(">mask<").count(), 2);
        assert!(!svg.contains(">not measured<"));
        assert_eq!(svg.matches(&format!("height=\"{BAR:.1}\" fill=\"{FASTER}\"")).count(), 2);
        assert!(svg.contains(">0.50<") && svg.contains(">0.25<") && svg.contains(">no peer<"));
    }

    #[test]
    fn very_long_bars_are_truncated() {
        assert!((place(MOST) - PANEL).abs() < 1e-9 && (place(100.0) - PANEL).abs() < 1e-9);
        assert!(place(0.0).abs() < 1e-9);
    }
}
