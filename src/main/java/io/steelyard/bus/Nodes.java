package io.steelyard.bus;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.eventbus.Message;
import io.vertx.core.shareddata.Shareable;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The other nodes of the cluster, and what each of them answers: every node says so every second
 * and whenever it changes. Who falls silent or leaves is asked no more, and who waits for its
 * answer is told at once; the bus alone would let them wait out their time. A node that no longer
 * answers a request says that too, so that another can be asked. For all threads.
 */
public final class Nodes implements Shareable {
  private static final Logger LOG = LoggerFactory.getLogger(Nodes.class);
  private static final String NAME = "steelyard.nodes";
  private static final long ANNOUNCE_MS = 1000;

  private final Vertx vertx;
  private final String self;
  private final Bus here;
  private final Counter elsewhere;
  private final Counter lost;
  private final ConcurrentMap<String, Node> others = new ConcurrentHashMap<>();
  private final AtomicInteger turn = new AtomicInteger();
  private volatile boolean leaving;

  private Nodes(Vertx vertx, String self, MeterRegistry metrics) {
    this.vertx = vertx;
    this.self = self;
    this.here = new Bus(vertx, true);
    this.elsewhere =
        Counter.builder("steelyard.bus.elsewhere")
            .description("Requests that another node of the cluster was asked")
            .register(metrics);
    this.lost =
        Counter.builder("steelyard.bus.lost")
            .description("Of these, those whose node went away before it answered")
            .register(metrics);
  }

  /**
   * Takes part in the cluster that {@code vertx} is a node of. Once per Vert.x, before the first
   * verticle.
   */
  public static Future<Nodes> open(Vertx vertx, String self, MeterRegistry metrics) {
    Nodes nodes = new Nodes(vertx, self, metrics);
    vertx.sharedData().<String, Nodes>getLocalMap(NAME).put(NAME, nodes);
    return nodes.open().map(nodes);
  }

  /** Those of one Vert.x; null where it is in no cluster. */
  static Nodes of(Vertx vertx) {
    return vertx.sharedData().<String, Nodes>getLocalMap(NAME).get(NAME);
  }

  private Future<Void> open() {
    Future<Void> door =
        vertx.eventBus().<Envelope>consumer(Node.door(self), this::receive).completion();
    Future<Void> ear =
        vertx
            .eventBus()
            .<NodeMessages.Announcement>consumer(Address.NODES, this::hear)
            .completion();
    return Future.all(door, ear)
        .onSuccess(
            open -> {
              Answering.of(vertx).onChange(this::announce);
              vertx.setPeriodic(ANNOUNCE_MS, timer -> look());
              announce();
            })
        .mapEmpty();
  }

  private void look() {
    announce();
    for (Node node : others.values()) {
      if (node.isSilent()) {
        forget(node.id());
      }
    }
  }

  private void announce() {
    List<String> answers =
        leaving
            ? List.of()
            : Answering.of(vertx).addresses().stream().map(Address::name).sorted().toList();
    vertx.eventBus().publish(Address.NODES, new NodeMessages.Announcement(self, answers));
  }

  /** Nothing new is wanted from now on; what comes all the same is answered while it can be. */
  public void leave() {
    leaving = true;
    announce();
  }

  private void hear(Message<NodeMessages.Announcement> message) {
    NodeMessages.Announcement told = opened(message);
    if (told == null || told.node().equals(self)) {
      return;
    }
    Node known = others.get(told.node());
    if (known == null) {
      others.put(told.node(), new Node(vertx, told.node(), told.answers()));
      announce(); // it has just come, and knows nothing of this one
    } else {
      known.says(told.answers());
    }
  }

  /** Null for what cannot be read: it is of a stranger, or of another version. */
  private static <T> T opened(Message<T> message) {
    try {
      return message.body();
    } catch (IllegalArgumentException e) {
      LOG.warn("A message from another node is refused: {}", e.getMessage());
      return null;
    }
  }

  /** It has left the cluster, or has been silent for too long. */
  public void forget(String node) {
    Node gone = others.remove(node);
    if (gone != null) {
      lost.increment(gone.lose());
    }
  }

  private void receive(Message<Envelope> message) {
    Envelope envelope = opened(message);
    if (envelope == null) {
      message.reply(Node.notHere().asException());
      return;
    }
    here.ask(envelope.request(), envelope.call())
        .onComplete(
            outcome ->
                message.reply(outcome.succeeded() ? outcome.result() : known(outcome.cause())));
  }

  /** Nothing here answers it: somebody else may, since nothing has been done. */
  private static FailureException known(Throwable failure) {
    if (failure instanceof FailureException exception) {
      return exception.failure().equals(Bus.notServing())
          ? Node.notHere().asException()
          : exception;
    }
    LOG.error("A request of another node failed", failure);
    return new Failure.Unexpected().asException();
  }

  /** Of those who answer it, one after the other until one has taken it. */
  <R extends Reply> Future<R> ask(Request<R> request, Call call) {
    return ask(request, call, new HashSet<>());
  }

  @SuppressWarnings("unchecked") // a request says itself what its answer is
  private <R extends Reply> Future<R> ask(Request<R> request, Call call, Set<String> asked) {
    Node node = choose(request.address(), asked);
    if (node == null) {
      return FailureException.failed(Bus.notServing());
    }
    if (call.expired()) {
      return FailureException.failed(Bus.timedOut());
    }
    asked.add(node.id());
    elsewhere.increment();
    Future<R> answer = (Future<R>) node.ask(new Envelope(call, request));
    return answer.recover(
        error ->
            Node.hasNotTakenIt(error) ? ask(request, call, asked) : Future.failedFuture(error));
  }

  private Node choose(Address address, Set<String> asked) {
    List<Node> able = new ArrayList<>();
    for (Node node : others.values()) {
      if (node.answers(address) && !node.isSilent() && !asked.contains(node.id())) {
        able.add(node);
      }
    }
    if (able.isEmpty()) {
      return null;
    }
    able.sort(Comparator.comparing(Node::id)); // so that turns are turns
    return able.get(Math.floorMod(turn.getAndIncrement(), able.size()));
  }

  /** What no node answers now, this one included. */
  public List<String> unanswered() {
    Set<Address> here = Answering.of(vertx).addresses();
    return Arrays.stream(Address.values())
        .filter(address -> !here.contains(address) && choose(address, Set.of()) == null)
        .map(Address::value)
        .toList();
  }
}
