package io.steelyard.db;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.bus.Call;
import io.steelyard.bus.Failure;
import io.steelyard.bus.FailureException;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.pgclient.PgException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class GroupedReadsTest {
  private static final Throwable OF_ONE = new PgException("too large", "ERROR", "22003", null);

  /** A statement that a test ends when it wants to. */
  private record Statement(List<String> keys, Promise<List<String>> outcome) {
    void succeed() {
      outcome.complete(keys.stream().map(key -> "row of " + key).toList());
    }
  }

  private final List<Statement> statements = new ArrayList<>();
  private final GroupedReads<String, String> reads = new GroupedReads<>(this::start);

  private Future<List<String>> start(List<String> keys) {
    if (keys.contains("throws")) {
      throw new IllegalStateException("thrown");
    }
    Statement statement = new Statement(List.copyOf(keys), Promise.promise());
    statements.add(statement);
    return statement.outcome().future();
  }

  private static Call call(long ms) {
    return Call.within("req-1", null, ms);
  }

  private Future<String> read(String key) {
    return reads.read(key, call(60_000));
  }

  private List<Future<String>> readAll(String... keys) {
    return List.of(keys).stream().map(this::read).toList();
  }

  private List<List<String>> groups() {
    return statements.stream().map(Statement::keys).toList();
  }

  @Test
  void aLonelyReadGoesAtOnceAndThoseBehindTwoGoTogether() {
    List<Future<String>> answers = readAll("a", "b", "c", "d", "c");
    assertThat(groups()).containsExactly(List.of("a"), List.of("b"));

    statements.get(0).succeed();

    assertThat(groups().getLast()).containsExactly("c", "d", "c");
    assertThat(answers.get(0).result()).isEqualTo("row of a");
    assertThat(answers.get(2).isComplete()).isFalse();
    statements.get(2).succeed();
    assertThat(answers.get(3).result()).isEqualTo("row of d");
    assertThat(answers.get(4).result()).isEqualTo("row of c");
    assertThat(answers.get(1).isComplete()).isFalse();
  }

  @Test
  void whoComesWhileAStatementIsUnderWayIsNotAnsweredFromIt() {
    readAll("a", "b");

    Future<String> later = read("a");
    statements.get(0).succeed();

    assertThat(later.isComplete()).isFalse();
    statements.get(2).succeed();
    assertThat(later.result()).isEqualTo("row of a");
  }

  @Test
  void groupsAreBounded() {
    readAll("a", "b");
    IntStream.range(0, 200).forEach(i -> read("k" + i));

    statements.get(0).succeed();
    statements.get(1).succeed();

    assertThat(groups()).hasSize(4).allMatch(group -> group.size() <= 64);
  }

  @Test
  void whatOneOfThemCausedHitsOnlyThatOne() {
    readAll("a", "b");
    List<Future<String>> answers = readAll("good", "bad", "fine");
    statements.get(0).succeed();

    statements.get(2).outcome().fail(OF_ONE);
    statements.get(3).succeed();
    statements.get(4).outcome().fail(OF_ONE);
    statements.get(5).succeed();

    assertThat(groups().subList(3, 6))
        .containsExactly(List.of("good"), List.of("bad"), List.of("fine"));
    assertThat(answers.get(0).result()).isEqualTo("row of good");
    assertThat(answers.get(1).cause()).isSameAs(OF_ONE);
    assertThat(answers.get(2).result()).isEqualTo("row of fine");
  }

  @Test
  void whenTheDatabaseIsAwayAllAreToldAndNothingIsTriedAgain() {
    readAll("a", "b");
    List<Future<String>> answers = readAll("c", "d");
    statements.get(0).succeed();

    statements.get(2).outcome().fail(new IOException("reset"));

    assertThat(groups()).hasSize(3);
    assertThat(answers).allMatch(Future::failed);
    assertThat(read("e").isComplete()).isFalse();
    assertThat(groups()).hasSize(4);
  }

  @Test
  void whoeverHasWaitedTooLongIsNotReadAndHoldsNobodyUp() throws InterruptedException {
    readAll("a", "b");
    Future<String> late = reads.read("late", call(1));
    Future<String> next = read("next");
    Thread.sleep(5);

    statements.get(0).succeed();

    assertThat(((FailureException) late.cause()).failure()).isInstanceOf(Failure.TimedOut.class);
    assertThat(groups().getLast()).containsExactly("next");
    statements.get(2).succeed();
    assertThat(next.result()).isEqualTo("row of next");
  }

  @Test
  void aStatementThatCannotBeMadeLeavesItsPlaceToOthers() {
    for (int i = 0; i < 5; i++) {
      assertThat(read("throws").cause()).hasMessage("thrown");
    }

    read("a");

    assertThat(groups()).containsExactly(List.of("a"));
  }
}
