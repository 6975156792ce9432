//! The trace is what the configuration says, before the replay and after it.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use sha2::{Digest, Sha256};

use crate::errors::{Failure, Outcome};

/// Digest and size of a trace file.
#[derive(Debug, PartialEq, Eq)]
pub struct TraceFacts {
    pub sha256: String,
    /// Lines that are not blank.
    pub rows: u64,
}

/// Hash the file and count its rows in one pass.
pub fn facts(path: &Path) -> Outcome<TraceFacts> {
    let failed = |error: std::io::Error| Failure::new(format!("trace {}: {error}", path.display()));
    let mut reader = BufReader::with_capacity(1 << 18, File::open(path).map_err(failed)?);
    let mut hasher = Sha256::new();
    let mut rows = 0;
    let mut in_row = false;
    loop {
        let chunk = reader.fill_buf().map_err(failed)?;
        if chunk.is_empty() {
            break;
        }
        hasher.update(chunk);
        for &byte in chunk {
            if byte == b'\n' {
                rows += u64::from(in_row);
                in_row = false;
            } else {
                in_row |= !byte.is_ascii_whitespace();
            }
        }
        let consumed = chunk.len();
        reader.consume(consumed);
    }
    rows += u64::from(in_row);
    Ok(TraceFacts {
        sha256: format!("{:x}", hasher.finalize()),
        rows,
    })
}

/// Check that the trace at `path` has the declared digest and number of rows; `moment` says when
/// ("before the replay") in the message.
pub fn check(path: &Path, sha256: &str, rows: u64, moment: &str) -> Outcome<()> {
    let found = facts(path)?;
    let shown = path.display();
    if found.sha256 != sha256 {
        return Err(Failure::new(format!(
            "trace {shown} {moment}: its SHA-256 is {}, the configuration says {sha256}",
            found.sha256
        )));
    }
    if found.rows != rows {
        return Err(Failure::new(format!(
            "trace {shown} {moment}: it has {} rows, the configuration says {rows}",
            found.rows
        )));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{check, facts};
    use crate::digest::sha256_hex;

    fn file(bytes: &[u8]) -> tempfile::NamedTempFile {
        let file = tempfile::NamedTempFile::new().expect("a temporary file");
        std::fs::write(file.path(), bytes).expect("writable");
        file
    }

    #[test]
    fn rows_are_lines_that_are_not_blank() {
        for (text, rows) in [
            ("", 0),
            ("{}", 1),
            ("{}\n", 1),
            ("{}\n\n  \r\n{}", 2),
            ("\n{}\r\n{}\r\n", 2),
        ] {
            let file = file(text.as_bytes());
            let found = facts(file.path()).expect("readable");
            assert_eq!(found.rows, rows, "{text:?}");
            assert_eq!(found.sha256, sha256_hex(text.as_bytes()));
        }
    }

    #[test]
    fn a_file_larger_than_the_buffer_is_counted_whole() {
        let text = "{\"timestamp\": 0}\n".repeat(40_000);
        let file = file(text.as_bytes());
        assert!(check(file.path(), &sha256_hex(text.as_bytes()), 40_000, "now").is_ok());
    }

    #[test]
    fn another_digest_or_row_count_is_named() {
        let file = file(b"{}\n");
        let digest = sha256_hex(b"{}\n");
        let wrong =
            check(file.path(), &"0".repeat(64), 1, "before the replay").expect_err("a digest");
        assert!(
            wrong
                .one_line()
                .contains("before the replay: its SHA-256 is")
        );
        let wrong = check(file.path(), &digest, 2, "after the replay").expect_err("a count");
        assert!(
            wrong
                .one_line()
                .contains("it has 1 rows, the configuration says 2")
        );
    }
}
