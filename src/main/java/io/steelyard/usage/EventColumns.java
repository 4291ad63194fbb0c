package io.steelyard.usage;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.UUID;

/**
 * Events side by side in arrays, with the JSON that is stored of them: an object for each would be
 * most of what the service's memory has to be cleared of again. Nothing in them changes any more.
 *
 * @param content UTF-8; of a request, its events with a comma behind each
 * @param customers null where an event names no customer id
 * @param keys two of each event, the more significant half first
 * @param times {@code generatedAt} in milliseconds since 1970
 * @param users null for none
 * @param places four of each event in the content: from and end of its JSON, without the customer
 *     and what stands before it, and of its data; both zero for none
 */
public record EventColumns(
    byte[] content,
    UUID[] customers,
    long[] keys,
    long[] times,
    String[] names,
    String[] users,
    int[] places) {
  private static final int PLACES = 4;

  int count() {
    return times.length;
  }

  /** Null where the event names no customer id. */
  UUID customerId(int event) {
    return customers[event];
  }

  long keyHigh(int event) {
    return keys[2 * event];
  }

  long keyLow(int event) {
    return keys[2 * event + 1];
  }

  /** {@code generatedAt} in milliseconds since 1970. */
  long atMillis(int event) {
    return times[event];
  }

  String name(int event) {
    return names[event];
  }

  /** Null for none. */
  String userId(int event) {
    return users[event];
  }

  /** How much of the content a chunk has of this event: a brace, and what is behind it. */
  int jsonBytes(int event) {
    return 1 + places[PLACES * event + 1] - places[PLACES * event];
  }

  /** Where the next byte comes. */
  int copyJson(int event, byte[] to, int at) {
    int from = places[PLACES * event];
    int length = places[PLACES * event + 1] - from;
    to[at] = '{';
    System.arraycopy(content, from, to, at + 1, length);
    return at + 1 + length;
  }

  boolean hasData(int event) {
    return dataEnd(event) > dataFrom(event);
  }

  /** Of names and users; a text that events in a row share counts once. */
  long charactersOfNames() {
    long characters = 0;
    for (int i = 0; i < count(); i++) {
      characters += i > 0 && names[i] == names[i - 1] ? 0 : names[i].length();
      characters += users[i] == null || i > 0 && users[i] == users[i - 1] ? 0 : users[i].length();
    }
    return characters;
  }

  int dataFrom(int event) {
    return places[PLACES * event + 2];
  }

  int dataEnd(int event) {
    return places[PLACES * event + 3];
  }

  /** The data as sent; null for none. */
  String data(int event) {
    int from = dataFrom(event);
    return hasData(event)
        ? new String(content, from, dataEnd(event) - from, StandardCharsets.UTF_8)
        : null;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof EventColumns columns
        && Arrays.equals(content, columns.content)
        && Arrays.equals(customers, columns.customers)
        && Arrays.equals(keys, columns.keys)
        && Arrays.equals(times, columns.times)
        && Arrays.equals(names, columns.names)
        && Arrays.equals(users, columns.users)
        && Arrays.equals(places, columns.places);
  }

  @Override
  public int hashCode() {
    return Arrays.hashCode(keys);
  }

  @Override
  public String toString() {
    return count() + " events";
  }

  /** Takes events one by one. */
  static final class Builder {
    private UUID[] customers;
    private long[] keys;
    private long[] times;
    private String[] names;
    private String[] users;
    private int[] places;
    private int count;

    /**
     * @param expected how many events, to begin with
     */
    Builder(int expected) {
      customers = new UUID[expected];
      keys = new long[2 * expected];
      times = new long[expected];
      names = new String[expected];
      users = new String[expected];
      places = new int[PLACES * expected];
    }

    int count() {
      return count;
    }

    /**
     * What follows is about this event, until the next.
     *
     * @param customerId null where the event names none
     * @param userId null for none
     */
    Builder add(
        UUID customerId, long keyHigh, long keyLow, long atMillis, String name, String userId) {
      if (count == times.length) {
        grow(Math.max(16, 2 * count));
      }
      customers[count] = customerId;
      keys[2 * count] = keyHigh;
      keys[2 * count + 1] = keyLow;
      times[count] = atMillis;
      names[count] = name;
      users[count] = userId;
      count++;
      return this;
    }

    /**
     * Where its JSON is in the content, without the customer and what stands before it.
     *
     * @param end exclusive
     */
    Builder json(int from, int end) {
      return place(0, from, end);
    }

    /**
     * Where its data is in the content, if it has any.
     *
     * @param end exclusive
     */
    Builder data(int from, int end) {
      return place(2, from, end);
    }

    private Builder place(int which, int from, int end) {
      int at = PLACES * (count - 1) + which;
      places[at] = from;
      places[at + 1] = end;
      return this;
    }

    private void grow(int room) {
      customers = Arrays.copyOf(customers, room);
      keys = Arrays.copyOf(keys, 2 * room);
      times = Arrays.copyOf(times, room);
      names = Arrays.copyOf(names, room);
      users = Arrays.copyOf(users, room);
      places = Arrays.copyOf(places, PLACES * room);
    }

    /**
     * @param content what the places are in; not copied
     */
    EventColumns build(byte[] content) {
      return new EventColumns(
          content,
          Arrays.copyOf(customers, count),
          Arrays.copyOf(keys, 2 * count),
          Arrays.copyOf(times, count),
          Arrays.copyOf(names, count),
          Arrays.copyOf(users, count),
          Arrays.copyOf(places, PLACES * count));
    }
  }
}
