package io.steelyard.fuzz;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A few thousand requests in every build; {@link FuzzFaults} sends many more. */
class FuzzIT {
  private static final long REQUESTS = Long.getLong("fuzz.requests", 3000);
  private static final long HEAP_MIB_MORE = 32;

  @Test
  void nothingThatIsSentBreaksTheServiceOrIsAnsweredAgainstTheDocument(@TempDir Path dir)
      throws Exception {
    try (FuzzScene scene = new FuzzScene(dir)) {
      FuzzRun run = scene.run(REQUESTS, HEAP_MIB_MORE);
      if (REQUESTS >= 20_000) { // fewer may miss what is seldom asked
        scene.checkReach(run);
      }
      scene.checkThatHeldConnectionsAreSeen();
    }
  }

  @Test
  void aSeedMakesTheSameRequestsAgain() {
    World world = World.imagined();
    Requests one = new Requests(7, world, FuzzOperation.all());
    Requests again = new Requests(7, world, FuzzOperation.all());
    Requests other = new Requests(8, world, FuzzOperation.all());
    int different = 0;
    for (int i = 999; i >= 0; i--) {
      String sent = one.request(i).toString();
      assertThat(again.request(i)).hasToString(sent);
      different += other.request(i).toString().equals(sent) ? 0 : 1;
    }
    assertThat(different).isGreaterThan(900);
  }

  /** The check itself: an answer that is not as it must be is seen, whichever it is. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "500 | application/problem+json | {problem}                        | status 500",
        "400 | application/problem+json | {\"status\":400}                 | no problem",
        "400 | application/json         | {problem}                        | a refusal of type",
        "409 | application/problem+json | {problem}                        | another status or id",
        "299 | application/json         | {}                               | not documented",
        "200 | text/html                | <html>                           | undocumented type",
        "200 | application/json         | {\"invented\":1}                 | against the document",
        "404 | application/problem+json | {problem} java.lang.Error        | shows the inside",
      })
  void aPlantedAnswerThatDoesNotMatchIsSeen(int status, String type, String body, String fault)
      throws Exception {
    String problem =
        """
        {"type":"about:blank","title":"t","status":%d,"detail":"d","code":"c","requestId":"r"}"""
            .formatted(status == 409 ? 400 : status);
    HttpServer server = server(status, type, body.replace("{problem}", problem), "r");
    try {
      FuzzRun run = imagined(server.getAddress().getPort()).send(0, 60, 2);

      assertThat(run.faults()).isNotEmpty().anyMatch(each -> each.contains(fault));
    } finally {
      server.stop(0);
    }
  }

  @Test
  void aMissingRequestIdIsSeen() throws Exception {
    HttpServer server = server(404, "application/problem+json", "{}", null);
    try {
      assertThat(imagined(server.getAddress().getPort()).send(0, 3, 1).faults())
          .anyMatch(each -> each.startsWith("no x-request-id"));
    } finally {
      server.stop(0);
    }
  }

  @Test
  void aHangIsSeen() throws Exception {
    try (java.net.ServerSocket silent =
        new java.net.ServerSocket(0, 50, InetAddress.getByName("127.0.0.1"))) {
      assertThat(imagined(silent.getLocalPort()).send(0, 2, 1).faults())
          .hasSize(2)
          .allMatch(each -> each.startsWith("no answer in time"));
    }
  }

  @Test
  void growthIsSeen() {
    Growth before = new Growth(50, 100);

    assertThat(new Growth(82, 112).since(before, 32)).isEmpty();
    assertThat(new Growth(83, 113).since(before, 32))
        .isEqualTo(List.of("heap: 83 MiB, before 50", "open files: 113, before 100"));
  }

  private static FuzzRun imagined(int port) {
    return new FuzzRun(
        new Requests(1, World.imagined(), FuzzOperation.all()),
        new FuzzRun.Target(port, port, 500));
  }

  private static HttpServer server(int status, String type, String body, String requestId)
      throws Exception {
    HttpServer server =
        HttpServer.create(new InetSocketAddress(InetAddress.getByName("127.0.0.1"), 0), 50);
    byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
    server.createContext(
        "/",
        exchange -> {
          exchange.getRequestBody().readAllBytes();
          exchange.getResponseHeaders().add("content-type", type);
          if (requestId != null) {
            exchange.getResponseHeaders().add("x-request-id", requestId);
          }
          exchange.sendResponseHeaders(status, bytes.length);
          exchange.getResponseBody().write(bytes);
          exchange.close();
        });
    server.start();
    return server;
  }
}
