package io.steelyard.faults;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** What only C can do, from a source among the tests' resources. */
final class CProgram {
  private CProgram() {}

  /**
   * Compiles it. Without a C compiler the test is reported as not run.
   *
   * @param source its name in {@code /faults/}
   * @param dir has no other's files
   * @param options of the compiler
   * @return what was made
   */
  static Path compile(String source, Path dir, String... options)
      throws IOException, InterruptedException {
    Path copy = dir.resolve(source);
    try (InputStream in = CProgram.class.getResourceAsStream("/faults/" + source)) {
      Files.copy(in, copy);
    }
    Path made = dir.resolve(source + ".out");
    List<String> command = new ArrayList<>(List.of("cc", "-O2", "-o", made.toString()));
    command.addAll(List.of(options));
    command.add(copy.toString());
    assumeTrue(succeeds(command), "NOT RUN: there is no C compiler here");
    return made;
  }

  private static boolean succeeds(List<String> command) throws InterruptedException {
    try {
      return new ProcessBuilder(command).inheritIO().start().waitFor() == 0;
    } catch (IOException e) {
      return false; // it cannot be started
    }
  }
}
