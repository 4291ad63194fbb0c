package io.steelyard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import io.steelyard.db.Endpoint;
import io.steelyard.db.LentPrograms;
import io.steelyard.support.PostgresSupport;
import io.steelyard.support.ServiceProcess;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The process from outside: its exit code, and the one line it leaves on stderr. */
@Order(1) // the longest
class MainIT {
  private static final String TOKEN = "a-token-of-more-than-16-characters";
  private static final int INTERRUPT = 2;

  @TempDir Path dir;
  private final Map<String, String> env = new HashMap<>();
  private final List<Process> started = new ArrayList<>();

  MainIT() {
    env.put("STEELYARD_HTTP_PORT", "0");
    env.put("STEELYARD_MANAGEMENT_PORT", "0");
  }

  @AfterEach
  void killWhatRuns() throws Exception {
    for (Process process : started) {
      process.destroy();
      if (!process.waitFor(30, TimeUnit.SECONDS)) {
        process.destroyForcibly();
      }
    }
  }

  private Path file(String name) {
    return dir.resolve(name + started.size());
  }

  private Process run() throws IOException {
    List<String> command =
        new ArrayList<>(
            List.of(
                ProcessHandle.current().info().command().orElseThrow(),
                "-XX:TieredStopAtLevel=1")); // which is what is quicker for seconds
    command.addAll(ServiceProcess.Launch.ofThisBuild().program());
    ProcessBuilder builder = new ProcessBuilder(command).directory(dir.toFile());
    builder.environment().keySet().removeIf(name -> name.startsWith("STEELYARD_"));
    builder.environment().putAll(env);
    started.add(null);
    builder.redirectOutput(file("out").toFile()).redirectError(file("err").toFile());
    Process process = builder.start();
    started.set(started.size() - 1, process);
    return process;
  }

  private void refusesWith(String line) throws Exception {
    Process process = run();
    assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();

    assertThat(process.exitValue()).isEqualTo(1);
    assertThat(Files.readAllLines(file("err"))).singleElement().asString().startsWith(line);
    assertThat(file("out")).content().doesNotContain("\tat ", "Exception");
  }

  private Process up() throws Exception {
    if (!Files.exists(dir.resolve("data"))) {
      LentPrograms.to(dir.resolve("data"));
    }
    Process process = run();
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(90);
    while (!Files.readString(file("out")).contains("Started in")) {
      assertThat(process.isAlive()).as(() -> read(file("err"))).isTrue();
      assertThat(System.nanoTime()).isLessThan(deadline);
      Thread.sleep(20);
    }
    return process;
  }

  private static String read(Path path) {
    try {
      return Files.readString(path);
    } catch (IOException e) {
      return e.toString();
    }
  }

  private void database(String url) {
    env.put("STEELYARD_DATABASE_URL", url);
    env.put("STEELYARD_OPERATOR_TOKEN", TOKEN);
    env.put("STEELYARD_DATABASE_CONNECT_TIMEOUT_MS", "1000");
  }

  @Test
  void aBadValueAnUnknownKeyAndABrokenFileEndIt() throws Exception {
    env.put("STEELYARD_HTTP_PORT", "http");
    refusesWith("steelyard: http.port must be a whole number from 0 to 65535, not \"http\"");
    env.put("STEELYARD_HTTP_PORT", "0");
    env.put("STEELYARD_HTTP_PROT", "1");
    refusesWith("steelyard: unknown setting STEELYARD_HTTP_PROT");
    env.remove("STEELYARD_HTTP_PROT");
    Files.createDirectory(dir.resolve("conf"));
    Files.writeString(dir.resolve("conf/config.json"), "{");
    refusesWith("steelyard: conf/config.json is not valid JSON");
  }

  @Test
  void aTakenPortEndsIt() throws Exception {
    try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getByName("127.0.0.1"))) {
      env.put("STEELYARD_HTTP_PORT", Integer.toString(taken.getLocalPort()));

      refusesWith(
          "steelyard: http.port " + taken.getLocalPort() + " on 127.0.0.1 is already in use");
    }
    assertThat(dir.resolve("data")).doesNotExist();
  }

  @Test
  void aDatabaseThatCannotBeUsedEndsIt() throws Exception {
    Endpoint server = PostgresSupport.emptyDatabase();
    String role = server.database() + "_role";
    PostgresSupport.execute(server, "CREATE ROLE " + role + " LOGIN PASSWORD 'right'");
    String at = "@%s:%d/".formatted(server.host(), server.port());

    database("postgresql://" + role + ":right" + at + "nowhere");
    refusesWith("steelyard: the database \"nowhere\" does not exist at ");

    database("postgresql://u:p@127.0.0.1:1/d");
    refusesWith("steelyard: the database at 127.0.0.1:1 cannot be reached, tried for 1000 ms");
  }

  @Test
  void aWrongPasswordEndsIt() throws Exception {
    Process service = up();
    String port = Files.readAllLines(dir.resolve("data/postgres/postmaster.pid")).get(3);
    database("postgresql://steelyard:wrong@127.0.0.1:" + port + "/steelyard");

    refusesWith(
        "steelyard: the database at 127.0.0.1:"
            + port
            + " refuses user \"steelyard\" with this password (database.url)");
    assertThat(service.isAlive()).isTrue();
  }

  @Test
  void aDataDirectoryInUseEndsTheSecondAndNotTheFirst() throws Exception {
    Process first = up();

    refusesWith(
        "steelyard: data directory " + dir.toRealPath().resolve("data") + " (database.dataDir) is");

    assertThat(first.isAlive()).isTrue();
  }

  @Test
  void aDataDirectoryThatCannotBeWrittenEndsIt() throws Exception {
    Files.writeString(dir.resolve("data"), "a file stands here");

    refusesWith("steelyard: cannot write to data directory ");
  }

  @Test
  void aSignalStopsItInOrderAndItsPostgresWithIt() throws Exception {
    Process service = up();
    Path pidFile = dir.resolve("data/postgres/postmaster.pid");
    assertThat(pidFile).exists();

    service.destroy(); // SIGTERM

    assertThat(service.waitFor(30, TimeUnit.SECONDS)).isTrue();
    assertThat(service.exitValue()).isZero();
    assertThat(pidFile).doesNotExist();
    assertThat(file("err")).isEmptyFile();
    assertThat(Files.readString(file("out"))).contains("Stopped").doesNotContain("ERROR");
    assertThat(dir.resolve("data/postgres.log")).content().contains("database system is shut down");
  }

  @Test
  void aSignalInTheMiddleOfAStartLeavesNothingRunning() throws Exception {
    LentPrograms.to(dir.resolve("data"));
    Process service = run();
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
    while (!Files.exists(dir.resolve("data/postgres.unfinished"))) {
      assertThat(System.nanoTime()).isLessThan(deadline);
      Thread.sleep(5);
    }

    service.destroy();

    assertThat(service.waitFor(30, TimeUnit.SECONDS)).isTrue();
    assertThat(service.exitValue()).isZero();
    assertThat(dir.resolve("data/postgres/postmaster.pid")).doesNotExist();
  }

  @Test
  void afterAKillItStartsAgain() throws Exception {
    Process killed = up();
    killed.destroyForcibly().waitFor(10, TimeUnit.SECONDS);

    up();

    assertThat(Files.readString(file("out"))).contains("left its PostgreSQL running");
  }

  @Test
  void aSignalOfTheTerminalStopsItToo() throws Exception {
    assumeFalse(ignoresInterrupts(), "what a shell runs in the background is started like that");
    Process service = up();

    new ProcessBuilder("kill", "-INT", Long.toString(service.pid())).start().waitFor();

    assertThat(service.waitFor(30, TimeUnit.SECONDS)).isTrue();
    assertThat(service.exitValue()).isZero();
  }

  /** Whether this process was started to ignore SIGINT; so are those then that it starts. */
  private static boolean ignoresInterrupts() throws Exception {
    Path status = Path.of("/proc/self/status");
    if (!Files.exists(status)) {
      return false;
    }
    String ignored =
        Files.readAllLines(status).stream()
            .filter(line -> line.startsWith("SigIgn:"))
            .map(line -> line.substring("SigIgn:".length()).strip())
            .findFirst()
            .orElseThrow();
    return (Long.parseUnsignedLong(ignored, 16) & 1 << INTERRUPT - 1) != 0;
  }
}
