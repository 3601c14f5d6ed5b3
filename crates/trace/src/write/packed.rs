//! Writes text into a file, compressed or not.

use std::io::{BufWriter, Write};

use flate2::write::GzEncoder;

use crate::error::TraceError;

/// The compression of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Compression {
    /// Not at all.
    #[default]
    None,
    /// With gzip.
    Gzip,
    /// With zstd.
    Zstd,
}

type Output = Box<dyn Write + Send>;

enum Way {
    Plain(BufWriter<Output>),
    Gzip(GzEncoder<Output>),
    Zstd(zstd::stream::write::Encoder<'static, Output>),
}

/// Lines that gather until there are enough of them.
pub(super) struct Packed {
    /// Text not written yet.
    pub text: Vec<u8>,
    way: Way,
}

const ZSTD_LEVEL: i32 = 3;
/// The number of bytes compressed at once.
const ENOUGH_BYTES: usize = 1 << 16;

impl Packed {
    pub fn new(output: Output, compression: Compression) -> Result<Self, TraceError> {
        let way = match compression {
            Compression::None => Way::Plain(BufWriter::new(output)),
            Compression::Gzip => Way::Gzip(GzEncoder::new(output, flate2::Compression::default())),
            Compression::Zstd => Way::Zstd(zstd::stream::write::Encoder::new(output, ZSTD_LEVEL)?),
        };
        let text = Vec::new();
        Ok(Self { text, way })
    }

    fn write_out(&mut self) -> Result<(), TraceError> {
        match &mut self.way {
            Way::Plain(output) => output.write_all(&self.text)?,
            Way::Gzip(output) => output.write_all(&self.text)?,
            Way::Zstd(output) => output.write_all(&self.text)?,
        }
        self.text.clear();
        Ok(())
    }

    /// Writes the gathered text, if it is enough.
    pub fn flush(&mut self) -> Result<(), TraceError> {
        if self.text.len() < ENOUGH_BYTES {
            return Ok(());
        }
        self.write_out()
    }

    pub fn finish(mut self) -> Result<(), TraceError> {
        self.write_out()?;
        match self.way {
            Way::Plain(mut output) => output.flush()?,
            Way::Gzip(output) => output.finish()?.flush()?,
            Way::Zstd(output) => output.finish()?.flush()?,
        }
        Ok(())
    }
}
