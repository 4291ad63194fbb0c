package io.steelyard.bench;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.List;
import java.util.SplittableRandom;

/**
 * Posts of events that nobody has sent before: one prepared request, in which only the keys, times
 * and customers change, so that making an event costs the machine almost nothing.
 */
final class EventRequests implements Requests {
  static final String PATH = "/external/event";
  static final String NAME = "request";
  private static final DateTimeFormatter TIME =
      DateTimeFormatter.ofPattern("yyyy-MM-dd'T'HH:mm:ss.SSS'Z'").withZone(ZoneOffset.UTC);
  private static final String ANY_TIME = "0000-00-00T00:00:00.000Z";
  private static final String ANY_KEY = "00000000-0000-0000-0000-000000000000";
  private static final int COUNTS = 9;
  private static final byte[] HEX = "0123456789abcdef".getBytes(StandardCharsets.US_ASCII);

  private final ByteBuffer request;
  private final byte[][] customers;
  private final Keys keys;
  private final SplittableRandom random;
  private final int[] customerAt;
  private final int[] timeAt;
  private final int[] keyAt;
  private final byte[] key = ANY_KEY.getBytes(StandardCharsets.US_ASCII);
  private long timeMs;
  private byte[] time;
  private int sequence;

  /** The order in which the keys arrive at their index. */
  enum Keys {
    ORDERED,
    RANDOM
  }

  /**
   * @param customers ids of one length, each as likely as the others
   */
  EventRequests(String apiKey, List<String> customers, int events, Keys keys, long seed) {
    this.keys = keys;
    this.random = new SplittableRandom(seed);
    this.customers =
        customers.stream()
            .map(customer -> customer.getBytes(StandardCharsets.US_ASCII))
            .toArray(byte[][]::new);
    customerAt = new int[events];
    timeAt = new int[events];
    keyAt = new int[events];
    StringBuilder body = new StringBuilder(events == 1 ? "" : "[");
    for (int i = 0; i < events; i++) {
      body.append(i == 0 ? "" : ",").append("{\"customerId\":\"");
      customerAt[i] = body.length();
      body.append(customers.getFirst())
          .append("\",\"eventName\":\"" + NAME + "\",\"generatedAt\":\"");
      timeAt[i] = body.length();
      body.append(ANY_TIME).append("\",\"idempotencyKey\":\"");
      keyAt[i] = body.length();
      body.append(ANY_KEY).append("\",\"userId\":\"user-").append(100 + i % 900);
      body.append("\",\"data\":{\"count\":").append(count(i)).append("}}");
    }
    body.append(events == 1 ? "" : "]");
    String head = Requests.head("POST", PATH, apiKey, "content-length: " + body.length() + "\r\n");
    for (int i = 0; i < events; i++) {
      customerAt[i] += head.length();
      timeAt[i] += head.length();
      keyAt[i] += head.length();
    }
    byte[] bytes = (head + body).getBytes(StandardCharsets.US_ASCII);
    request = ByteBuffer.allocateDirect(bytes.length).put(bytes).flip();
  }

  private static int count(int i) {
    return 1 + i % COUNTS;
  }

  /** What all the counts of one request are together. */
  static long sum(int events) {
    long sum = 0;
    for (int i = 0; i < events; i++) {
      sum += count(i);
    }
    return sum;
  }

  @Override
  public ByteBuffer next() {
    long now = System.currentTimeMillis();
    if (now != timeMs) {
      timeMs = now;
      time = TIME.format(Instant.ofEpochMilli(now)).getBytes(StandardCharsets.US_ASCII);
    }
    for (int i = 0; i < keyAt.length; i++) {
      request.put(customerAt[i], customers[random.nextInt(customers.length)]);
      request.put(timeAt[i], time);
      nextKey();
      request.put(keyAt[i], key);
    }
    return request.rewind();
  }

  /** A version 7 UUID, or one of version 4. */
  private void nextKey() {
    long high =
        keys == Keys.ORDERED
            ? timeMs << 16 | 0x7000 | (sequence++ & 0xfff)
            : random.nextLong() & ~0xf000L | 0x4000;
    long low = random.nextLong() >>> 2 | 0x8000000000000000L;
    int at = 0;
    for (int shift = 60; shift >= 0; shift -= 4) {
      key[at++] = HEX[(int) (high >>> shift) & 0xf];
      if (shift == 32 || shift == 16) {
        at++; // the dash stands there
      }
    }
    at++;
    for (int shift = 60; shift >= 0; shift -= 4) {
      key[at++] = HEX[(int) (low >>> shift) & 0xf];
      if (shift == 48) {
        at++;
      }
    }
  }
}
