package io.steelyard.web;

import io.netty.channel.ChannelPipeline;
import io.netty.util.AsciiString;
import io.vertx.core.http.HttpConnection;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.impl.VertxHttpRequestDecoder;
import io.vertx.core.net.impl.VertxConnection;

/**
 * Closes CVE-2026-102479: Vert.x 5.0 takes any header that differs from Content-Length or
 * Content-Type in the byte after the hyphen for that header, which lets a proxy and this server
 * disagree on where a request ends. Such a header is renamed to {@link #FORGED}, which {@link
 * WebServer} answers with 400. To be removed with the first fixed Vert.x that resolves.
 */
final class StrictRequestDecoder extends VertxHttpRequestDecoder {
  /** Stands for a header that was made to look like one that frames the body. */
  static final AsciiString FORGED = AsciiString.cached("x-steelyard-forged-header");

  private static final int AFTER_HYPHEN = 8;
  private static final int CONTENT_LENGTH = 14;
  private static final int CONTENT_TYPE = 12;
  private static final String HANDLER = "httpDecoder";

  private StrictRequestDecoder(HttpServerOptions options) {
    super(options);
  }

  /** Puts this decoder in the place of the connection's own, before it has read anything. */
  static void install(HttpConnection connection, HttpServerOptions options) {
    ChannelPipeline pipeline = ((VertxConnection) connection).channel().pipeline();
    if (pipeline.get(HANDLER) != null) {
      pipeline.replace(HANDLER, HANDLER, new StrictRequestDecoder(options));
    }
  }

  @Override
  protected AsciiString splitHeaderName(byte[] bytes, int start, int length) {
    AsciiString name = super.splitHeaderName(bytes, start, length);
    boolean forged =
        (length == CONTENT_LENGTH && differs(name, bytes, start, 'l'))
            || (length == CONTENT_TYPE && differs(name, bytes, start, 't'));
    return forged ? FORGED : name;
  }

  /** Whether the decoder took the name for the one with {@code letter} there, which it has not. */
  private static boolean differs(AsciiString name, byte[] bytes, int start, char letter) {
    return Character.toLowerCase(name.charAt(AFTER_HYPHEN)) == letter
        && Character.toLowerCase((char) bytes[start + AFTER_HYPHEN]) != letter;
  }
}
