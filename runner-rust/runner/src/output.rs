//! The output folder: claimed empty, filled whole files at a time.

use std::fs::File;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use crate::errors::{Failure, Outcome};

/// A file to leave behind: its final name and its bytes.
pub type Finished = (&'static str, Vec<u8>);

/// A folder that was absent or empty when this process claimed it.
#[derive(Debug)]
pub struct OutputFolder {
    path: PathBuf,
    created: bool,
}

impl OutputFolder {
    /// Make the folder, or take it when it is there and empty.
    pub fn claim(path: &Path) -> Outcome<Self> {
        let shown = path.display();
        let failed =
            |error: std::io::Error| Failure::new(format!("output folder {shown}: {error}"));
        match std::fs::read_dir(path) {
            Ok(mut entries) => match entries.next() {
                None => Ok(Self {
                    path: path.to_path_buf(),
                    created: false,
                }),
                Some(_) => Err(Failure::new(format!(
                    "output folder {shown}: is not empty; every replay needs a folder of its own"
                ))),
            },
            Err(error) if error.kind() == ErrorKind::NotFound => {
                std::fs::create_dir_all(path).map_err(failed)?;
                Ok(Self {
                    path: path.to_path_buf(),
                    created: true,
                })
            }
            Err(error) => Err(failed(error)),
        }
    }

    /// Write every file to a temporary name and sync it, then give all of them their names in
    /// order; the last one is therefore there only when all are.
    pub fn write(&self, files: &[Finished]) -> Outcome<()> {
        let mut staged = Vec::with_capacity(files.len());
        for (name, bytes) in files {
            let temporary = self
                .path
                .join(format!(".{name}.{}.tmp", std::process::id()));
            let written = write_synced(&temporary, bytes);
            staged.push((temporary, self.path.join(name)));
            if let Err(error) = written {
                discard(&staged);
                self.abandon();
                return Err(Failure::new(format!(
                    "{}: {error}",
                    self.path.join(name).display()
                )));
            }
        }
        for (index, (temporary, target)) in staged.iter().enumerate() {
            if let Err(error) = std::fs::rename(temporary, target) {
                discard(&staged[index..]);
                return Err(Failure::new(format!("{}: {error}", target.display())));
            }
        }
        File::open(&self.path)
            .and_then(|folder| folder.sync_all())
            .map_err(|error| {
                Failure::new(format!("output folder {}: {error}", self.path.display()))
            })
    }

    /// Take the folder away again if this process made it and left nothing in it.
    pub fn abandon(&self) {
        if self.created {
            // Not empty or gone already: either way it is not ours to remove.
            let _ = std::fs::remove_dir(&self.path);
        }
    }
}

fn write_synced(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let mut file = File::create_new(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

fn discard(staged: &[(PathBuf, PathBuf)]) {
    for (temporary, _) in staged {
        // It may never have been made; there is nothing better to do with what stays.
        let _ = std::fs::remove_file(temporary);
    }
}

#[cfg(test)]
mod tests {
    use super::OutputFolder;

    fn names(folder: &std::path::Path) -> Vec<String> {
        let mut names: Vec<String> = std::fs::read_dir(folder)
            .expect("a folder")
            .map(|entry| {
                entry
                    .expect("an entry")
                    .file_name()
                    .into_string()
                    .expect("UTF-8")
            })
            .collect();
        names.sort();
        names
    }

    #[test]
    fn an_absent_or_empty_folder_is_claimed_and_another_refused() {
        let base = tempfile::tempdir().expect("a folder");
        let fresh = base.path().join("a/b");
        OutputFolder::claim(&fresh).expect("an absent folder");
        let folder = OutputFolder::claim(&fresh).expect("an empty folder");
        folder
            .write(&[("one", b"1".to_vec()), ("two", b"2".to_vec())])
            .expect("writable");
        assert_eq!(names(&fresh), ["one", "two"]);
        let refused = OutputFolder::claim(&fresh).expect_err("a folder in use");
        assert!(refused.one_line().contains("is not empty"));
    }

    #[test]
    fn a_file_in_the_way_is_named_and_no_temporary_file_stays() {
        let base = tempfile::tempdir().expect("a folder");
        let path = base.path().join("out");
        let folder = OutputFolder::claim(&path).expect("an absent folder");
        std::fs::create_dir_all(path.join("two/inside")).expect("writable");
        let files = [("one", b"1".to_vec()), ("two", b"2".to_vec())];
        let failure = folder
            .write(&files)
            .expect_err("a folder stands where a file should");
        assert!(
            failure.one_line().contains("out/two"),
            "{}",
            failure.one_line()
        );
        assert_eq!(names(&path), ["one", "two"]);
    }

    #[test]
    fn only_a_folder_made_here_is_removed() {
        let base = tempfile::tempdir().expect("a folder");
        OutputFolder::claim(base.path())
            .expect("an empty folder")
            .abandon();
        assert!(base.path().exists());
        let made = base.path().join("made");
        OutputFolder::claim(&made)
            .expect("an absent folder")
            .abandon();
        assert!(!made.exists());
    }
}
