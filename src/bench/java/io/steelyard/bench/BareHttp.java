package io.steelyard.bench;

import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServerRequest;
import java.io.IOException;
import java.net.Socket;
import java.nio.file.Files;
import java.util.List;

/** A Vert.x server that takes bodies and answers at once: what HTTP alone can do here. */
public final class BareHttp {
  private static final String ANSWER = "{\"accepted\":0,\"duplicates\":0}";

  private BareHttp() {}

  /** The server; two event loops, as the service has. */
  public static void main(String[] args) {
    Vertx vertx = Vertx.vertx();
    int port = Integer.getInteger("http.port");
    for (int i = 0; i < 2; i++) {
      vertx.createHttpServer().requestHandler(BareHttp::answer).listen(port, "127.0.0.1").await();
    }
  }

  private static void answer(HttpServerRequest request) {
    request
        .body()
        .onSuccess(
            body ->
                request
                    .response()
                    .setStatusCode(202)
                    .putHeader("content-type", "application/json")
                    .end(ANSWER));
  }

  /** Requests per second that it answers to the same load. */
  static double perSecond(
      Bench.Options options, int connections, int seconds, Metered merchant, int eventsEach)
      throws IOException, InterruptedException {
    int port = JavaProcess.freePort();
    Files.createDirectories(options.directory());
    try (JavaProcess server =
        JavaProcess.start(
            options.directory(),
            "bare-http.log",
            List.of(
                "-Xmx" + options.heap(), "-Dhttp.port=" + port, "-Dio.netty.allocator.type=pooled"),
            BareHttp.class.getName())) {
      server.await(() -> isListening(port));
      Load.Settings settings =
          Load.Settings.closed(
              port, connections, seconds, merchant.events(eventsEach, EventRequests.Keys.ORDERED));
      Load.run(settings);
      return Load.run(settings).requireOnly(202).perSecond();
    }
  }

  private static boolean isListening(int port) {
    try (Socket socket = new Socket("127.0.0.1", port)) {
      return socket.isConnected();
    } catch (IOException e) {
      return false; // not yet
    }
  }
}
