package io.steelyard.bus;

import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectReader;
import io.steelyard.json.Json;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.eventbus.EventBus;
import io.vertx.core.eventbus.MessageCodec;
import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One codec for all records of all features. Inside one process the record itself is handed over;
 * between processes it travels as a type tag from an allow-list and its JSON, sealed with the
 * cluster's secret. A call's deadline travels as the time that is left, since clocks differ.
 */
public final class RecordCodec implements MessageCodec<BusRecord, BusRecord> {
  private static final Logger LOG = LoggerFactory.getLogger(RecordCodec.class);
  private static final String NAME = "steelyard-record";

  // Nodes of the next version may tell more, while a cluster is upgraded. They may not ask for more
  // than is understood here.
  private static final ObjectReader STRICT = Json.MAPPER.reader();
  private static final ObjectReader LENIENT =
      Json.MAPPER.reader().without(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES);

  // Longer than anybody waits.
  private static final long REMAINING_MS_MAX = 86_400_000;

  private final Seal seal;
  private final Map<Class<?>, String> tags = new HashMap<>();
  private final Map<String, Class<? extends BusRecord>> types = new HashMap<>();

  /** For one process alone. */
  public RecordCodec(List<Class<?>> contracts) {
    this(contracts, null);
  }

  /**
   * @param contracts the features' message interfaces; the records declared inside them are what
   *     may travel
   * @param key that the processes of the cluster share; null for none
   */
  public RecordCodec(List<Class<?>> contracts, byte[] key) {
    this.seal = key == null ? null : new Seal(key);
    add("Replayed", Replayed.class);
    for (Class<?> contract : contracts) {
      for (Class<?> nested : contract.getDeclaredClasses()) {
        if (nested.isRecord() && BusRecord.class.isAssignableFrom(nested)) {
          add(
              contract.getSimpleName() + "." + nested.getSimpleName(),
              nested.asSubclass(BusRecord.class));
        }
      }
    }
  }

  private void add(String tag, Class<? extends BusRecord> type) {
    tags.put(type, tag);
    types.put(tag, type);
  }

  /** Registers this codec for every record, and the one for failures. Once per Vertx. */
  public void register(Vertx vertx) {
    EventBus bus = vertx.eventBus();
    bus.registerCodec(this);
    bus.codecSelector(body -> body instanceof BusRecord ? NAME : null);
    bus.registerDefaultCodec(FailureException.class, new FailureCodec());
  }

  public List<Class<? extends BusRecord>> types() {
    return List.copyOf(types.values());
  }

  @Override
  public void encodeToWire(Buffer wire, BusRecord record) {
    if (seal == null) {
      encode(wire, record);
    } else {
      Buffer content = Buffer.buffer();
      encode(content, record);
      seal.close(wire, content);
    }
  }

  private void encode(Buffer wire, BusRecord record) {
    if (record instanceof Envelope envelope) {
      wire.appendByte((byte) 1);
      block(wire, Json.encode(withRemainingTime(envelope.call())));
      body(wire, envelope.request());
    } else {
      wire.appendByte((byte) 0);
      body(wire, record);
    }
  }

  private static Call withRemainingTime(Call call) {
    long remainingMs = Math.min(REMAINING_MS_MAX, call.remainingMs());
    return new Call(call.requestId(), call.merchant(), remainingMs, call.idempotencyKey());
  }

  @Override
  public BusRecord decodeFromWire(int position, Buffer wire) {
    return seal == null ? decode(position, wire) : decode(0, seal.open(position, wire));
  }

  private BusRecord decode(int position, Buffer wire) {
    boolean enveloped = wire.getByte(position) == 1;
    int at = position + 1;
    if (!enveloped) {
      return readBody(at, wire);
    }
    int callLength = wire.getInt(at);
    Call call = read(wire.getBuffer(at + 4, at + 4 + callLength), Call.class);
    Call within =
        Call.within(call.requestId(), call.merchant(), call.deadlineMs())
            .with(call.idempotencyKey());
    return new Envelope(within, (Request<?>) readBody(at + 4 + callLength, wire));
  }

  private void body(Buffer wire, BusRecord record) {
    String tag = tags.get(record.getClass());
    if (tag == null) {
      throw new IllegalArgumentException(record.getClass() + " is in no contract");
    }
    block(wire, Buffer.buffer(tag));
    block(wire, Json.encode(record));
  }

  private BusRecord readBody(int position, Buffer wire) {
    int tagLength = wire.getInt(position);
    int at = position + 4 + tagLength;
    Class<? extends BusRecord> type = types.get(wire.getString(position + 4, at));
    if (type == null) {
      throw new IllegalArgumentException("a record of an unknown type arrived");
    }
    return read(wire.getBuffer(at + 4, at + 4 + wire.getInt(at)), type);
  }

  private static void block(Buffer wire, Buffer bytes) {
    wire.appendInt(bytes.length()).appendBuffer(bytes);
  }

  private static <T> T read(Buffer json, Class<T> type) {
    try {
      ObjectReader reader = Request.class.isAssignableFrom(type) ? STRICT : LENIENT;
      return reader.forType(type).readValue(json.getBytes());
    } catch (IOException e) {
      throw new IllegalArgumentException("cannot read a " + type.getSimpleName(), e);
    }
  }

  @Override
  public BusRecord transform(BusRecord record) {
    return record;
  }

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public byte systemCodecID() {
    return -1;
  }

  private static final class FailureCodec
      implements MessageCodec<FailureException, FailureException> {

    @Override
    public void encodeToWire(Buffer wire, FailureException exception) {
      Failure failure = exception.failure();
      block(
          wire,
          Json.encode(Map.of("type", failure.getClass().getSimpleName(), "failure", failure)));
    }

    @Override
    public FailureException decodeFromWire(int position, Buffer wire) {
      Buffer bytes = wire.getBuffer(position + 4, position + 4 + wire.getInt(position));
      JsonNode node = read(bytes, JsonNode.class);
      for (Class<?> type : Failure.class.getPermittedSubclasses()) {
        if (type.getSimpleName().equals(node.get("type").asText())) {
          try {
            return new FailureException(LENIENT.forType(type).readValue(node.get("failure")));
          } catch (IOException e) {
            break;
          }
        }
      }
      LOG.warn("A failure arrived that this version cannot read");
      return new FailureException(new Failure.Unexpected()); // of a later version
    }

    @Override
    public FailureException transform(FailureException exception) {
      return exception;
    }

    @Override
    public String name() {
      return "steelyard-failure";
    }

    @Override
    public byte systemCodecID() {
      return -1;
    }
  }
}
