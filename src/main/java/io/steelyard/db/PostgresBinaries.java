package io.steelyard.db;

import io.steelyard.config.StartFailure;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.JarURLConnection;
import java.net.URL;
import java.net.URLConnection;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Locale;
import java.util.stream.Stream;
import org.apache.commons.compress.archivers.tar.TarArchiveEntry;
import org.apache.commons.compress.archivers.tar.TarArchiveInputStream;
import org.apache.commons.io.FileUtils;
import org.tukaani.xz.XZInputStream;

/**
 * The PostgreSQL programs that the jar carries, unpacked once per version into the data directory.
 * The archive's checksum in the jar's own index tells whether that has been done, so that a second
 * start reads none of its 15 MB.
 */
final class PostgresBinaries {
  private static final String PREFIX = "programs-";

  private PostgresBinaries() {}

  /** The directory with {@code bin}, {@code lib} and {@code share}. */
  static Path unpacked(DataDirectory directory) throws IOException {
    URLConnection archive = archive().openConnection();
    archive.setUseCaches(false);
    Path home = directory.path().resolve(PREFIX + identity(archive));
    if (!Files.isDirectory(home)) {
      removeOthers(directory.path());
      Path unfinished = directory.path().resolve(PREFIX + "unfinished");
      Files.createDirectory(unfinished, DataDirectory.ownerOnly(unfinished, "rwx------"));
      try (InputStream in = new BufferedInputStream(archive.getInputStream())) {
        unpack(in, unfinished);
      }
      Files.move(unfinished, home, StandardCopyOption.ATOMIC_MOVE);
    }
    return home;
  }

  private static URL archive() {
    String name = "postgres-%s-%s.txz".formatted(system(), architecture());
    URL url = PostgresBinaries.class.getClassLoader().getResource(name);
    if (url == null) {
      throw new StartFailure(
          "this build carries no PostgreSQL for this platform ("
              + name
              + "): set database.url, or build it here");
    }
    return url;
  }

  private static String system() {
    String os = System.getProperty("os.name").toLowerCase(Locale.ROOT);
    return os.startsWith("windows") ? "windows" : os.startsWith("mac") ? "darwin" : "linux";
  }

  private static String architecture() {
    String arch = System.getProperty("os.arch").toLowerCase(Locale.ROOT);
    return switch (arch) {
      case "amd64", "x86_64" -> "x86_64";
      case "aarch64", "arm64" -> "arm_64";
      default -> arch;
    };
  }

  private static String identity(URLConnection archive) throws IOException {
    return archive instanceof JarURLConnection jar
        ? Long.toHexString(jar.getJarEntry().getCrc())
        : Long.toHexString(archive.getContentLengthLong());
  }

  /** Programs of other versions and half-unpacked ones; nobody runs them: we hold the lock. */
  private static void removeOthers(Path directory) throws IOException {
    try (Stream<Path> children = Files.list(directory)) {
      for (Path child : children.toList()) {
        if (child.getFileName().toString().startsWith(PREFIX)) {
          FileUtils.deleteDirectory(child.toFile());
        }
      }
    }
  }

  private static void unpack(InputStream archive, Path target) throws IOException {
    try (TarArchiveInputStream tar = new TarArchiveInputStream(new XZInputStream(archive))) {
      TarArchiveEntry entry;
      while ((entry = tar.getNextEntry()) != null) {
        Path path = target.resolve(entry.getName()).normalize();
        if (!path.startsWith(target)) {
          throw new IOException("the archive points outside: " + entry.getName());
        }
        if (entry.isDirectory()) {
          Files.createDirectories(path);
        } else if (entry.isSymbolicLink() || entry.isLink()) {
          Files.createSymbolicLink(path, Path.of(entry.getLinkName()));
        } else if (!entry.getName().endsWith(".a")) { // for linking C programs against
          Files.createDirectories(path.getParent());
          Files.copy(tar, path);
          executable(path);
        }
      }
    }
  }

  private static void executable(Path path) throws IOException {
    if (path.getParent().endsWith("bin") && !path.toFile().setExecutable(true, true)) {
      throw new IOException("cannot make " + path + " executable");
    }
  }
}
