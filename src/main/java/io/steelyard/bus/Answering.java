package io.steelyard.bus;

import io.vertx.core.Vertx;
import io.vertx.core.shareddata.Shareable;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/** The verticles of this process that answer requests, by address. */
final class Answering implements Shareable {
  private static final String NAME = "steelyard.answering";

  /** One instance of a verticle. */
  interface Instance {
    /** Whether the calling thread is the one it runs on. */
    boolean isAtHand();

    /** Whether it would take one more now; not counting what is on its way to it. */
    boolean hasRoom();

    /** Where on the event bus it alone listens, within this process. */
    String ownAddress();
  }

  private record Group(List<Instance> instances, AtomicInteger turn) {
    Instance choose() {
      int count = instances.size();
      if (count == 1) {
        return instances.get(0);
      }
      for (int i = 0; i < count; i++) {
        if (instances.get(i).isAtHand() && instances.get(i).hasRoom()) {
          return instances.get(i);
        }
      }
      int first = Math.floorMod(turn.getAndIncrement(), count);
      for (int i = 0; i < count; i++) {
        Instance next = instances.get((first + i) % count);
        if (next.hasRoom()) {
          return next;
        }
      }
      return instances.get(first); // it refuses, and counts that it did
    }
  }

  private final Map<Address, Group> groups = new ConcurrentHashMap<>();
  private volatile Runnable onChange = () -> {};

  private Answering() {}

  /** Those of one Vert.x. */
  static Answering of(Vertx vertx) {
    return vertx
        .sharedData()
        .<String, Answering>getLocalMap(NAME)
        .computeIfAbsent(NAME, name -> new Answering());
  }

  /** Called after every change of what is answered here, on any thread. */
  void onChange(Runnable told) {
    onChange = told;
  }

  Set<Address> addresses() {
    return Set.copyOf(groups.keySet());
  }

  void add(Address address, Instance instance) {
    groups.compute(
        address,
        (key, group) -> {
          List<Instance> all = new ArrayList<>(group == null ? List.of() : group.instances());
          all.add(instance);
          return new Group(List.copyOf(all), new AtomicInteger());
        });
    onChange.run();
  }

  void remove(Address address, Instance instance) {
    groups.computeIfPresent(
        address,
        (key, group) -> {
          List<Instance> all = new ArrayList<>(group.instances());
          all.remove(instance);
          return all.isEmpty() ? null : new Group(List.copyOf(all), new AtomicInteger());
        });
    onChange.run();
  }

  /**
   * Who answers the next request: of those with room one on the caller's own thread, or else the
   * others by turns; null for none.
   */
  Instance choose(Address address) {
    Group group = groups.get(address);
    return group == null ? null : group.choose();
  }
}
