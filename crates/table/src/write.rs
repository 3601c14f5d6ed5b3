//! Writes columns into the bytes of a file.
//!
//! Parquet stores the existing values, and for each cell a level that says how far down its path
//! the cell is defined:
//!
//! ```text
//! a number    optional                          0 empty, 1 there
//! a list      optional, repeated, required      0 empty cell, 1 empty list, 2 an element
//! ```
//!
//! In a list a repetition level says whether an element starts a row (0) or continues it (1).

use std::collections::HashSet;
use std::io::Write;
use std::sync::Arc;

use parquet::basic::{ConvertedType, LogicalType, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::Type;

use crate::{Column, TableError, Values};

/// Writes a table as one Parquet file.
///
/// `properties` are stored in the file's metadata, by name.
///
/// # Errors
///
/// If there are no columns, two have the same name, or their lengths differ.
pub fn write_parquet(
    columns: &[Column],
    properties: &[(String, String)],
) -> Result<Vec<u8>, TableError> {
    check(columns)?;
    let fields = columns.iter().map(field).collect::<Result<_, _>>()?;
    let schema = Type::group_type_builder("table")
        .with_fields(fields)
        .build()?;
    let kept = properties
        .iter()
        .map(|(name, value)| KeyValue::new(name.clone(), value.clone()))
        .collect();
    let settings = WriterProperties::builder()
        .set_created_by("Drivelab".to_owned())
        .set_key_value_metadata(Some(kept))
        .build();
    let mut file = Vec::new();
    let mut writer = SerializedFileWriter::new(&mut file, Arc::new(schema), Arc::new(settings))?;
    let mut rows = writer.next_row_group()?;
    for column in columns {
        write_column(&mut rows, &column.values)?;
    }
    rows.close()?;
    writer.close()?;
    Ok(file)
}

fn check(columns: &[Column]) -> Result<(), TableError> {
    let first = columns.first().ok_or(TableError::NoColumns)?;
    let mut names = HashSet::new();
    for column in columns {
        if !names.insert(&column.name) {
            return Err(TableError::RepeatedName(column.name.clone()));
        }
        if column.values.len() != first.values.len() {
            return Err(TableError::DifferentLengths {
                name: column.name.clone(),
                found: column.values.len(),
                expected: first.values.len(),
            });
        }
    }
    Ok(())
}

fn field(column: &Column) -> Result<Arc<Type>, ParquetError> {
    let name = &column.name;
    let plain = |physical| {
        Type::primitive_type_builder(name, physical).with_repetition(Repetition::OPTIONAL)
    };
    let built = match &column.values {
        Values::Texts(_) => plain(Physical::BYTE_ARRAY)
            .with_logical_type(Some(LogicalType::String))
            .build()?,
        Values::Integers(_) => plain(Physical::INT64).build()?,
        Values::Reals(_) => plain(Physical::DOUBLE).build()?,
        Values::IntegerLists(_) => {
            let element = Type::primitive_type_builder("element", Physical::INT64)
                .with_repetition(Repetition::REQUIRED)
                .build()?;
            let list = Type::group_type_builder("list")
                .with_repetition(Repetition::REPEATED)
                .with_fields(vec![Arc::new(element)])
                .build()?;
            Type::group_type_builder(name)
                .with_repetition(Repetition::OPTIONAL)
                .with_logical_type(Some(LogicalType::List))
                .with_converted_type(ConvertedType::LIST)
                .with_fields(vec![Arc::new(list)])
                .build()?
        }
    };
    Ok(Arc::new(built))
}

fn write_column<W: Write + Send>(
    rows: &mut SerializedRowGroupWriter<'_, W>,
    values: &Values,
) -> Result<(), ParquetError> {
    match values {
        Values::Texts(cells) => write_plain::<ByteArrayType, _, _>(rows, cells, |text: &String| {
            ByteArray::from(text.as_str())
        }),
        Values::Integers(cells) => write_plain::<Int64Type, _, _>(rows, cells, |number| *number),
        Values::Reals(cells) => write_plain::<DoubleType, _, _>(rows, cells, |number| *number),
        Values::IntegerLists(cells) => {
            let mut elements = Vec::new();
            let (mut defined, mut repeated) = (Vec::new(), Vec::new());
            for cell in cells {
                match cell.as_deref() {
                    None => defined.push(0),
                    Some([]) => defined.push(1),
                    Some(list) => {
                        elements.extend_from_slice(list);
                        defined.resize(defined.len() + list.len(), 2);
                    }
                }
                repeated.push(0);
                repeated.resize(defined.len(), 1);
            }
            write_cells::<Int64Type, _>(rows, &elements, &defined, Some(&repeated))
        }
    }
}

fn write_plain<T: DataType, V, W: Write + Send>(
    rows: &mut SerializedRowGroupWriter<'_, W>,
    cells: &[Option<V>],
    convert: impl Fn(&V) -> T::T,
) -> Result<(), ParquetError> {
    let values: Vec<T::T> = cells.iter().flatten().map(convert).collect();
    let defined: Vec<i16> = cells.iter().map(|cell| i16::from(cell.is_some())).collect();
    write_cells::<T, _>(rows, &values, &defined, None)
}

fn write_cells<T: DataType, W: Write + Send>(
    rows: &mut SerializedRowGroupWriter<'_, W>,
    values: &[T::T],
    defined: &[i16],
    repeated: Option<&[i16]>,
) -> Result<(), ParquetError> {
    let Some(mut column) = rows.next_column()? else {
        return Err(ParquetError::General(
            "more columns than the schema has".to_owned(),
        ));
    };
    column
        .typed::<T>()
        .write_batch(values, Some(defined), repeated)?;
    column.close()
}
