package io.steelyard.db;

import io.steelyard.config.StartFailure;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.util.Base64;

/**
 * The directory that one embedded service keeps everything in, held by an exclusive lock that ends
 * with the process however it ends.
 */
public final class DataDirectory implements AutoCloseable {
  private static final int SECRET_BYTES = 32;

  private final Path path;
  private final FileChannel lock;

  private DataDirectory(Path path, FileChannel lock) {
    this.path = path;
    this.lock = lock;
  }

  /** Makes the directory if it is not there, and takes it; a {@link StartFailure} says why not. */
  public static DataDirectory open(Path directory) {
    Path path = directory.toAbsolutePath().normalize();
    FileChannel channel = null;
    try {
      Files.createDirectories(path, ownerOnly(path, "rwx------"));
      Path real = path.toRealPath();
      channel =
          FileChannel.open(
              real.resolve("steelyard.lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
      if (channel.tryLock() == null) {
        throw new OverlappingFileLockException();
      }
      return new DataDirectory(real, channel);
    } catch (OverlappingFileLockException e) {
      closeQuietly(channel);
      throw new StartFailure(
          "data directory " + path + " (database.dataDir) is in use by another process", e);
    } catch (IOException e) {
      closeQuietly(channel);
      throw unwritable(path, e);
    }
  }

  public Path path() {
    return path;
  }

  /**
   * 256 random bits in base64 that stay the same for as long as the directory lives, in a file that
   * only its owner can read.
   */
  public String secret(String fileName) {
    Path file = path.resolve(fileName);
    try {
      if (!Files.exists(file)) {
        byte[] bytes = new byte[SECRET_BYTES];
        new SecureRandom().nextBytes(bytes);
        write(file, Base64.getEncoder().encodeToString(bytes));
      }
      return Files.readString(file).strip();
    } catch (IOException e) {
      throw unwritable(path, e);
    }
  }

  /** Leaves a text in a file that only its owner can read, in the place of what it held before. */
  public void leave(String fileName, String text) {
    try {
      write(path.resolve(fileName), text);
    } catch (IOException e) {
      throw unwritable(path, e);
    }
  }

  /** Whole or not at all, also through a crash: what it protects may be written right after. */
  private void write(Path file, String text) throws IOException {
    Path unfinished = file.resolveSibling(file.getFileName() + ".new");
    Files.deleteIfExists(unfinished);
    Files.createFile(unfinished, ownerOnly(path, "rw-------"));
    Files.writeString(unfinished, text + "\n", StandardCharsets.UTF_8, StandardOpenOption.SYNC);
    Files.move(unfinished, file, StandardCopyOption.ATOMIC_MOVE);
    flushEntries();
  }

  /** Makes renames inside the directory durable. */
  void flushEntries() throws IOException {
    if (isPosix(path)) {
      try (FileChannel entries = FileChannel.open(path, StandardOpenOption.READ)) {
        entries.force(true);
      }
    }
  }

  static FileAttribute<?>[] ownerOnly(Path near, String permissions) {
    return isPosix(near)
        ? new FileAttribute<?>[] {
          PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString(permissions))
        }
        : new FileAttribute<?>[0];
  }

  private static boolean isPosix(Path path) {
    return path.getFileSystem().supportedFileAttributeViews().contains("posix");
  }

  static StartFailure unwritable(Path path, IOException e) {
    String reason = String.valueOf(e.getMessage());
    if (e instanceof AccessDeniedException) {
      reason = "permission denied";
    } else if (e instanceof FileAlreadyExistsException) {
      reason = "a file is in its place";
    } else if (e instanceof FileSystemException known && known.getReason() != null) {
      reason = known.getReason();
    }
    return new StartFailure(
        "cannot write to data directory " + path + " (database.dataDir): " + reason, e);
  }

  private static void closeQuietly(FileChannel channel) {
    if (channel != null) {
      try {
        channel.close();
      } catch (IOException e) {
        // nothing was written through it, and the failure on its way says more
      }
    }
  }

  @Override
  public void close() throws IOException {
    lock.close();
  }
}
