package io.steelyard.support;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.DefaultHttp2HeadersDecoder;
import io.netty.handler.codec.http2.DefaultHttp2HeadersEncoder;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2Headers;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;

/** One HTTP/2 connection over TLS on which a test writes the frames itself. */
public final class RawHttp2 implements AutoCloseable {
  public static final int DATA = 0;
  public static final int HEADERS = 1;
  public static final int RST_STREAM = 3;
  public static final int SETTINGS = 4;
  public static final int GO_AWAY = 7;
  public static final int WINDOW_UPDATE = 8;
  public static final int CONTINUATION = 9;

  public static final int END_STREAM = 1;
  public static final int END_HEADERS = 4;

  private static final int PRIORITY = 0x20;
  private static final int PRIORITY_BYTES = 5;
  private static final String PREFACE = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
  private static final int SILENCE_MAX_MS = 15_000;

  private final SSLSocket socket;
  private final DataInputStream in;
  private final DefaultHttp2HeadersEncoder encoder = new DefaultHttp2HeadersEncoder();
  private final DefaultHttp2HeadersDecoder decoder = new DefaultHttp2HeadersDecoder(false);

  private RawHttp2(SSLSocket socket) throws IOException {
    this.socket = socket;
    this.in = new DataInputStream(socket.getInputStream());
  }

  /** With the preface sent; insists on h2 by ALPN. */
  public static RawHttp2 connect(int port, SSLContext context) {
    try {
      SSLSocket socket =
          (SSLSocket)
              context.getSocketFactory().createSocket(InetAddress.getByName("127.0.0.1"), port);
      socket.setSoTimeout(SILENCE_MAX_MS);
      socket.setTcpNoDelay(true);
      SSLParameters parameters = socket.getSSLParameters();
      parameters.setApplicationProtocols(new String[] {"h2"});
      socket.setSSLParameters(parameters);
      socket.startHandshake();
      if (!"h2".equals(socket.getApplicationProtocol())) {
        throw new AssertionError("not h2 but " + socket.getApplicationProtocol());
      }
      RawHttp2 connection = new RawHttp2(socket);
      socket.getOutputStream().write(PREFACE.getBytes(StandardCharsets.US_ASCII));
      connection.send(SETTINGS, 0, 0, new byte[0]);
      return connection;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** What came; null at the end of the connection. */
  public record Frame(int type, int flags, int stream, byte[] payload) {}

  /** Fails with {@link IOException} once the server has closed the connection. */
  public void send(int type, int flags, int stream, byte[] payload) throws IOException {
    ByteBuffer frame = ByteBuffer.allocate(9 + payload.length);
    frame.put((byte) (payload.length >> 16)).putShort((short) payload.length);
    frame.put((byte) type).put((byte) flags).putInt(stream).put(payload);
    socket.getOutputStream().write(frame.array());
  }

  /** A frame whose payload is one number: the error of a reset, the increment of a window. */
  public void send(int type, int stream, int number) throws IOException {
    send(type, 0, stream, ByteBuffer.allocate(4).putInt(number).array());
  }

  /** The head of a request in one frame. */
  public void request(int stream, int flags, String method, String path, String... headers)
      throws IOException {
    send(HEADERS, flags | END_HEADERS, stream, block(stream, method, path, headers));
  }

  /** The head of a request as a block, which may be sent in parts. */
  public byte[] block(int stream, String method, String path, String... headers) {
    Http2Headers all =
        new DefaultHttp2Headers(false)
            .method(method)
            .path(path)
            .scheme("https")
            .authority("localhost");
    for (int i = 0; i < headers.length; i += 2) {
      all.add(headers[i], headers[i + 1]);
    }
    ByteBuf block = Unpooled.buffer();
    try {
      encoder.encodeHeaders(stream, all, block);
    } catch (Http2Exception e) {
      throw new IllegalArgumentException(e);
    }
    byte[] bytes = new byte[block.readableBytes()];
    block.readBytes(bytes);
    return bytes;
  }

  public Frame read() {
    try {
      int length = in.readUnsignedByte() << 16 | in.readUnsignedShort();
      int type = in.readUnsignedByte();
      int flags = in.readUnsignedByte();
      int stream = in.readInt() & Integer.MAX_VALUE;
      return new Frame(type, flags, stream, in.readNBytes(length));
    } catch (EOFException | SocketException | SSLException e) {
      return null; // an SSLException: cut off without a word
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Reads on up to the next frame of a type; null at the end of the connection. */
  public Frame read(int type) {
    Frame frame = read();
    while (frame != null && frame.type() != type) {
      frame = read();
    }
    return frame;
  }

  /**
   * The head of the next answer, whichever stream it is on; null where a stream was reset instead,
   * or the connection ended.
   */
  public Answer answer() {
    Frame frame = read();
    while (frame != null && frame.type() != HEADERS && frame.type() != RST_STREAM) {
      frame = read();
    }
    if (frame == null || frame.type() == RST_STREAM) {
      return null;
    }
    int skipped = (frame.flags() & PRIORITY) == 0 ? 0 : PRIORITY_BYTES;
    ByteBuf block =
        Unpooled.wrappedBuffer(frame.payload(), skipped, frame.payload().length - skipped);
    try {
      Http2Headers headers = decoder.decodeHeaders(frame.stream(), block);
      return new Answer(frame.stream(), Integer.parseInt(headers.status().toString()), headers);
    } catch (Http2Exception e) {
      throw new AssertionError(e);
    }
  }

  /** The head of an answer. */
  public record Answer(int stream, int status, Http2Headers headers) {}

  /** The error that the connection was closed with; null where it ended without saying one. */
  public Integer goneAwayWith() {
    Frame frame = read(GO_AWAY);
    return frame == null ? null : ByteBuffer.wrap(frame.payload()).getInt(4);
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
