//! SHA-256 in lower-case hexadecimal digits.

use std::fs::File;
use std::path::Path;

use sha2::{Digest, Sha256};

/// Digest of `bytes`.
pub fn sha256_hex(bytes: &[u8]) -> String {
    format!("{:x}", Sha256::digest(bytes))
}

/// Digest of a file, read piece by piece.
pub fn sha256_of_file(path: &Path) -> std::io::Result<String> {
    let mut hasher = Sha256::new();
    std::io::copy(&mut File::open(path)?, &mut hasher)?;
    Ok(format!("{:x}", hasher.finalize()))
}

#[cfg(test)]
mod tests {
    use super::{sha256_hex, sha256_of_file};

    #[test]
    fn the_digest_is_sha_256() {
        let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(sha256_hex(b""), empty);
    }

    #[test]
    fn a_file_has_the_digest_of_its_bytes() {
        let file = tempfile::NamedTempFile::new().expect("a temporary file");
        let bytes = b"more than one piece ".repeat(20_000);
        std::fs::write(file.path(), &bytes).expect("writable");
        let digest = sha256_of_file(file.path()).expect("readable");
        assert_eq!(digest, sha256_hex(&bytes));
    }
}
