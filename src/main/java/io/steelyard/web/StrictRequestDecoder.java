package io.steelyard.web;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPipeline;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpMessage;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.util.AsciiString;
import io.netty.util.AttributeKey;
import io.vertx.core.http.HttpConnection;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.impl.VertxHttpRequestDecoder;
import io.vertx.core.net.impl.ConnectionBase;
import java.util.List;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/**
 * Lets every request that cannot be read be answered, and closes CVE-2026-102479: Vert.x 5.0 takes
 * any header that differs from Content-Length or Content-Type in the byte after the hyphen for that
 * header, which lets a proxy and this server disagree on where a request ends. Such a header is
 * renamed to {@link #FORGED}, which {@link WebServer} answers with 400. That part is to be removed
 * with the first fixed Vert.x that resolves.
 *
 * <p>A chunk that cannot be read would make Vert.x end the connection without a word. Here it ends
 * the body instead, and {@link #isBroken} tells the body's reader. A version other than HTTP/1.x is
 * an invalid request like any other.
 *
 * <p>While the service stops, every request is taken as one that wants its connection closed with
 * the answer: whoever sends on goes elsewhere, and no request comes in on a connection just closed.
 *
 * <p>A connection whose request has begun and whose headers do not end in time is closed: to the
 * idle timeout, one byte a minute is not silence.
 */
final class StrictRequestDecoder extends VertxHttpRequestDecoder {
  /** Stands for a header that was made to look like one that frames the body. */
  static final AsciiString FORGED = AsciiString.cached("x-steelyard-forged-header");

  private static final AttributeKey<Boolean> BROKEN = AttributeKey.valueOf("steelyard.broken-body");
  private static final int AFTER_HYPHEN = 8;
  private static final int CONTENT_LENGTH = 14;
  private static final int CONTENT_TYPE = 12;
  private static final String HANDLER = "httpDecoder";

  private final int headMs;
  private final BooleanSupplier draining;
  private boolean inBody;
  private Future<?> headEnds;

  private StrictRequestDecoder(HttpServerOptions options, int headMs, BooleanSupplier draining) {
    super(options);
    this.headMs = headMs;
    this.draining = draining;
  }

  /**
   * Puts this decoder in the place of the connection's own, before it has read anything.
   *
   * @param headMs from the first byte of a request to the end of its headers
   * @param draining whether a stop has begun
   * @return whether it has one; connections of HTTP/2 have not
   */
  static boolean install(
      HttpConnection connection, HttpServerOptions options, int headMs, BooleanSupplier draining) {
    ChannelPipeline pipeline = ((ConnectionBase) connection).channel().pipeline();
    if (pipeline.get(HANDLER) == null) {
      return false;
    }
    pipeline.replace(HANDLER, HANDLER, new StrictRequestDecoder(options, headMs, draining));
    return true;
  }

  /** Whether what was sent as a body on this connection could not be read to its end. */
  static boolean isBroken(HttpConnection connection) {
    return ((ConnectionBase) connection).channel().hasAttr(BROKEN);
  }

  @Override
  protected void decode(ChannelHandlerContext context, ByteBuf in, List<Object> out)
      throws Exception {
    boolean begun = in.isReadable();
    super.decode(context, in, out);
    limitHead(context, begun, out);
    for (int i = 0; i < out.size(); i++) {
      if (out.get(i) instanceof HttpMessage message && draining.getAsBoolean()) {
        message.headers().set(HttpHeaderNames.CONNECTION, HttpHeaderValues.CLOSE);
      }
      if (out.get(i) instanceof HttpContent content
          && !(content instanceof HttpMessage)
          && content.decoderResult().isFailure()) {
        content.release();
        out.set(i, LastHttpContent.EMPTY_LAST_CONTENT);
        context.channel().attr(BROKEN).set(Boolean.TRUE);
      }
    }
  }

  /** Most come in one piece, and need no timer. */
  private void limitHead(ChannelHandlerContext context, boolean begun, List<Object> out) {
    for (Object part : out) {
      inBody = !(part instanceof LastHttpContent);
    }
    if (!out.isEmpty() || inBody) {
      endHead();
    } else if (begun && headEnds == null) {
      awaitHead(context);
    }
  }

  private void awaitHead(ChannelHandlerContext context) {
    headEnds =
        context.executor().schedule(() -> headIsLate(context), headMs, TimeUnit.MILLISECONDS);
  }

  /** What nobody reads, since requests before it are worked on, is not its sender's fault. */
  private void headIsLate(ChannelHandlerContext context) {
    if (context.channel().config().isAutoRead()) {
      context.close();
    } else {
      awaitHead(context);
    }
  }

  private void endHead() {
    if (headEnds != null) {
      headEnds.cancel(false);
      headEnds = null;
    }
  }

  @Override
  public void channelInactive(ChannelHandlerContext context) throws Exception {
    endHead();
    super.channelInactive(context);
  }

  @Override
  protected HttpMessage createMessage(String[] initialLine) {
    HttpMessage message = super.createMessage(initialLine);
    if (message.protocolVersion().majorVersion() != 1) {
      throw new IllegalArgumentException("not HTTP/1.x");
    }
    return message;
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
