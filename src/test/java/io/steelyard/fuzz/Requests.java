package io.steelyard.fuzz;

import io.steelyard.fuzz.FuzzOperation.Parameter;
import io.steelyard.json.Schemas;
import io.steelyard.support.TestApp;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.GZIPOutputStream;

/**
 * Makes the requests of a seed: the same for the same number, in whichever order they are asked.
 */
final class Requests {
  private static final int RARELY_PERCENT = 5;

  private final long seed;
  private final World world;
  private final List<FuzzOperation> operations;
  private final ValidValues external;
  private final ValidValues operator;

  /** How well the request is meant. */
  private enum Mood {
    VALID,
    NEARLY,
    HOSTILE
  }

  Requests(long seed, World world, List<FuzzOperation> operations) {
    this.seed = seed;
    this.world = world;
    this.operations = operations;
    this.external = new ValidValues(Schemas.external(), world);
    this.operator = new ValidValues(Schemas.operator(), world);
  }

  FuzzRequest request(long number) {
    Dice dice = new Dice(seed, number);
    FuzzOperation operation = dice.pick(operations);
    if (operation.isCostly() && !dice.chance(RARELY_PERCENT)) {
      operation = dice.pick(operations);
    }
    Mood mood =
        switch (dice.below(20)) {
          case 0, 1, 2, 3, 4, 5, 6, 7, 8 -> Mood.VALID;
          case 9, 10, 11, 12, 13, 14, 15 -> Mood.NEARLY;
          default -> Mood.HOSTILE;
        };
    return new Making(number, operation, dice, mood).make();
  }

  private ValidValues values(FuzzOperation operation) {
    return operation.operator() ? operator : external;
  }

  /** One request in the making. */
  private final class Making {
    private final long number;
    private final FuzzOperation operation;
    private final Dice dice;
    private final Mood mood;

    /** What of a nearly valid one is wrong. */
    private final String flawed;

    private final List<String> headers = new ArrayList<>();
    private boolean plain = true;
    private boolean admitted;

    Making(long number, FuzzOperation operation, Dice dice, Mood mood) {
      this.number = number;
      this.operation = operation;
      this.dice = dice;
      this.mood = mood;
      this.flawed =
          operation.bodySchema() != null && dice.chance(60)
              ? "body"
              : dice.pick("path", "query", "header", "key");
    }

    private boolean isFlawed(String part) {
      return switch (mood) {
        case VALID -> false;
        case NEARLY -> part.equals(flawed);
        case HOSTILE -> dice.chance(part.equals("key") ? 10 : 40);
      };
    }

    FuzzRequest make() {
      String target = path() + query();
      identify();
      otherHeaders();
      byte[] content = operation.bodySchema() == null ? odd() : body();
      byte[] sent = content == null ? new byte[0] : describe(content);
      ByteArrayOutputStream head = new ByteArrayOutputStream();
      write(head, operation.method() + " " + target + " HTTP/1.1\r\nHost: fuzz\r\n");
      headers.forEach(header -> write(head, header + "\r\n"));
      write(head, "\r\n");
      return new FuzzRequest(
          number,
          operation,
          target,
          head.toByteArray(),
          sent,
          admitted,
          plain && operation.bodySchema() != null ? content : null);
    }

    private static void write(ByteArrayOutputStream out, String text) {
      out.writeBytes(text.getBytes(StandardCharsets.ISO_8859_1));
    }

    private String path() {
      String path = operation.path();
      for (Parameter parameter : operation.parameters()) {
        if (parameter.in().equals("path")) {
          path = path.replace("{" + parameter.name() + "}", inPath(parameter));
        }
      }
      return path;
    }

    private String inPath(Parameter parameter) {
      if (isFlawed("path")) {
        return dice.chance(80) ? encoded(Flaws.text(dice)) : misencoded();
      }
      String known = world.inPath(operation, parameter.name(), dice);
      return known != null
          ? known
          : encoded((String) values(operation).of(parameter.schema(), parameter.name(), dice));
    }

    private String query() {
      List<String> pairs = new ArrayList<>();
      for (Parameter parameter : operation.parameters()) {
        if (parameter.in().equals("query") && dice.chance(35)) {
          Object value = values(operation).of(parameter.schema(), parameter.name(), dice);
          pairs.add(parameter.name() + "=" + encoded(String.valueOf(value)));
        }
      }
      if (isFlawed("query")) {
        String name =
            operation.parameters().isEmpty() || dice.chance(20)
                ? encoded(Flaws.text(dice))
                : dice.pick(operation.parameters()).name();
        pairs.add(name + "=" + (dice.chance(90) ? encoded(Flaws.text(dice)) : misencoded()));
        if (dice.chance(20)) {
          pairs.add(dice.pick(pairs));
        }
      }
      return pairs.isEmpty() ? "" : "?" + String.join(dice.pick("&", "&", "&", "&&"), pairs);
    }

    private static String encoded(String text) {
      return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
    }

    private String misencoded() {
      return dice.pick("%", "%z", "%zz", "%C0%80", "%00", "%ED%A0%80", "%FF", "a%2", "%2e%2e%2f");
    }

    private void identify() {
      boolean flawed = isFlawed("key");
      admitted = !flawed;
      if (operation.operator()) {
        headers.add(
            "Authorization: "
                + (flawed
                    ? dice.pick("", "Bearer", "Bearer x", "Basic " + TestApp.OPERATOR_TOKEN)
                    : "Bearer " + TestApp.OPERATOR_TOKEN));
        return;
      }
      String name = dice.pick("X-Api-Key: ", "x-api-key: ", "X-API-KEY:");
      headers.add(
          name
              + (flawed
                  ? dice.pick(
                      "", "x", world.publishableKey(), world.foreignKey(), world.key() + "x")
                  : world.key()));
      if (flawed && dice.chance(20)) {
        headers.add(name + world.key());
      }
    }

    private void otherHeaders() {
      if (operation.takes("Idempotency-Key") && dice.chance(30)) {
        headers.add(
            "Idempotency-Key: "
                + (isFlawed("header")
                    ? dice.pick("", "a b", "é", "x".repeat(255), "x".repeat(256), "\t", "\"q\"")
                    : "key-" + dice.below(300)));
      }
      if (dice.chance(20)) {
        headers.add("X-Request-Id: " + dice.pick("mine-1", "a b", "x".repeat(65), "<b>", "é"));
      }
      if (isFlawed("header")) {
        headers.add(
            dice.pick(
                "Accept: " + dice.pick("text/html", "*/*;q=x", "application/yaml", ""),
                "X-Forwarded-For: 127.0.0.1, ::1",
                "X-HTTP-Method-Override: DELETE",
                "Range: bytes=0-1",
                "If-None-Match: *",
                "Cookie: a=" + "b".repeat(dice.below(3000)),
                "X-Junk: " + "j".repeat(dice.pick(10, 4000, 20_000)),
                "X-Latin: \u00e9\u00ff",
                "Forwarded: for=\"_evil\"",
                "Origin: https://evil.example",
                "Expect: nothing",
                "Connection: close",
                "TE: trailers"));
      }
    }

    /** Where no body is wanted there is one now and then. */
    private byte[] odd() {
      return isFlawed("body") && dice.chance(30) ? Flaws.broken("{}".getBytes(), dice) : null;
    }

    private byte[] body() {
      Object good =
          !operation.examples().isEmpty() && dice.chance(25)
              ? dice.pick(operation.examples())
              : values(operation).ofComponent(operation.bodySchema(), dice);
      if (!isFlawed("body")) {
        return Flaws.encode(good);
      }
      Object changed = Flaws.mutated(good, dice);
      if (mood == Mood.HOSTILE) {
        for (int i = dice.below(3); i > 0; i--) {
          changed = Flaws.mutated(changed, dice);
        }
      }
      byte[] bytes = Flaws.encode(changed);
      return dice.chance(mood == Mood.HOSTILE ? 50 : 10) ? Flaws.broken(bytes, dice) : bytes;
    }

    /** The body as it is sent, after the headers that say how. */
    private byte[] describe(byte[] content) {
      boolean flawed = isFlawed("header");
      headers.add(
          flawed && dice.chance(50)
              ? dice.pick(
                  "Content-Type: text/plain",
                  "Content-Type: application/json; charset=latin1",
                  "Content-Type: ;;;",
                  "Content-Type: application/yaml",
                  "X-No-Type: none")
              : dice.pick(
                  "Content-Type: application/json",
                  "Content-Type: application/json",
                  "content-type: application/json; charset=utf-8"));
      plain = !flawed;
      byte[] sent = content;
      if (flawed && dice.chance(40)) {
        headers.add("Content-Encoding: " + dice.pick("gzip", "br", "identity", "gzip, gzip"));
      } else if (dice.chance(5)) {
        plain = false;
        headers.add("Content-Encoding: gzip");
        sent = zipped(content);
      }
      if (dice.chance(8)) {
        headers.add("Transfer-Encoding: chunked");
        return chunked(sent);
      }
      headers.add("Content-Length: " + sent.length);
      return sent;
    }

    private byte[] chunked(byte[] bytes) {
      ByteArrayOutputStream out = new ByteArrayOutputStream();
      for (int at = 0; at < bytes.length; ) {
        int length = Math.min(bytes.length - at, 1 + dice.below(5000));
        write(out, Integer.toHexString(length) + "\r\n");
        out.write(bytes, at, length);
        write(out, "\r\n");
        at += length;
      }
      write(out, "0\r\n\r\n");
      return out.toByteArray();
    }

    private static byte[] zipped(byte[] bytes) {
      ByteArrayOutputStream out = new ByteArrayOutputStream();
      try (GZIPOutputStream gzip = new GZIPOutputStream(out)) {
        gzip.write(bytes);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
      return out.toByteArray();
    }
  }
}
