package io.steelyard.fuzz;

import io.steelyard.json.Json;
import java.io.ByteArrayOutputStream;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** What is done to good values: one thing wrong in a tree, or bytes that are none. */
final class Flaws {
  /** Stand in a tree for what no JSON library writes, and are exchanged in the bytes. */
  private static final Map<String, byte[]> RAW =
      Map.of(
          "\uE000", ascii("\\u0000"),
          "\uE001", ascii("\\ud800"),
          "\uE002", new byte[] {7},
          "\uE003", new byte[] {(byte) 0xC0, (byte) 0x80},
          "\uE004", new byte[] {(byte) 0xED, (byte) 0xA0, (byte) 0x80},
          "\uE005", ascii("\\x41"),
          "\uE006", new byte[] {(byte) 0xFF});

  /** In texts of JSON, parameters and headers. */
  private static final List<String> TEXTS =
      List.of(
          "",
          " ",
          "null",
          "'",
          "\"",
          "\\",
          "%",
          "%s%n",
          "-1",
          "9223372036854775808",
          "1e999",
          "NaN",
          "'; DROP TABLE customer; --",
          "' OR '1'='1",
          "createdAt; SELECT pg_sleep(9)",
          "$1",
          "{{7*7}}",
          "${jndi:ldap://127.0.0.1/x}",
          "<script>alert(1)</script>",
          "../../etc/passwd",
          "..%2f..%2f",
          "\r\nSet-Cookie: a=b",
          "\u001b[31mred",
          "\u202Egnp.exe",
          "javascript:alert(1)",
          "file:///etc/passwd",
          "http://169.254.169.254/latest/meta-data/",
          "https://user:pass@a.example/",
          "//a.example",
          "http://",
          "https://a.example:99999/",
          "2026-02-30",
          "2026-13-01T00:00:00Z",
          "2026-01-01T00:00:00",
          "2026-01-01T24:00:00Z",
          "9999-12-31T23:59:59Z",
          "0001-01-01T00:00:00Z",
          "1900-01-01",
          "-999999999-01-01",
          "2026-06-30T23:59:60Z",
          "2026-01-01T00:00:00+99:00",
          "+1000000-01-01T00:00:00Z",
          "1999-12-31T23:59:59Z",
          "2100-01-01T00:00:00Z",
          "2026-01-01T00:00:00.0000000001Z",
          "cus_01jd3c5m8y6cq643dzvmxxqkfb",
          "mer_01jd3c5m8ym9s346q3d25vt4f5",
          "cus_",
          "sub_!",
          "00000000-0000-0000-0000-000000000000",
          "Ω≈ç√∫˜µ≤≥÷",
          "\u0085",
          "\u2028",
          "﷽",
          "👩‍👩‍👧",
          "\uE000",
          "\uE001",
          "\uE002",
          "\uE003",
          "\uE004",
          "\uE005",
          "\uE006");

  private static final List<String> NUMBERS =
      List.of(
          "0",
          "-0",
          "-1",
          "0.1",
          "1e100",
          "1e101",
          "-1e100",
          "1e-100",
          "1e-101",
          "1e400",
          "1E+2",
          "9223372036854775807",
          "9223372036854775808",
          "-9223372036854775809",
          "2147483648",
          "1e999999999",
          "123456789012345678901234567890123456789012345678901234567890.1234",
          "1234567890123456789012345678901234567890123456789012345678901234.1",
          "0.000",
          "100.0");

  private Flaws() {}

  private static byte[] ascii(String text) {
    return text.getBytes(StandardCharsets.US_ASCII);
  }

  static String text(Dice dice) {
    return switch (dice.below(20)) {
      case 0 -> "x".repeat(dice.pick(255, 256, 512, 513, 3000));
      case 1 -> "é".repeat(dice.pick(256, 513, 8192, 8193));
      default -> dice.pick(TEXTS);
    };
  }

  /** A value of any kind. */
  private static Object value(Dice dice) {
    return switch (dice.below(12)) {
      case 0 -> null;
      case 1 -> dice.chance(50);
      case 2, 3 -> number(dice);
      case 4 -> new ArrayList<>();
      case 5 -> new LinkedHashMap<>();
      case 6 -> nested(dice.pick(3, 33, 63, 64, 65, 200));
      default -> text(dice);
    };
  }

  private static Object number(Dice dice) {
    String number = dice.pick(NUMBERS);
    return number.contains("e9999") ? new BigDecimal("1e9999") : new BigDecimal(number);
  }

  private static Object nested(int depth) {
    Object value = "deep";
    for (int i = 0; i < depth; i++) {
      List<Object> outer = new ArrayList<>();
      outer.add(value);
      value = outer;
    }
    return value;
  }

  /** The tree with one thing changed somewhere; the tree itself is not touched. */
  static Object mutated(Object tree, Dice dice) {
    if (tree instanceof Map<?, ?> map && !map.isEmpty() && dice.chance(85)) {
      return mutatedObject(map, dice);
    }
    if (tree instanceof List<?> list && !list.isEmpty() && dice.chance(85)) {
      List<Object> copy = new ArrayList<>(list);
      int at = dice.below(copy.size());
      if (dice.chance(10)) {
        copy.add(copy.get(at)); // twice
      } else {
        copy.set(at, mutated(copy.get(at), dice));
      }
      return copy;
    }
    return value(dice);
  }

  private static Object mutatedObject(Map<?, ?> map, Dice dice) {
    Map<String, Object> copy = new LinkedHashMap<>();
    map.forEach((name, value) -> copy.put((String) name, value));
    String name = dice.pick(List.copyOf(copy.keySet()));
    switch (dice.below(10)) {
      case 0 -> copy.remove(name);
      case 1 -> copy.put(dice.pick("merchantId", "id", "balance", "status", "__proto__", ""), "x");
      case 2 -> copy.put(text(dice), copy.remove(name));
      default -> copy.put(name, mutated(copy.get(name), dice));
    }
    return copy;
  }

  /** A tree as bytes, with what stands for raw ones exchanged. */
  static byte[] encode(Object tree) {
    byte[] text = Json.encode(tree).getBytes();
    for (Map.Entry<String, byte[]> each : RAW.entrySet()) {
      text = exchanged(text, each.getKey().getBytes(StandardCharsets.UTF_8), each.getValue());
    }
    return text;
  }

  private static byte[] exchanged(byte[] text, byte[] sought, byte[] by) {
    ByteArrayOutputStream out = new ByteArrayOutputStream(text.length);
    for (int i = 0; i < text.length; i++) {
      if (i + sought.length <= text.length
          && text[i] == sought[0]
          && text[i + 1] == sought[1]
          && text[i + 2] == sought[2]) {
        out.writeBytes(by);
        i += sought.length - 1;
      } else {
        out.write(text[i]);
      }
    }
    return out.toByteArray();
  }

  /** Bytes that are no JSON, or JSON that asks too much. */
  static byte[] broken(byte[] good, Dice dice) {
    String text = new String(good, StandardCharsets.UTF_8);
    return switch (dice.below(16)) {
      case 0 -> new byte[0];
      case 1 -> dice.bytes(1 + dice.below(300));
      case 2 -> java.util.Arrays.copyOf(good, dice.below(good.length + 1)); // cut off
      case 3 -> bytes(text + dice.pick("x", "{}", ",", "\u0000", "//", text));
      case 4 -> bytes("/* a */" + text);
      case 5 -> bytes("\uFEFF" + text);
      case 6 -> text.getBytes(StandardCharsets.UTF_16);
      case 7 -> ascii("[".repeat(dice.pick(64, 65, 1001, 100_000)));
      case 8 -> ascii("{\"a\":".repeat(dice.pick(64, 65, 20_000)) + "1");
      case 9 -> ascii("9".repeat(dice.pick(65, 1001, 100_000)));
      case 10 -> ascii("{\"a\":1,\"a\":2}");
      case 11 -> bytes(text.replaceFirst("\\{", "{\"externalId\":\"a\",\"externalId\":\"b\","));
      case 12 -> bytes(text.replace('"', '\''));
      case 13 ->
          ascii(dice.pick("null", "true", "\"\"", "0", "NaN", "-", "[]", "{}", "[{}]", "[null]"));
      case 14 -> ascii("\"" + "x".repeat(dice.pick(8192, 8193, 70_000, 300_000)) + "\"");
      default -> flipped(good, dice);
    };
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private static byte[] flipped(byte[] good, Dice dice) {
    byte[] copy = good.clone();
    for (int i = 0; i < 3 && copy.length > 0; i++) {
      copy[dice.below(copy.length)] ^= (byte) (1 << dice.below(8));
    }
    return copy;
  }
}
