package io.steelyard.bus;

import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.eventbus.DeliveryOptions;
import io.vertx.core.eventbus.ReplyException;
import io.vertx.core.eventbus.ReplyFailure;
import io.vertx.core.internal.ContextInternal;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

/** Another node of the cluster, and who waits for its answers. For all threads. */
final class Node {
  // Five announcements that did not come.
  private static final long SILENT_NANOS = TimeUnit.SECONDS.toNanos(5);
  private static final String NOT_HERE = "not_here";

  private final Vertx vertx;
  private final String id;

  /** Bounded as the requests in flight are. */
  private final Set<Promise<Reply>> asked = ConcurrentHashMap.newKeySet();

  private volatile Set<String> answers;
  private volatile long heardAtNanos;
  private volatile boolean gone;

  Node(Vertx vertx, String id, List<String> answers) {
    this.vertx = vertx;
    this.id = id;
    says(answers);
  }

  /** Where on the event bus it takes the requests of other nodes. */
  static String door(String id) {
    return Address.NODES + "." + id;
  }

  /** What it replies where it has nothing that answers: the caller may ask another. */
  static Failure notHere() {
    return new Failure.Unavailable(NOT_HERE, Bus.notServing().detail(), 1);
  }

  static boolean hasNotTakenIt(Throwable error) {
    return error instanceof FailureException known && known.failure().code().equals(NOT_HERE);
  }

  String id() {
    return id;
  }

  void says(List<String> newAnswers) {
    answers = Set.copyOf(newAnswers);
    heardAtNanos = System.nanoTime();
  }

  boolean answers(Address address) {
    return answers.contains(address.name());
  }

  boolean isSilent() {
    return System.nanoTime() - heardAtNanos > SILENT_NANOS;
  }

  /** Its answer, or a {@link FailureException}. */
  Future<Reply> ask(Envelope envelope) {
    Promise<Reply> answer = ((ContextInternal) vertx.getOrCreateContext()).promise();
    asked.add(answer);
    DeliveryOptions options = new DeliveryOptions().setSendTimeout(envelope.call().remainingMs());
    vertx
        .eventBus()
        .<Reply>request(door(id), envelope, options)
        .map(message -> message.body())
        .onComplete(
            outcome -> {
              asked.remove(answer);
              if (outcome.succeeded()) {
                answer.tryComplete(outcome.result());
              } else {
                answer.tryFail(translate(outcome.cause()));
              }
            });
    if (gone) {
      lose();
    }
    return answer.future();
  }

  private static FailureException translate(Throwable error) {
    if (error instanceof FailureException known) {
      return known;
    }
    if (error instanceof ReplyException reply) {
      if (reply.failureType() == ReplyFailure.NO_HANDLERS) {
        return notHere().asException(); // the cluster knows it no more: nothing was sent
      }
      if (reply.failureType() == ReplyFailure.TIMEOUT) {
        return Bus.timedOut().asException();
      }
    }
    return lost().asException();
  }

  /**
   * Tells all who wait for it that it will not answer.
   *
   * @return how many
   */
  int lose() {
    gone = true;
    int waiting = 0;
    for (Promise<Reply> answer : asked) {
      if (asked.remove(answer) && answer.tryFail(lost().asException())) {
        waiting++;
      }
    }
    return waiting;
  }

  private static Failure lost() {
    return new Failure.Unavailable(
        "node_lost",
        "The node that was to answer went away. Whether the request took effect is unknown: read"
            + " before repeating it. Events and upserts of customers may be repeated safely.",
        1);
  }
}
