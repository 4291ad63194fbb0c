package io.steelyard.http;

import io.steelyard.support.Merchant;
import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A connection that posts events, and asks for as little as can be of the machine it shares. */
final class EventConnection implements AutoCloseable {
  private static final int SILENCE_MAX_MS = 60_000;
  private static final Pattern LENGTH = Pattern.compile("(?i)\r\ncontent-length: *(\\d+)\r\n");
  private static final Pattern OUTCOME =
      Pattern.compile("\\{\"accepted\":(\\d+),\"duplicates\":(\\d+)}");

  /** What was done with the events of a body. */
  record Outcome(int accepted, int duplicates) {}

  /** An answer to a request. */
  record Response(int status, String body) {
    /** Of a body that was taken. */
    Outcome outcome() {
      Matcher outcome = OUTCOME.matcher(body);
      if (status != 202 || !outcome.matches()) {
        throw new AssertionError(this);
      }
      return new Outcome(Integer.parseInt(outcome.group(1)), Integer.parseInt(outcome.group(2)));
    }
  }

  private final Socket socket;
  private final InputStream in;

  EventConnection(int port) {
    try {
      socket = new Socket(InetAddress.getByName("127.0.0.1"), port);
      socket.setSoTimeout(SILENCE_MAX_MS);
      socket.setTcpNoDelay(true);
      in = new BufferedInputStream(socket.getInputStream(), 1 << 12);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  Outcome post(Merchant merchant, String body) {
    write(merchant, body, 1);
    return read().outcome();
  }

  /** The same request some times, without a wait for answers in between. */
  void write(Merchant merchant, String body, int times) {
    byte[] content = body.getBytes(StandardCharsets.UTF_8);
    byte[] head =
        """
        POST /external/event HTTP/1.1
        Host: localhost
        X-API-Key: %s
        Content-Type: application/json
        Content-Length: %d

        """
            .formatted(merchant.key(), content.length)
            .replace("\n", "\r\n")
            .getBytes(StandardCharsets.US_ASCII);
    try {
      ByteArrayOutputStream requests = new ByteArrayOutputStream();
      for (int i = 0; i < times; i++) {
        requests.write(head);
        requests.write(content);
      }
      requests.writeTo(socket.getOutputStream());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The next answer. */
  Response read() {
    try {
      StringBuilder head = new StringBuilder();
      while (head.length() < 4 || !head.substring(head.length() - 4).equals("\r\n\r\n")) {
        int next = in.read();
        if (next < 0) {
          throw new IOException("the connection ended within: " + head);
        }
        head.append((char) next);
      }
      Matcher length = LENGTH.matcher(head);
      String body =
          length.find()
              ? new String(in.readNBytes(Integer.parseInt(length.group(1))), StandardCharsets.UTF_8)
              : "";
      return new Response(Integer.parseInt(head.substring(9, 12)), body);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
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
