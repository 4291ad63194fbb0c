package io.steelyard.customer;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.steelyard.bus.Call;
import io.steelyard.bus.Failure;
import io.steelyard.bus.FailureException;
import io.steelyard.bus.Reply;
import io.steelyard.customer.CustomerMessages.CreatedCustomer;
import io.steelyard.customer.CustomerMessages.CustomerInput;
import io.steelyard.db.Idempotency.Outcome;
import io.steelyard.domain.Environment;
import io.steelyard.domain.Id;
import io.steelyard.domain.IdKind;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.internal.VertxInternal;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Which creations go together, when, and on whose thread each has its answer. */
class CreationBufferTest {
  private static final long FAR_MS = 60_000;

  private final Vertx vertx = Vertx.vertx();
  private final CreationBuffer buffer = new CreationBuffer(256, new SimpleMeterRegistry());
  private final Call.Merchant merchant = merchant();

  /** Groups in the order in which they went, each to be ended by the test. */
  private final BlockingQueue<Group> groups = new LinkedBlockingQueue<>();

  private record Group(List<String> names, Promise<List<Outcome>> outcome, Context context) {
    void commit() {
      outcome.complete(names.stream().map(name -> Outcome.of(customer(name))).toList());
    }
  }

  @AfterEach
  void close() {
    vertx.close().await();
  }

  private static Call.Merchant merchant() {
    return new Call.Merchant(
        new Id(IdKind.MERCHANT, UUID.randomUUID()), Environment.LIVE, ZoneOffset.UTC);
  }

  private static CreatedCustomer customer(String name) {
    return new CreatedCustomer(
        null, null, name, null, null, null, null, null, null, null, null, null, null, null, null,
        null, null, null, null, null, null, null, null, null, null, null, null, null, false);
  }

  private Context context() {
    return ((VertxInternal) vertx).createEventLoopContext();
  }

  /** Adds from the context's own thread, as a verticle does, and returns once it was added. */
  private Future<Reply> add(Context context, Call call, String name) {
    Promise<Future<Reply>> added = Promise.promise();
    CustomerInput input = new CustomerInput(new LinkedHashMap<>(Map.of("externalId", name)));
    CreationBuffer.Transaction transaction =
        wishes -> {
          Promise<List<Outcome>> outcome = Promise.promise();
          List<String> names = wishes.stream().map(wish -> wish.input().externalId()).toList();
          groups.add(new Group(names, outcome, Vertx.currentContext()));
          return outcome.future();
        };
    context.runOnContext(run -> added.complete(buffer.add(context, transaction, call, input)));
    return added.future().await();
  }

  private Future<Reply> add(Context context, String name) {
    return add(context, Call.within("request", merchant, FAR_MS), name);
  }

  private Group next() throws InterruptedException {
    Group group = groups.poll(10, TimeUnit.SECONDS);
    assertThat(group).as("a group went").isNotNull();
    return group;
  }

  @Test
  void twoGoAtOnceAndWhoComesMeanwhileGoesTogether() throws Exception {
    Context context = context();
    List<Future<Reply>> answers = new ArrayList<>();
    for (String name : List.of("a", "b", "c", "d", "e")) {
      answers.add(add(context, name));
    }
    Group a = next();
    Group b = next();
    assertThat(a.names()).containsExactly("a");
    assertThat(b.names()).containsExactly("b");
    assertThat(groups).isEmpty();

    a.commit();

    Group rest = next();
    assertThat(rest.names()).containsExactly("c", "d", "e");
    rest.commit();
    b.commit();
    for (Future<Reply> answer : answers) {
      assertThat(((CreatedCustomer) answer.await()).externalId()).isNotNull();
    }
    assertThat(groups).isEmpty();
  }

  @Test
  void ofManyHalfGoes() throws Exception {
    Context context = context();
    add(context, "a");
    add(context, "b");
    for (int i = 0; i < 40; i++) {
      add(context, "w" + i);
    }
    Group a = next();
    next();

    a.commit();

    assertThat(next().names()).hasSize(21); // of forty that wait and one under way
  }

  @Test
  void anotherMerchantsAreNotWaitedFor() throws Exception {
    Context context = context();
    add(context, "a");
    add(context, "b");
    add(context, "waits");
    next();
    next();

    add(context, Call.within("request", merchant(), FAR_MS), "other");

    assertThat(next().names()).containsExactly("other");
  }

  @Test
  void eachInstanceHasItsAnswersOnItsOwnThreadAndRunsTheGroupItLeads() throws Exception {
    Context one = context();
    Context two = context();
    add(one, "a");
    add(one, "b");
    List<Context> answered = Collections.synchronizedList(new ArrayList<>());
    Future<Reply> leads = add(two, "leads");
    Future<Reply> follows = add(one, "follows");
    leads.onSuccess(done -> answered.add(Vertx.currentContext()));
    follows.onSuccess(done -> answered.add(Vertx.currentContext()));
    Group a = next();
    next();

    a.commit();
    Group group = next();
    assertThat(group.names()).containsExactly("leads", "follows");
    assertThat(group.context()).isSameAs(two);
    group.commit();
    leads.await();
    follows.await();

    assertThat(answered).containsExactlyInAnyOrder(two, one);
  }

  @Test
  void whenAllThatWaitedHaveExpiredTheNextGoesAtOnce() throws Exception {
    Context context = context();
    add(context, "a");
    add(context, "b");
    Future<Reply> late = add(context, Call.within("request", merchant, 0), "nobody waits for it");
    Group a = next();
    Group b = next();

    a.commit();
    Throwable failure = late.transform(done -> Future.succeededFuture(done.cause())).await();
    assertThat(((FailureException) failure).failure()).isInstanceOf(Failure.TimedOut.class);
    add(context, "c");
    assertThat(next().names()).containsExactly("c");

    b.commit();
    add(context, "d");
    assertThat(next().names()).containsExactly("d");
  }

  @Test
  void aFailureOfOneGroupHoldsUpNobody() throws Exception {
    Context context = context();
    Future<Reply> failed = add(context, "a");
    add(context, "b");
    Future<Reply> waits = add(context, "c");
    Group a = next();
    next();

    a.outcome().fail("the connection is gone");

    next().commit();
    assertThat(((CreatedCustomer) waits.await()).externalId()).isEqualTo("c");
    assertThat(failed.transform(done -> Future.succeededFuture(done.failed())).await()).isTrue();
  }
}
