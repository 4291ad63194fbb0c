package io.steelyard.db;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Spares a test's data directory the unpacking of PostgreSQL's programs, which takes seconds. */
public final class LentPrograms {
  private static Path home;

  private LentPrograms() {}

  /** To a data directory that is not there yet, or has none. */
  public static synchronized void to(Path data) {
    if (home == null) {
      try (DataDirectory shared = DataDirectory.open(Path.of("target", "faults", "programs"))) {
        home = PostgresBinaries.unpacked(shared);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
    try (DataDirectory directory = DataDirectory.open(data)) {
      Path link = directory.path().resolve(home.getFileName());
      if (!Files.exists(link)) {
        Files.createSymbolicLink(link, home);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
