//! The one table at the end.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::Context;
use serde::Serialize;

/// One figure.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Row {
    /// What was measured.
    pub(crate) measure: String,
    /// The figure.
    pub(crate) value: f64,
    /// Its unit; may be empty.
    pub(crate) unit: &'static str,
    /// What it shall not exceed, in the same unit.
    pub(crate) aim: Option<f64>,
    /// What a bare client takes for the same, in the same run and unit.
    pub(crate) floor: Option<f64>,
    /// What else is worth knowing: parts, spread, conditions.
    pub(crate) note: String,
}

impl Row {
    /// A figure without aim, floor or note.
    pub(crate) fn new(measure: impl Into<String>, value: f64, unit: &'static str) -> Self {
        Self { measure: measure.into(), value, unit, aim: None, floor: None, note: String::new() }
    }

    /// With an upper bound.
    pub(crate) fn aim(self, aim: f64) -> Self {
        Self { aim: Some(aim), ..self }
    }

    /// With the figure of a bare client.
    pub(crate) fn floor(self, floor: f64) -> Self {
        Self { floor: Some(floor), ..self }
    }

    /// With a remark.
    pub(crate) fn note(self, note: impl Into<String>) -> Self {
        Self { note: note.into(), ..self }
    }

    /// Whether the aim is met; `None` if there is none.
    fn met(&self) -> Option<bool> {
        self.aim.map(|aim| self.value <= aim)
    }
}

/// All figures of a run.
#[derive(Debug, Default)]
pub(crate) struct Table {
    rows: Vec<Row>,
}

#[derive(Serialize)]
struct Document<'a> {
    taken: String,
    cores: usize,
    load_before: f64,
    load_after: f64,
    rows: &'a [Row],
}

impl Table {
    /// Adds a figure and says so at once: a run takes minutes.
    pub(crate) fn add(&mut self, row: Row) {
        crate::say(&format!("{}: {} {}  {}", row.measure, number(row.value), row.unit, row.note));
        self.rows.push(row);
    }

    /// Whether every aim is met.
    pub(crate) fn all_met(&self) -> bool {
        self.rows.iter().all(|row| row.met() != Some(false))
    }

    /// The table as Markdown, columns aligned.
    pub(crate) fn markdown(&self) -> String {
        let optional = |value: Option<f64>| value.map(number).unwrap_or_default();
        let mut lines = vec![["Measure", "Figure", "Aim", "Floor", "", "Notes"].map(str::to_owned)];
        for row in &self.rows {
            let unit = if row.unit.is_empty() { String::new() } else { format!(" {}", row.unit) };
            let verdict = match row.met() {
                Some(true) => "met",
                Some(false) => "MISSED",
                None => "",
            };
            lines.push([
                row.measure.clone(),
                format!("{}{unit}", number(row.value)),
                row.aim.map(|aim| format!("≤ {}", number(aim))).unwrap_or_default(),
                optional(row.floor),
                verdict.to_owned(),
                row.note.clone(),
            ]);
        }
        let width = |column: usize| lines.iter().filter_map(|line| line.get(column)).map(|c| c.chars().count()).max();
        let widths: Vec<usize> = (0..6).map(|column| width(column).unwrap_or(0)).collect();
        let mut text = String::new();
        for (index, line) in lines.iter().enumerate() {
            for (cell, width) in line.iter().zip(&widths) {
                let _ = write!(text, "| {cell:<width$} ");
            }
            text.push_str("|\n");
            if index == 0 {
                for width in &widths {
                    let _ = write!(text, "|{}", "-".repeat(width.saturating_add(2)));
                }
                text.push_str("|\n");
            }
        }
        text
    }

    /// Writes the figures as JSON.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    pub(crate) fn save(&self, path: &Path, load_before: f64) -> anyhow::Result<()> {
        let document = Document {
            taken: jiff::Timestamp::now().to_string(),
            cores: std::thread::available_parallelism().map_or(0, usize::from),
            load_before,
            load_after: crate::world::load(),
            rows: &self.rows,
        };
        let text = serde_json::to_vec_pretty(&document)?;
        std::fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
    }
}

/// A figure with as many digits as mean something.
fn number(value: f64) -> String {
    let digits = match value.abs() {
        v if v >= 100.0 || v.fract() == 0.0 => 0,
        v if v >= 10.0 => 1,
        _ => 2,
    };
    format!("{value:.digits$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_says_whether_its_aim_is_met() {
        let mut table = Table::default();
        table.add(Row::new("writes", 9.0, "").aim(9.0));
        assert!(table.all_met());
        table.add(Row::new("ratio", 1.31, "×").aim(1.3).floor(1.0));
        assert!(!table.all_met());
        let text = table.markdown();
        assert!(text.contains("| writes  | 9") && text.contains("| MISSED |"), "{text}");
    }

    #[test]
    fn figures_have_few_digits() {
        let texts = [0.023, 1.5, 12.34, 456.7, 0.0, 500.0].map(number);
        assert_eq!(texts, ["0.02", "1.50", "12.3", "457", "0", "500"]);
    }
}
