//! docs/firmware-events.md has a row for every number, and says how each is obtained.

use drivelab_processor::columns::{Column, How};
use drivelab_processor::{board, host};

const PAGE: &str = include_str!("../../../docs/firmware-events.md");

fn row_begins(column: &Column, table_5: bool) -> String {
    let how = match column.how {
        How::Counted => "counted",
        How::Simulated => "simulated",
        How::Derived => "derived",
    };
    let name = column.name;
    match column.table_5 {
        Some(paper) => format!("| `{name}` | {paper} | {how} |"),
        None if table_5 => format!("| `{name}` | | {how} |"),
        None => format!("| `{name}` | {how} |"),
    }
}

#[test]
fn every_number_has_its_row_in_order() {
    let (of_host, of_target) = PAGE
        .split_once("### Target")
        .expect("a section of the target");
    // Counters of a real processor are no columns of a model.
    let (of_target, _) = of_target.split_once("\n## ").expect("a section after it");
    for (page, columns, table_5) in [
        (of_host, &host::COLUMNS[..], true),
        (of_target, &board::COLUMNS[..], false),
    ] {
        let rows: Vec<&str> = page
            .lines()
            .filter(|line| line.starts_with("| `"))
            .collect();
        assert_eq!(rows.len(), columns.len());
        for (row, column) in rows.iter().zip(columns) {
            assert!(
                row.starts_with(&row_begins(column, table_5)),
                "{}",
                column.name
            );
        }
    }
}
