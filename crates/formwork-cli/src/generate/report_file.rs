//! The report's file: whole, or as it was before.

use std::io::Write;
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::error::Error;

/// Where a report goes.
#[derive(Debug)]
pub(super) struct ReportFile(PathBuf);

impl ReportFile {
    /// Makes sure, before any work is done, that a file can be written there.
    pub(super) fn check(path: &Path) -> Result<Self, Error> {
        let file = Self(path.to_owned());
        if path.is_dir() || path.file_name().is_none() {
            return Err(Error::unwritable(path, std::io::ErrorKind::IsADirectory.into()));
        }
        file.beside().map_err(|e| Error::unwritable(path, e))?;
        Ok(file)
    }

    /// Writes the report in one step: whoever looks finds all of it, or what was there before.
    pub(super) fn write(&self, report: &[u8]) -> Result<(), Error> {
        let written = self.beside().and_then(|mut file| {
            file.write_all(report)?;
            file.as_file().sync_all()?;
            file.persist(&self.0).map_err(|e| e.error)?;
            Ok(())
        });
        written.map_err(|e| Error::unwritable(&self.0, e))
    }

    fn beside(&self) -> std::io::Result<NamedTempFile> {
        let folder = match self.0.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        let mut builder = tempfile::Builder::new();
        builder.prefix(".formwork-report-");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            // A report is no secret: it gets what the person's umask leaves, as any other file does.
            builder.permissions(std::fs::Permissions::from_mode(0o666));
        }
        builder.tempfile_in(folder)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_replaces_the_old_one_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("report.json");
        std::fs::write(&path, "old").unwrap();
        let file = ReportFile::check(&path).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"old");
        file.write(b"new").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"new");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn what_cannot_be_written_is_said_first() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(ReportFile::check(folder.path()).unwrap_err().code(), "unwritable_report");
        assert_eq!(ReportFile::check(&folder.path().join("no/report")).unwrap_err().code(), "unwritable_report");
    }
}
