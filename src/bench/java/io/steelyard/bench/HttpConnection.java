package io.steelyard.bench;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;
import java.nio.charset.StandardCharsets;

/**
 * One connection that posts and waits for the answer. By hand, since a client library would take
 * more of the machine than it leaves to the service.
 */
final class HttpConnection implements AutoCloseable {
  private final Socket socket;
  private final OutputStream out;
  private final InputStream in;
  private final String head;

  HttpConnection(int port, String path, String apiKey) throws IOException {
    socket = new Socket("127.0.0.1", port);
    socket.setTcpNoDelay(true);
    out = socket.getOutputStream();
    in = new BufferedInputStream(socket.getInputStream(), 1 << 16);
    head =
        "POST "
            + path
            + " HTTP/1.1\r\nhost: bench\r\ncontent-type: application/json\r\nx-api-key: "
            + apiKey
            + "\r\ncontent-length: ";
  }

  record Answer(int status, byte[] body) {}

  Answer post(String body) throws IOException {
    byte[] content = body.getBytes(StandardCharsets.UTF_8);
    byte[] before = (head + content.length + "\r\n\r\n").getBytes(StandardCharsets.US_ASCII);
    byte[] all = new byte[before.length + content.length];
    System.arraycopy(before, 0, all, 0, before.length);
    System.arraycopy(content, 0, all, before.length, content.length);
    out.write(all);
    int status = Integer.parseInt(line().split(" ", 3)[1]);
    int length = -1;
    for (String header = line(); !header.isEmpty(); header = line()) {
      if (header.regionMatches(true, 0, "content-length:", 0, 15)) {
        length = Integer.parseInt(header.substring(15).strip());
      }
    }
    return new Answer(status, in.readNBytes(length));
  }

  private String line() throws IOException {
    StringBuilder line = new StringBuilder(64);
    for (int c = in.read(); c != '\n'; c = in.read()) {
      if (c < 0) {
        throw new IOException("the service has closed the connection");
      }
      if (c != '\r') {
        line.append((char) c);
      }
    }
    return line.toString();
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }
}
