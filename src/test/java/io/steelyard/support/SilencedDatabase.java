package io.steelyard.support;

import io.steelyard.db.Endpoint;
import io.vertx.core.Vertx;
import io.vertx.core.net.NetSocket;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** A way to a database on which nothing passes while it is silent, and nobody hangs up. */
public final class SilencedDatabase {
  private final List<NetSocket> sockets = new CopyOnWriteArrayList<>();
  private final Endpoint endpoint;
  private volatile boolean silent;

  /** Lives as long as {@code vertx}. */
  public SilencedDatabase(Vertx vertx, Endpoint database) {
    int port =
        vertx
            .createNetServer()
            .connectHandler(
                client -> {
                  client.pause();
                  vertx
                      .createNetClient()
                      .connect(database.port(), database.host())
                      .onSuccess(server -> join(client, server));
                })
            .listen(0, "127.0.0.1")
            .await()
            .actualPort();
    endpoint =
        new Endpoint("127.0.0.1", port, database.database(), database.user(), database.password());
  }

  private void join(NetSocket client, NetSocket server) {
    client.handler(server::write);
    server.handler(client::write);
    client.closeHandler(closed -> server.close());
    server.closeHandler(closed -> client.close());
    sockets.add(client);
    sockets.add(server);
    if (silent) {
      server.pause();
    } else {
      client.resume();
    }
  }

  public Endpoint endpoint() {
    return endpoint;
  }

  public void silence() {
    silent = true;
    sockets.forEach(NetSocket::pause);
  }

  public void wake() {
    silent = false;
    sockets.forEach(NetSocket::resume);
  }
}
