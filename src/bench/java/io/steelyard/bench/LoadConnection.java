package io.steelyard.bench;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** One connection of a load: several requests under way, answered in their order. */
final class LoadConnection {
  private static final int ANSWER_BYTES_MAX = 1 << 20;
  private static final int ANSWER_BYTES = 1 << 11;
  private static final int STATUS_AT = "HTTP/1.1 ".length();
  private static final int EMPTY_LINE = 2;
  private static final byte[] CONTENT_LENGTH = ascii("content-length:");
  private static final byte[] RETRY_AFTER = ascii("retry-after:");
  private static final byte[] ACCEPTED = ascii("\"accepted\":");
  private static final byte[] DUPLICATES = ascii("\"duplicates\":");

  /** Whom to tell of each answer. */
  interface Listener {
    void answered(LoadConnection connection, long sentAt, Measured.Answer answer);

    /** The service closed it under so many requests; it is open again. */
    void broken(LoadConnection connection, int requests);
  }

  private final Selector selector;
  private final int port;
  private final Requests requests;
  private final Listener listener;
  private final long[] sentAt;
  private SocketChannel channel;
  private SelectionKey key;
  private byte[] bytes = new byte[ANSWER_BYTES];
  private ByteBuffer in = ByteBuffer.wrap(bytes);
  private ByteBuffer out;
  private int first;
  private int underWay;
  private int status;
  private int length;
  private boolean hasRetryAfter;

  /**
   * @param depth the most requests under way at once
   */
  LoadConnection(Selector selector, int port, int depth, Requests requests, Listener listener)
      throws IOException {
    this.selector = selector;
    this.port = port;
    this.requests = requests;
    this.listener = listener;
    this.sentAt = new long[depth];
    open();
  }

  private void open() throws IOException {
    channel = SocketChannel.open(new InetSocketAddress("127.0.0.1", port));
    channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
    channel.configureBlocking(false);
    key = channel.register(selector, SelectionKey.OP_READ, this);
    in.clear();
    out = null;
    underWay = 0;
  }

  boolean canSend() {
    return out == null && underWay < sentAt.length;
  }

  int underWay() {
    return underWay;
  }

  /** The next request; only while it can. */
  void send(long at) throws IOException {
    sentAt[(first + underWay) % sentAt.length] = at;
    underWay++;
    out = requests.next();
    write();
  }

  /** What the selector has found. */
  void ready() throws IOException {
    if (key.isWritable()) {
      write();
    }
    if (key.isValid() && key.isReadable()) {
      read();
    }
  }

  private void write() throws IOException {
    try {
      channel.write(out);
    } catch (IOException e) {
      reopen();
      return;
    }
    boolean done = !out.hasRemaining();
    int wanted = done ? SelectionKey.OP_READ : SelectionKey.OP_READ | SelectionKey.OP_WRITE;
    if (key.interestOps() != wanted) {
      key.interestOps(wanted);
    }
    if (done) {
      out = null;
    }
  }

  private void read() throws IOException {
    int count;
    try {
      count = channel.read(in);
    } catch (IOException e) {
      count = -1;
    }
    int from = 0;
    for (int next = answer(from); next > from; next = answer(from)) {
      from = next;
    }
    if (count < 0) {
      reopen();
      return;
    }
    in.flip().position(from);
    in.compact();
    if (!in.hasRemaining()) {
      grow();
    }
  }

  private void grow() {
    if (bytes.length == ANSWER_BYTES_MAX) {
      throw new IllegalStateException("an answer of more than " + ANSWER_BYTES_MAX + " bytes");
    }
    bytes = Arrays.copyOf(bytes, 2 * bytes.length);
    in = ByteBuffer.wrap(bytes).position(bytes.length / 2);
  }

  private void reopen() throws IOException {
    int lost = underWay;
    channel.close();
    open();
    listener.broken(this, lost);
  }

  /** Reads one answer; the place after it, or {@code from} while it is not all there. */
  private int answer(int from) {
    int limit = in.position();
    int body = head(from, limit);
    if (body < 0 || body + length > limit) {
      return from;
    }
    long sent = sentAt[first];
    first = (first + 1) % sentAt.length;
    underWay--;
    int end = body + length;
    boolean events = status == 202;
    listener.answered(
        this,
        sent,
        new Measured.Answer(
            status,
            hasRetryAfter,
            events ? member(ACCEPTED, body, end) : 0,
            events ? member(DUPLICATES, body, end) : 0));
    return end;
  }

  /** Reads status and headers; where the body begins, or -1 while they are not all there. */
  private int head(int from, int limit) {
    int at = lineEnd(from, limit);
    if (at < 0) {
      return -1;
    }
    status = number(from + STATUS_AT, limit);
    length = 0;
    hasRetryAfter = false;
    for (int end = lineEnd(at, limit); end >= 0; end = lineEnd(at, limit)) {
      if (end - at == EMPTY_LINE) {
        return end;
      }
      if (startsWith(CONTENT_LENGTH, at)) {
        length = number(at + CONTENT_LENGTH.length, limit);
      } else if (startsWith(RETRY_AFTER, at)) {
        hasRetryAfter = number(at + RETRY_AFTER.length, limit) > 0;
      }
      at = end;
    }
    return -1;
  }

  private int lineEnd(int from, int limit) {
    for (int i = from; i < limit; i++) {
      if (bytes[i] == '\n') {
        return i + 1;
      }
    }
    return -1;
  }

  private boolean startsWith(byte[] lowerCase, int at) {
    for (int i = 0; i < lowerCase.length && at + i < bytes.length; i++) {
      byte b = bytes[at + i];
      if ((b >= 'A' && b <= 'Z' ? b + 32 : b) != lowerCase[i]) {
        return false;
      }
    }
    return true;
  }

  private int number(int at, int limit) {
    int i = at;
    while (i < limit && bytes[i] == ' ') {
      i++;
    }
    int number = 0;
    for (; i < limit && bytes[i] >= '0' && bytes[i] <= '9'; i++) {
      number = 10 * number + bytes[i] - '0';
    }
    return number;
  }

  private int member(byte[] name, int from, int to) {
    for (int i = from; i + name.length < to; i++) {
      if (bytes[i] == '"' && startsWith(name, i)) {
        return number(i + name.length, to);
      }
    }
    return 0;
  }

  void close() throws IOException {
    channel.close();
  }

  private static byte[] ascii(String text) {
    return text.getBytes(StandardCharsets.US_ASCII);
  }
}
