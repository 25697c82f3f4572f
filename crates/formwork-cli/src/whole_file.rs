//! A file that a command writes: whole, or as it was before.

use std::io::Write;
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::error::Error;

/// Where a result goes.
#[derive(Debug)]
pub(crate) struct WholeFile {
    /// What it is to the person: `report`, say.
    what: &'static str,
    path: PathBuf,
}

impl WholeFile {
    /// Makes sure, before any work is done, that a file can be written there.
    pub(crate) fn check(what: &'static str, path: &Path) -> Result<Self, Error> {
        let file = Self { what, path: path.to_owned() };
        if path.is_dir() || path.file_name().is_none() {
            return Err(Error::unwritable(what, path, std::io::ErrorKind::IsADirectory.into()));
        }
        file.beside().map_err(|e| Error::unwritable(what, path, e))?;
        Ok(file)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Writes all of it in one step: whoever looks finds the whole file, or what was there before.
    pub(crate) fn write(&self, content: &[u8]) -> Result<(), Error> {
        let written = self.beside().and_then(|mut file| {
            file.write_all(content)?;
            file.as_file().sync_all()?;
            file.persist(&self.path).map_err(|e| e.error)?;
            Ok(())
        });
        written.map_err(|e| Error::unwritable(self.what, &self.path, e))
    }

    fn beside(&self) -> std::io::Result<NamedTempFile> {
        let folder = match self.path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        let mut builder = tempfile::Builder::new();
        builder.prefix(".formwork-");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            // A result is no secret: it gets what the person's umask leaves, as any other file does.
            builder.permissions(std::fs::Permissions::from_mode(0o666));
        }
        builder.tempfile_in(folder)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_file_replaces_the_old_one_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("report.json");
        std::fs::write(&path, "old").unwrap();
        let file = WholeFile::check("report", &path).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"old");
        file.write(b"new").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"new");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn what_cannot_be_written_is_said_first() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(WholeFile::check("report", folder.path()).unwrap_err().code(), "unwritable_report");
        assert_eq!(
            WholeFile::check("report", &folder.path().join("no/report")).unwrap_err().code(),
            "unwritable_report"
        );
    }
}
