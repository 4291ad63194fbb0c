package io.steelyard.web;

import io.steelyard.bus.Waits;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpVersion;
import java.util.zip.DataFormatException;
import java.util.zip.Inflater;

/**
 * Reads a whole body into memory, never more than the limit: neither as sent nor inflated, and not
 * for longer than the timeout, so that a dribbling client cannot hold a connection for ever. One
 * that falls silent leaves its place to others until it is whole.
 */
final class BodyReader {
  private static final CharSequence EXPECT = HttpHeaders.createOptimized("expect");
  private static final int SILENT_MS = 250;
  private static final int LOOK_MS_MAX = 50;
  private static final long NANOS_PER_MS = 1_000_000;
  private static final int INFLATE_CHUNK = 16 * 1024;

  private final int bytesMax;
  private final long timeoutMs;
  private final Waits waits;

  BodyReader(Vertx vertx, int bytesMax, long timeoutMs) {
    this.bytesMax = bytesMax;
    this.timeoutMs = timeoutMs;
    this.waits = new Waits(vertx, Math.clamp(timeoutMs / 20, 10, LOOK_MS_MAX));
  }

  /**
   * The inflated body; fails with a {@link Refusal} of 408, 413, 415 or, without room for what is
   * {@code held}, 503. Resumes the request.
   */
  Future<Buffer> read(HttpServerRequest request, Held held) {
    if (request.response().closed()) {
      return unreadable().failed(); // nobody would say that nothing more comes
    }
    String encoding = null;
    if (request.headers().contains(HttpHeaders.CONTENT_ENCODING)) {
      encoding = String.join(", ", request.headers().getAll(HttpHeaders.CONTENT_ENCODING));
    }
    boolean gzip = "gzip".equalsIgnoreCase(encoding);
    if (encoding != null && !gzip && !"identity".equalsIgnoreCase(encoding)) {
      return Refusal.closing(
              415, "unsupported_encoding", "Content-Encoding must be gzip or identity.")
          .failed();
    }
    long announced = Math.max(0, announced(request));
    if (announced > bytesMax) {
      return tooLarge().failed();
    }
    if (!held.fits(announced)) {
      return held.refusal(announced).failed();
    }
    if ("100-continue".equalsIgnoreCase(request.getHeader(EXPECT))) {
      request.response().writeContinue();
    }
    Future<Buffer> sent = collect(request, held);
    return gzip ? sent.compose(body -> inflate(body, held)) : sent;
  }

  /** How many bytes of a body are said to follow; negative where that is not said. */
  static long announced(HttpServerRequest request) {
    String length = request.getHeader(HttpHeaders.CONTENT_LENGTH);
    if (length != null) {
      return Long.parseLong(length); // the decoder let only digits pass
    }
    boolean unsaid =
        request.version() == HttpVersion.HTTP_2
            ? request.method() != HttpMethod.GET && request.method() != HttpMethod.HEAD
            : request.headers().contains(HttpHeaders.TRANSFER_ENCODING);
    return unsaid ? -1 : 0;
  }

  private Future<Buffer> collect(HttpServerRequest request, Held held) {
    Collecting collecting = new Collecting(request, held);
    request.handler(collecting::take);
    // The client has gone; nobody hears of it.
    request.exceptionHandler(error -> collecting.fail(unreadable()));
    request.endHandler(end -> collecting.end());
    request.resume();
    return collecting.whole.future();
  }

  /** One body on its way. */
  private final class Collecting {
    private final HttpServerRequest request;
    private final Held held;
    private final Promise<Buffer> whole = Promise.promise();
    private boolean ended;

    /** Only the first part as long as it is the only one, which most bodies are. */
    private Buffer body = Buffer.buffer();

    private boolean own;

    private final long endsAtNanos = System.nanoTime() + timeoutMs * NANOS_PER_MS;
    private int seen;
    private boolean suspended;
    private Waits.Wait wait;

    Collecting(HttpServerRequest request, Held held) {
      this.request = request;
      this.held = held;
      await(timeoutMs);
    }

    private void await(long leftMs) {
      wait =
          new Waits.Wait(suspended ? leftMs : Math.min(SILENT_MS, leftMs)) {
            @Override
            protected void expire() {
              look();
            }
          };
      waits.add(wait);
    }

    private void look() {
      long leftMs = (endsAtNanos - System.nanoTime()) / NANOS_PER_MS;
      if (leftMs <= 0) {
        fail(Refusal.closing(408, "body_timeout", "The body did not arrive in time."));
        return;
      }
      suspended = suspended || (body.length() == seen && held.suspend());
      seen = body.length();
      await(leftMs);
    }

    void take(Buffer chunk) {
      if (ended) {
        return;
      }
      if (body.length() + chunk.length() > bytesMax) {
        fail(tooLarge());
      } else if (!held.take(chunk.length())) {
        fail(held.refusal(chunk.length()));
      } else if (body.length() == 0) {
        body = chunk;
      } else {
        append(chunk);
      }
    }

    private void append(Buffer chunk) {
      if (!own) {
        body = Buffer.buffer(2 * body.length()).appendBuffer(body);
        own = true;
      }
      body.appendBuffer(chunk);
    }

    void end() {
      if (StrictRequestDecoder.isBroken(request.connection())) {
        fail(unreadable());
      } else if (done()) {
        whole.complete(body);
      }
    }

    void fail(Refusal refusal) {
      if (done()) {
        whole.fail(refusal);
      }
    }

    /** Whether it was not before. */
    private boolean done() {
      boolean first = !ended;
      ended = true;
      if (first) {
        waits.remove(wait);
      }
      return first;
    }
  }

  private static Refusal unreadable() {
    return Refusal.closing(400, "malformed_request", "The body cannot be read.");
  }

  private Refusal tooLarge() {
    return Refusal.closing(
        413, "body_too_large", "The body may have at most " + bytesMax + " bytes.");
  }

  private Future<Buffer> inflate(Buffer sent, Held held) {
    Inflater inflater = new Inflater(true);
    try {
      byte[] bytes = sent.getBytes();
      int start = GzipHeader.length(bytes);
      if (start < 0) {
        return malformed();
      }
      inflater.setInput(bytes, start, bytes.length - start);
      Buffer body = Buffer.buffer();
      byte[] chunk = new byte[INFLATE_CHUNK];
      while (!inflater.finished()) {
        int read = inflater.inflate(chunk);
        if (read == 0 && (inflater.needsInput() || inflater.needsDictionary())) {
          return malformed();
        }
        if (body.length() + read > bytesMax) {
          return tooLarge().failed();
        }
        if (!held.take(read)) {
          return held.refusal(read).failed();
        }
        body.appendBytes(chunk, 0, read);
      }
      held.giveBack(sent.length());
      return GzipHeader.trailerFits(bytes, inflater.getRemaining(), body)
          ? Future.succeededFuture(body)
          : malformed();
    } catch (DataFormatException e) {
      return malformed();
    } finally {
      inflater.end();
    }
  }

  private static Future<Buffer> malformed() {
    return Refusal.of(400, "malformed_gzip", "The body is not one whole gzip member.").failed();
  }
}
