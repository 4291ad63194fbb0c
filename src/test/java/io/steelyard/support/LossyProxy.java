package io.steelyard.support;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicReference;

/** A TCP proxy that can lose the answer to one thing a client says. */
public final class LossyProxy implements AutoCloseable {
  private final ServerSocket listener;
  private final int targetPort;
  private final List<Socket> sockets = new CopyOnWriteArrayList<>();
  private final AtomicReference<Trap> trap = new AtomicReference<>();

  /** How the answer goes missing. */
  public enum Loss {
    /** The client's connection ends. */
    CUT,
    /** The client's connection stays open, and nothing is heard on it any more. */
    SILENCE
  }

  private record Trap(byte[] words, Loss loss) {
    boolean springsAt(byte[] bytes, int length) {
      for (int i = 0; i + words.length <= length; i++) {
        if (Arrays.equals(bytes, i, i + words.length, words, 0, words.length)) {
          return true;
        }
      }
      return false;
    }
  }

  public LossyProxy(int targetPort) throws IOException {
    this.targetPort = targetPort;
    this.listener = new ServerSocket(0, 64, InetAddress.getByName("127.0.0.1"));
    Thread.startVirtualThread(this::accept);
  }

  public int port() {
    return listener.getLocalPort();
  }

  /** The next client that says {@code words} is heard by the server, but hears nothing back. */
  public void loseAnswerTo(String words, Loss loss) {
    trap.set(new Trap(words.getBytes(StandardCharsets.UTF_8), loss));
  }

  /** Whether the trap that was set has sprung. */
  public boolean hasLost() {
    return trap.get() == null;
  }

  private void accept() {
    while (!listener.isClosed()) {
      try {
        Socket client = listener.accept();
        Socket server = new Socket(InetAddress.getByName("127.0.0.1"), targetPort);
        sockets.add(client);
        sockets.add(server);
        Link link = new Link(client, server);
        Thread.startVirtualThread(link::forward);
        Thread.startVirtualThread(link::backward);
      } catch (IOException e) {
        // the listener was closed, or nobody listens behind: the client sees its socket closed
        if (listener.isClosed()) {
          return;
        }
      }
    }
  }

  private final class Link {
    private final Socket client;
    private final Socket server;
    private volatile Loss loss;

    private Link(Socket client, Socket server) {
      this.client = client;
      this.server = server;
    }

    private void forward() {
      pump(
          client,
          server,
          (bytes, length) -> {
            Trap set = trap.get();
            if (set != null && set.springsAt(bytes, length) && trap.compareAndSet(set, null)) {
              loss = set.loss();
            }
            return true;
          });
    }

    private void backward() {
      pump(
          server,
          client,
          (bytes, length) -> {
            if (loss == Loss.CUT) {
              close(client);
            }
            return loss == null;
          });
    }
  }

  private interface Gate {
    boolean passes(byte[] bytes, int length);
  }

  private static void pump(Socket from, Socket to, Gate gate) {
    byte[] bytes = new byte[64 * 1024];
    try {
      InputStream in = from.getInputStream();
      OutputStream out = to.getOutputStream();
      for (int read = in.read(bytes); read >= 0; read = in.read(bytes)) {
        if (gate.passes(bytes, read)) {
          out.write(bytes, 0, read);
        }
      }
    } catch (IOException e) {
      // one side has gone: so does the other
    } finally {
      close(from);
      close(to);
    }
  }

  private static void close(Socket socket) {
    try {
      socket.close();
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  @Override
  public void close() {
    try {
      listener.close();
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
    sockets.forEach(LossyProxy::close);
  }
}
