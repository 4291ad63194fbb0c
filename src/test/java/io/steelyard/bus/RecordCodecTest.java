package io.steelyard.bus;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.steelyard.Contracts;
import io.steelyard.domain.Environment;
import io.steelyard.domain.Id;
import io.steelyard.domain.IdKind;
import io.steelyard.json.Json;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.eventbus.MessageCodec;
import java.lang.reflect.Constructor;
import java.time.ZoneId;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What the service puts on the bus arrives as it was, also at another process. */
class RecordCodecTest {
  private static final List<Class<?>> CONTRACTS = Contracts.ALL;
  private static final RecordCodec CODEC = new RecordCodec(CONTRACTS);
  private static final Call.Merchant MERCHANT =
      new Call.Merchant(
          new Id(IdKind.MERCHANT, new UUID(1, 2)), Environment.TEST, ZoneId.of("Asia/Kathmandu"));

  record Stranger(String name) implements BusRecord {}

  static Stream<Class<? extends BusRecord>> recordTypes() {
    return CODEC.types().stream();
  }

  /** Something else is on the wire before and after. */
  private static <S, R> R overTheWire(MessageCodec<S, R> codec, S body) {
    Buffer wire = Buffer.buffer("before");
    codec.encodeToWire(wire, body);
    wire.appendString("after");
    return codec.decodeFromWire("before".length(), wire);
  }

  @ParameterizedTest
  @MethodSource("recordTypes")
  void everyRecordArrivesAsItWas(Class<? extends BusRecord> type) {
    for (BusRecord sent : Samples.of(type)) {
      assertThat(overTheWire(CODEC, sent)).isEqualTo(sent);
    }
  }

  @ParameterizedTest
  @MethodSource("recordTypes")
  void everyRequestArrivesWithItsCall(Class<? extends BusRecord> type) {
    for (BusRecord sample : Samples.of(type)) {
      if (sample instanceof Request<?> request) {
        for (Call.Merchant merchant : Arrays.asList(MERCHANT, null)) {
          for (IdempotencyKey key : Samples.of(IdempotencyKey.class)) {
            Call call = Call.within("req-1", merchant, 10_000);
            for (Call each : List.of(call, call.with(key))) {
              Envelope sent = new Envelope(each, request);
              Envelope arrived = (Envelope) overTheWire(CODEC, sent);
              assertThat(arrived.request()).isEqualTo(request);
              assertThat(arrived.call().requestId()).isEqualTo("req-1");
              assertThat(arrived.call().merchant()).isEqualTo(merchant);
              assertThat(arrived.call().idempotencyKey()).isEqualTo(each.idempotencyKey());
              assertThat(arrived.call().deadlineMs())
                  .isBetween(each.deadlineMs(), System.currentTimeMillis() + 10_000);
            }
          }
        }
      }
    }
  }

  /** A process of the version before knows nothing of keys, and of no property it does not know. */
  @Test
  void aCallWithoutKeySaysNothingOfOne() {
    assertThat(Json.encodeText(new Call("req-1", null, 1))).doesNotContain("idempotency");
  }

  @ParameterizedTest
  @MethodSource("recordTypes")
  void whoSharesTheSecretReadsWhatWasSealed(Class<? extends BusRecord> type) {
    for (BusRecord sent : Samples.of(type)) {
      assertThat(overTheWire(new RecordCodec(CONTRACTS, new byte[] {1, 2, 3}), sent))
          .isEqualTo(sent);
    }
  }

  @Test
  void whatAStrangerWroteIsRefused() {
    BusRecord record = new NodeMessages.Announcement("node", List.of("USAGE"));
    RecordCodec codec = new RecordCodec(CONTRACTS, new byte[] {1, 2, 3});
    for (RecordCodec stranger : List.of(CODEC, new RecordCodec(CONTRACTS, new byte[] {1, 2, 4}))) {
      Buffer wire = Buffer.buffer();
      stranger.encodeToWire(wire, record);
      assertThatThrownBy(() -> codec.decodeFromWire(0, wire))
          .isInstanceOf(IllegalArgumentException.class);
    }
    Buffer wire = Buffer.buffer();
    codec.encodeToWire(wire, record);
    for (int at = 0; at < wire.length(); at++) {
      Buffer changed = wire.copy().setByte(at, (byte) (wire.getByte(at) ^ 1));
      assertThatThrownBy(() -> codec.decodeFromWire(0, changed))
          .isInstanceOf(IllegalArgumentException.class);
    }
  }

  @Test
  void everyContractHasRequestsAndEveryRequestTravels() {
    for (Class<?> contract : CONTRACTS) {
      assertThat(contract.getPermittedSubclasses())
          .isNotEmpty()
          .allMatch(request -> CODEC.types().contains(request));
    }
    assertThat(CODEC.types()).hasSizeGreaterThan(40);
  }

  static Stream<Class<?>> failureTypes() {
    return Arrays.stream(Failure.class.getPermittedSubclasses());
  }

  @ParameterizedTest
  @MethodSource("failureTypes")
  void everyFailureArrivesAsItWas(Class<?> type) throws Exception {
    MessageCodec<FailureException, FailureException> codec = failureCodec();
    for (Object sent : Samples.of(type)) {
      FailureException arrived = overTheWire(codec, new FailureException((Failure) sent));
      assertThat(arrived.failure()).isEqualTo(sent);
    }
  }

  @SuppressWarnings("unchecked")
  private static MessageCodec<FailureException, FailureException> failureCodec()
      throws ReflectiveOperationException {
    for (Class<?> nested : RecordCodec.class.getDeclaredClasses()) {
      if (MessageCodec.class.isAssignableFrom(nested)) {
        Constructor<?> constructor = nested.getDeclaredConstructor();
        constructor.setAccessible(true);
        return (MessageCodec<FailureException, FailureException>) constructor.newInstance();
      }
    }
    throw new AssertionError("no codec of failures");
  }

  @Test
  void aRecordOfNoContractDoesNotTravel() {
    assertThatThrownBy(() -> CODEC.encodeToWire(Buffer.buffer(), new Stranger("x")))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("is in no contract");
  }

  @Test
  void aTagThatIsNotOnTheListIsRefused() {
    for (String tag : new String[] {"UsageMessages.Nothing", "java.lang.Runtime", ""}) {
      Buffer wire = Buffer.buffer().appendByte((byte) 0);
      wire.appendInt(tag.length()).appendString(tag).appendInt(2).appendString("{}");
      assertThatThrownBy(() -> CODEC.decodeFromWire(0, wire))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessage("a record of an unknown type arrived");
    }
  }

  private static Buffer written(String tag, String json) {
    Buffer wire = Buffer.buffer().appendByte((byte) 0);
    wire.appendInt(tag.length()).appendString(tag);
    return wire.appendInt(json.length()).appendString(json);
  }

  @Test
  void whatTheNextVersionTellsBesidesIsPassedBy() {
    String json = "{\"node\":\"n\",\"answers\":[\"USAGE\"],\"mood\":\"good\"}";

    assertThat(CODEC.decodeFromWire(0, written("NodeMessages.Announcement", json)))
        .isEqualTo(new NodeMessages.Announcement("n", List.of("USAGE")));
  }

  @Test
  void whatTheNextVersionAsksBesidesIsRefused() {
    Buffer wire = written("RetentionMessages.DropEventMonth", "{\"month\":\"m\",\"unless\":1}");

    assertThatThrownBy(() -> CODEC.decodeFromWire(0, wire))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("cannot read a DropEventMonth");
  }

  @Test
  void aFailureThatALaterVersionKnowsIsAnUnexpectedOne() throws Exception {
    String json = "{\"type\":\"Bribed\",\"failure\":{}}";
    Buffer wire = Buffer.buffer().appendInt(json.length()).appendString(json);
    MessageCodec<?, FailureException> codec = failureCodec();

    assertThat(codec.decodeFromWire(0, wire).failure()).isEqualTo(new Failure.Unexpected());
  }
}
