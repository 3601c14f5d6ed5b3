//! Decompresses a file of gzip members, one after another.
//!
//! ```text
//!   member | member | ... | zeros          zeros pad a file to whole blocks, as tapes do
//! ```

use std::io::{self, BufRead, Read};

use flate2::bufread::GzDecoder;

/// The kind of the error that says that something else follows the members. The decompressor has
/// none of this kind.
pub(crate) const BEHIND_THE_END: io::ErrorKind = io::ErrorKind::InvalidData;

/// The members of a file, decompressed as one.
pub(crate) struct GzipMembers<R> {
    /// `None` at the end of the file.
    member: Option<GzDecoder<R>>,
}

impl<R: BufRead> GzipMembers<R> {
    pub fn new(file: R) -> Self {
        Self {
            member: Some(GzDecoder::new(file)),
        }
    }
}

impl<R: BufRead> Read for GzipMembers<R> {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        while let Some(member) = &mut self.member {
            let count = member.read(room)?;
            if count > 0 || room.is_empty() {
                return Ok(count);
            }
            self.member = following(self.member.take().map(GzDecoder::into_inner))?;
        }
        Ok(0)
    }
}

/// The member that begins where another has ended.
fn following<R: BufRead>(file: Option<R>) -> io::Result<Option<GzDecoder<R>>> {
    let Some(mut file) = file else {
        return Ok(None);
    };
    let mut has_zeros = false;
    loop {
        let bytes = file.fill_buf()?;
        let zeros = bytes.iter().take_while(|&&byte| byte == 0).count();
        match bytes.get(zeros) {
            // Only the first of the two bytes by which a member is known may be here already.
            Some(0x1f) if zeros == 0 && !has_zeros => return Ok(Some(GzDecoder::new(file))),
            Some(_) => {
                return Err(io::Error::new(
                    BEHIND_THE_END,
                    "other bytes follow the gzip data",
                ));
            }
            None if zeros == 0 => return Ok(None),
            None => {
                has_zeros = true;
                file.consume(zeros);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::io::{BufReader, Write};

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    fn member(text: &str) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(text.as_bytes()).unwrap();
        encoder.finish().unwrap()
    }

    /// What a file of these parts contains. A buffer of one byte meets every seam.
    fn read(parts: &[&[u8]]) -> io::Result<String> {
        let file = parts.concat();
        let mut whole = String::new();
        let mut one_by_one = String::new();
        let result = GzipMembers::new(&file[..]).read_to_string(&mut whole);
        let slowly = BufReader::with_capacity(1, &file[..]);
        let same = GzipMembers::new(slowly).read_to_string(&mut one_by_one);
        assert_eq!(result.is_ok(), same.is_ok());
        assert_eq!(whole, one_by_one);
        result.map(|_| whole)
    }

    #[test]
    fn members_follow_each_other_and_zeros_may_follow_them() {
        let (one, other, none) = (member("one "), member("other"), member(""));
        assert_eq!(read(&[&one]).unwrap(), "one ");
        assert_eq!(read(&[&one, &none, &other]).unwrap(), "one other");
        assert_eq!(read(&[&one, &[0; 1000]]).unwrap(), "one ");
    }

    #[test]
    fn anything_else_behind_them_is_an_error() {
        let one = member("one ");
        for behind in [&b"x"[..], b"\x1fx", b"\0x", b"\0\x1f\x8b"] {
            assert!(read(&[&one, behind]).is_err(), "{behind:?}");
        }
        let error = read(&[&one, b"x"]).unwrap_err().to_string();
        assert_eq!(error, "other bytes follow the gzip data");
    }
}
