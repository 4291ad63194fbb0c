package io.steelyard.support;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/** One connection on which a test writes the bytes of its requests itself. */
public final class RawHttp implements AutoCloseable {
  private static final int SILENCE_MAX_MS = 15_000;

  private final Socket socket;
  private final InputStream in;

  private RawHttp(Socket socket) throws IOException {
    this.socket = socket;
    this.in = new BufferedInputStream(socket.getInputStream());
  }

  public static RawHttp connect(int port) {
    return connect("127.0.0.1", port, SILENCE_MAX_MS);
  }

  public static RawHttp connect(String host, int port) {
    return connect(host, port, SILENCE_MAX_MS);
  }

  /** As {@link #connect(int)}, for one who waits so long for the server to say something. */
  public static RawHttp connect(int port, int silenceMaxMs) {
    return connect("127.0.0.1", port, silenceMaxMs);
  }

  private static RawHttp connect(String host, int port, int silenceMaxMs) {
    try {
      Socket socket = new Socket(InetAddress.getByName(host), port);
      socket.setSoTimeout(silenceMaxMs);
      socket.setTcpNoDelay(true);
      return new RawHttp(socket);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Sends text with a line break for every {@code \n}, in Latin-1. */
  public RawHttp send(String text) {
    return send(text.replace("\n", "\r\n").getBytes(StandardCharsets.ISO_8859_1));
  }

  public RawHttp send(byte[] bytes) {
    try {
      socket.getOutputStream().write(bytes);
      socket.getOutputStream().flush();
      return this;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** What the server said; {@code body} is empty where there is none. */
  public record Response(int status, Map<String, List<String>> headers, String body) {
    public String header(String name) {
      List<String> values = headers.get(name);
      return values == null ? null : String.join(", ", values);
    }
  }

  /** The next answer. */
  public Response read() {
    return read(true);
  }

  /** The next answer to a HEAD request, which has no body whatever its headers say. */
  public Response readHead() {
    return read(false);
  }

  private Response read(boolean withBody) {
    try {
      String[] status = line().split(" ", 3);
      Map<String, List<String>> headers = new TreeMap<>();
      for (String line = line(); !line.isEmpty(); line = line()) {
        String[] parts = line.split(":", 2);
        headers
            .computeIfAbsent(parts[0].toLowerCase(Locale.ROOT), name -> new ArrayList<>())
            .add(parts[1].strip());
      }
      int length =
          withBody && headers.containsKey("content-length")
              ? Integer.parseInt(headers.get("content-length").get(0))
              : 0;
      String body = new String(in.readNBytes(length), StandardCharsets.UTF_8);
      return new Response(Integer.parseInt(status[1]), headers, body);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private String line() throws IOException {
    ByteArrayOutputStream line = new ByteArrayOutputStream();
    for (int b = in.read(); b != '\n'; b = in.read()) {
      if (b < 0) {
        throw new IOException("the connection ended within: " + line);
      }
      if (b != '\r') {
        line.write(b);
      }
    }
    return line.toString(StandardCharsets.ISO_8859_1);
  }

  /** Whether the server ends the connection without saying more. */
  public boolean isClosedByServer() {
    try {
      return in.read() < 0;
    } catch (SocketException e) {
      return true; // reset: it had not read everything that was sent
    } catch (IOException e) {
      return false;
    }
  }

  @Override
  public void close() {
    try {
      socket.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
