package io.steelyard.support;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;

/**
 * Hosts that reach each other over a network which can be split: what cannot arrive is lost without
 * a word. The test's own host reaches each over another network, which stays whole. Made of network
 * namespaces and bridges: Linux only, and root only.
 */
public final class SplitNetwork implements AutoCloseable {
  private static final String NOBODY = "02:00:00:00:00:01";

  private final int hosts;
  private final String tag;
  private final String subnet;
  private final List<String> undo = new ArrayList<>();

  private SplitNetwork(int hosts) {
    long pid = ProcessHandle.current().pid();
    this.hosts = hosts;
    this.tag = "sy" + Long.toString(pid % 100_000, Character.MAX_RADIX);
    this.subnet = "10." + (100 + pid % 100) + ".";
  }

  /** A command that this machine, or who asks it, does not let be done. */
  public static final class Refused extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private Refused(String message, Throwable cause) {
      super(message, cause);
    }
  }

  /** Throws {@link Refused} where this machine does not let it be made. */
  public static SplitNetwork open(int hosts) {
    SplitNetwork network = new SplitNetwork(hosts);
    try {
      network.make();
      return network;
    } catch (Refused e) {
      network.close();
      throw e;
    }
  }

  private void make() {
    bridge(outer());
    ip("addr add %s/24 dev %s", gateway(), outer());
    for (int i = 0; i < hosts; i++) {
      bridge(side(i));
    }
    for (int i = 0; i < hosts; i++) {
      ip("netns add %s", name(i));
      undo.add("netns del " + name(i));
      ip("-n %s link set lo up", name(i));
      attach(i, "o", outer(), outside(i));
      attach(i, "i", side(0), inside(i));
    }
  }

  private void bridge(String name) {
    ip("link add %s type bridge", name);
    undo.add("link del " + name);
    ip("link set %s up", name);
  }

  private void attach(int host, String which, String bridge, String address) {
    ip("link add %s type veth peer name %s netns %s", port(host, which), which + "0", name(host));
    ip("link set %s master %s up", port(host, which), bridge);
    ip("-n %s addr add %s/24 dev %s0", name(host), address, which);
    ip("-n %s link set %s0 up", name(host), which);
  }

  private String outer() {
    return tag + "o";
  }

  private String side(int number) {
    return tag + "s" + number;
  }

  private String name(int host) {
    return tag + "-" + host;
  }

  private String port(int host, String which) {
    return tag + which + host + "v";
  }

  /** The address of the test's own host, for all. */
  public String gateway() {
    return subnet + "1.254";
  }

  /** A host's address on the network that stays whole. */
  public String outside(int host) {
    return subnet + "1." + (host + 1);
  }

  /** A host's address on the network that can be split. */
  public String inside(int host) {
    return subnet + "2." + (host + 1);
  }

  /** The words before a command that is to run on a host. */
  public List<String> on(int host) {
    return List.of("ip", "netns", "exec", name(host));
  }

  /** From now on it reaches those on the same side only; all begin on side 0. */
  public void move(int host, int side) {
    ip("link set %s master %s", port(host, "i"), side(side));
  }

  /** What one sends does not reach the other, while it hears what the other sends. */
  public void deafen(int listener, int speaker) {
    ip(
        "-n %s neigh replace %s lladdr %s dev i0 nud permanent",
        name(speaker), inside(listener), NOBODY);
  }

  /** Everybody reaches everybody. */
  public void heal() {
    for (int i = 0; i < hosts; i++) {
      move(i, 0);
      ip("-n %s neigh flush dev i0 nud all", name(i));
    }
  }

  private static void ip(String format, Object... values) {
    String words = format.formatted(values);
    try {
      List<String> command = new ArrayList<>(List.of("ip"));
      command.addAll(List.of(words.split(" ")));
      Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
      String said = new String(process.getInputStream().readAllBytes());
      if (process.waitFor() != 0) {
        throw new Refused("ip " + words + ": " + said.strip(), null);
      }
    } catch (IOException e) {
      throw new Refused("there is no program ip here", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new UncheckedIOException(new IOException(e));
    }
  }

  @Override
  public void close() {
    RuntimeException failure = null;
    for (String each : undo.reversed()) {
      try {
        ip(each);
      } catch (RuntimeException e) { // the others are to go all the same
        failure = e;
      }
    }
    if (failure != null) {
      throw failure;
    }
  }
}
