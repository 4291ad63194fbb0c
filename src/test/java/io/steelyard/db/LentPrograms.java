package io.steelyard.db;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Spares a test's data directory the unpacking of PostgreSQL's programs, which takes seconds. */
public final class LentPrograms {
  private static final Path SHARED = Path.of("target", "faults", "programs");

  private LentPrograms() {}

  /** To a data directory that is not there yet, or has none. */
  public static void to(Path data) {
    Path home = unpackedIn(SHARED);
    try (DataDirectory directory = DataDirectory.open(data)) {
      Path link = directory.path().resolve(home.getFileName());
      if (!Files.exists(link)) {
        Files.createSymbolicLink(link, home);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Where they are within a directory that several tests may ask for at once. */
  static synchronized Path unpackedIn(Path directory) {
    try (DataDirectory locked = DataDirectory.open(directory)) {
      return PostgresBinaries.unpacked(locked);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
