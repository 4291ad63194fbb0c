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
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;

/**
 * A TCP proxy that can lose the answer to one thing a client says, break a connection at any of its
 * bytes, hold back everything, and delay what the server says.
 */
public final class LossyProxy implements AutoCloseable {
  private final ServerSocket listener;
  private final int targetPort;
  private final List<Socket> sockets = new CopyOnWriteArrayList<>();
  private final AtomicReference<Trap> trap = new AtomicReference<>();
  // no monitor: virtual threads wait for it
  private final Lock lock = new ReentrantLock();
  private final Condition released = lock.newCondition();
  private Break nextBreak;
  private boolean held;
  private volatile long delayMs;

  /** How the answer goes missing. */
  public enum Loss {
    /** The client's connection ends. */
    CUT,
    /** The client's connection stays open, and nothing is heard on it any more. */
    SILENCE
  }

  /** Which way bytes go. */
  public enum Direction {
    TO_SERVER,
    TO_CLIENT
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

  private record Break(Direction direction, long bytesLeft, Loss loss) {}

  public LossyProxy(int targetPort) throws IOException {
    this("127.0.0.1", targetPort);
  }

  /**
   * @param host the address to listen on; its target is on the loopback one
   */
  public LossyProxy(String host, int targetPort) throws IOException {
    this.targetPort = targetPort;
    this.listener = new ServerSocket(0, 64, InetAddress.getByName(host));
    Thread.startVirtualThread(this::accept);
  }

  public int port() {
    return listener.getLocalPort();
  }

  /** The next client that says {@code words} is heard by the server, but hears nothing back. */
  public void loseAnswerTo(String words, Loss loss) {
    trap.set(new Trap(words.getBytes(StandardCharsets.UTF_8), loss));
  }

  /**
   * After so many bytes more, of all connections, the one whose byte was the last is broken in both
   * directions: that byte arrives, nothing after it does.
   */
  public void breakAfter(Direction direction, long bytes, Loss loss) {
    locked(() -> nextBreak = new Break(direction, bytes, loss));
  }

  /** Whether the trap or the break that was set has done its work. */
  public boolean hasLost() {
    return locked(() -> trap.get() == null && nextBreak == null);
  }

  /** Nothing passes any more, in no direction, and nobody hangs up. */
  public void hold() {
    locked(() -> held = true);
  }

  /** What was held back passes. */
  public void release() {
    locked(
        () -> {
          held = false;
          released.signalAll();
          return held;
        });
  }

  /** What the server says from now on takes so much longer, or no longer than it takes for 0. */
  public void delayAnswers(long ms) {
    delayMs = ms;
  }

  private <T> T locked(Supplier<T> work) {
    lock.lock();
    try {
      return work.get();
    } finally {
      lock.unlock();
    }
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
    private volatile Loss answersLost;
    private volatile Loss broken;

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
              answersLost = set.loss();
            }
            return passing(Direction.TO_SERVER, length);
          });
    }

    private void backward() {
      pump(
          server,
          client,
          (bytes, length) -> {
            if (answersLost == Loss.CUT) {
              close(client);
            }
            delay();
            return answersLost == null ? passing(Direction.TO_CLIENT, length) : 0;
          });
    }

    /** What is said meanwhile waits behind it. */
    private void delay() {
      try {
        Thread.sleep(delayMs);
      } catch (InterruptedException e) {
        throw new IllegalStateException("nobody interrupts it", e);
      }
    }

    /** How many of the bytes arrive. */
    private int passing(Direction direction, int length) {
      return locked(
          () -> {
            awaitRelease();
            return broken == null ? beforeBreak(direction, length) : 0;
          });
    }

    private int beforeBreak(Direction direction, int length) {
      if (nextBreak == null || nextBreak.direction() != direction) {
        return length;
      }
      if (nextBreak.bytesLeft() > length) {
        nextBreak = new Break(direction, nextBreak.bytesLeft() - length, nextBreak.loss());
        return length;
      }
      int last = (int) nextBreak.bytesLeft();
      broken = nextBreak.loss();
      nextBreak = null;
      return last;
    }

    private void pump(Socket from, Socket to, Gate gate) {
      byte[] bytes = new byte[64 * 1024];
      try {
        InputStream in = from.getInputStream();
        OutputStream out = to.getOutputStream();
        for (int read = in.read(bytes); read >= 0; read = in.read(bytes)) {
          out.write(bytes, 0, gate.passes(bytes, read));
          if (broken == Loss.CUT) {
            return;
          }
        }
      } catch (IOException e) {
        // one side has gone: so does the other
      } finally {
        locked(LossyProxy.this::awaitRelease);
        close(from);
        close(to);
      }
    }
  }

  /** Whether nothing is held back any more; the caller has the lock. */
  private boolean awaitRelease() {
    while (held) {
      released.awaitUninterruptibly();
    }
    return true;
  }

  private interface Gate {
    int passes(byte[] bytes, int length);
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
    release();
    sockets.forEach(LossyProxy::close);
  }
}
