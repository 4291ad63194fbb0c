package io.steelyard.faults;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;

/** Many connections of clients that say as little as they can. */
final class Crowd implements AutoCloseable {
  private final List<SocketChannel> open = new ArrayList<>();
  private final ByteBuffer heard = ByteBuffer.allocate(4096);

  /**
   * @param greeting what each says first; may be empty
   */
  Crowd(int port, int size, String greeting) {
    byte[] bytes = greeting.replace("\n", "\r\n").getBytes(StandardCharsets.US_ASCII);
    try {
      for (int i = 0; i < size; i++) {
        SocketChannel channel = SocketChannel.open(new InetSocketAddress("127.0.0.1", port));
        open.add(channel);
        channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
        channel.write(ByteBuffer.wrap(bytes));
        channel.configureBlocking(false);
      }
    } catch (IOException e) {
      close();
      throw new UncheckedIOException(e);
    }
  }

  /** Each says one byte more; empty for none. Returns how many the server has not cut off. */
  int say(String what) {
    byte[] bytes = what.getBytes(StandardCharsets.US_ASCII);
    for (Iterator<SocketChannel> each = open.iterator(); each.hasNext(); ) {
      SocketChannel channel = each.next();
      if (!goesOn(channel, bytes)) {
        close(channel);
        each.remove();
      }
    }
    return open.size();
  }

  private boolean goesOn(SocketChannel channel, byte[] bytes) {
    try {
      int read = 1;
      while (read > 0) {
        read = channel.read(heard.clear());
      }
      if (read == 0 && bytes.length > 0) {
        channel.write(ByteBuffer.wrap(bytes));
      }
      return read == 0;
    } catch (IOException e) {
      return false; // reset
    }
  }

  private static void close(SocketChannel channel) {
    try {
      channel.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void close() {
    open.forEach(Crowd::close);
    open.clear();
  }
}
