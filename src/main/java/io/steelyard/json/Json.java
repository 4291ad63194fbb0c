package io.steelyard.json;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.core.StreamWriteFeature;
import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.BeanDescription;
import com.fasterxml.jackson.databind.DeserializationConfig;
import com.fasterxml.jackson.databind.DeserializationContext;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonDeserializer;
import com.fasterxml.jackson.databind.JsonSerializer;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.ObjectReader;
import com.fasterxml.jackson.databind.ObjectWriter;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.SerializerProvider;
import com.fasterxml.jackson.databind.deser.std.StdDeserializer;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.module.SimpleDeserializers;
import com.fasterxml.jackson.databind.module.SimpleModule;
import io.steelyard.domain.Id;
import io.steelyard.domain.IdKind;
import io.steelyard.domain.WireName;
import io.vertx.core.buffer.Buffer;
import java.io.IOException;
import java.math.BigDecimal;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Map;

/** How records become JSON, for every answer and for the wire of the event bus. */
public final class Json {
  private static final DateTimeFormatter MILLIS_UTC =
      DateTimeFormatter.ofPattern("uuuu-MM-dd'T'HH:mm:ss.SSS'Z'").withZone(ZoneOffset.UTC);

  /** Decimals stay decimals in both directions; unknown properties are ours to notice. */
  public static final ObjectMapper MAPPER =
      JsonMapper.builder(trustedFactory())
          .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
          .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
          .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
          .enable(StreamWriteFeature.WRITE_BIGDECIMAL_AS_PLAIN)
          .addModule(module())
          .build();

  private static final ObjectReader MAP =
      MAPPER.readerFor(new TypeReference<Map<String, Object>>() {});

  private static final ObjectWriter CANONICAL =
      MAPPER.writer(SerializationFeature.ORDER_MAP_ENTRIES_BY_KEYS);

  private Json() {}

  /**
   * Reads what was let in before, and so refuses nothing for its size or for how its names hash:
   * limits are for where it comes in.
   */
  public static JsonFactory trustedFactory() {
    return JsonFactory.builder()
        .disable(JsonFactory.Feature.INTERN_FIELD_NAMES)
        .disable(JsonFactory.Feature.FAIL_ON_SYMBOL_HASH_OVERFLOW)
        .streamReadConstraints(
            StreamReadConstraints.builder()
                .maxStringLength(Integer.MAX_VALUE)
                .maxNameLength(Integer.MAX_VALUE)
                .maxNumberLength(Integer.MAX_VALUE)
                .build())
        .build();
  }

  /** The JSON form of a record, map or list. */
  public static Buffer encode(Object value) {
    try {
      return Buffer.buffer(MAPPER.writeValueAsBytes(value));
    } catch (JsonProcessingException e) {
      throw new IllegalStateException("cannot write " + value.getClass(), e);
    }
  }

  /** The bytes of a tree, the same however its members were ordered and its numbers written. */
  public static byte[] canonical(Object tree) {
    try {
      return CANONICAL.writeValueAsBytes(tree);
    } catch (JsonProcessingException e) {
      throw new IllegalStateException("cannot write a tree", e);
    }
  }

  /** As {@link #encode}, as text. */
  public static String encodeText(Object value) {
    try {
      return MAPPER.writeValueAsString(value);
    } catch (JsonProcessingException e) {
      throw new IllegalStateException("cannot write " + value.getClass(), e);
    }
  }

  /** Reads JSON that this service wrote itself, e.g. a column; input of others goes elsewhere. */
  public static Map<String, Object> readMap(String trusted) {
    try {
      return MAP.readValue(trusted);
    } catch (JsonProcessingException e) {
      throw new IllegalStateException("stored JSON is malformed", e);
    }
  }

  /** UTC with milliseconds and {@code Z}. */
  public static String timestamp(Instant instant) {
    return MILLIS_UTC.format(instant);
  }

  private static SimpleModule module() {
    SimpleModule module = new SimpleModule("steelyard");
    module.addSerializer(
        Instant.class, writer((value, out) -> out.writeString(MILLIS_UTC.format(value))));
    module.addSerializer(BigDecimal.class, writer((value, out) -> out.writeNumber(plain(value))));
    module.addSerializer(Id.class, writer((value, out) -> out.writeString(value.toString())));
    module.addSerializer(ZoneId.class, writer((value, out) -> out.writeString(value.getId())));
    module.addSerializer(WireName.class, writer((value, out) -> out.writeString(value.wire())));
    module.setDeserializers(new WireNameDeserializers());
    module.addDeserializer(Instant.class, reader(Instant.class, Instant::parse));
    module.addDeserializer(Id.class, reader(Id.class, Json::readId));
    module.addDeserializer(ZoneId.class, reader(ZoneId.class, ZoneId::of));
    return module;
  }

  /** The same number without trailing zeros and never in exponent form. */
  public static BigDecimal plain(BigDecimal value) {
    BigDecimal stripped = value.stripTrailingZeros();
    return stripped.scale() < 0 ? stripped.setScale(0) : stripped;
  }

  private static Id readId(String text) {
    String prefix = text.substring(0, text.indexOf('_'));
    for (IdKind kind : IdKind.values()) {
      if (kind.prefix().equals(prefix)) {
        return Id.parse(kind, text).orElseThrow();
      }
    }
    throw new IllegalArgumentException("unknown kind of id");
  }

  private interface Write<T> {
    void write(T value, JsonGenerator out) throws IOException;
  }

  private interface Read<T> {
    T read(String text);
  }

  private static <T> JsonSerializer<T> writer(Write<T> write) {
    return new JsonSerializer<>() {
      @Override
      public void serialize(T value, JsonGenerator out, SerializerProvider provider)
          throws IOException {
        write.write(value, out);
      }
    };
  }

  private static <T> JsonDeserializer<T> reader(Class<T> type, Read<T> read) {
    return new TextDeserializer<>(type, read);
  }

  private static final class TextDeserializer<T> extends StdDeserializer<T> {
    private static final long serialVersionUID = 1L;

    private final transient Read<T> read;

    TextDeserializer(Class<T> type, Read<T> read) {
      super(type);
      this.read = read;
    }

    @Override
    public T deserialize(JsonParser in, DeserializationContext context) throws IOException {
      return read.read(in.getText());
    }
  }

  /** Reads every {@link WireName} enum by its documented name. */
  private static final class WireNameDeserializers extends SimpleDeserializers {
    private static final long serialVersionUID = 1L;

    @Override
    public JsonDeserializer<?> findEnumDeserializer(
        Class<?> type, DeserializationConfig config, BeanDescription description) {
      return WireName.class.isAssignableFrom(type) ? wireNameReader(type) : null;
    }

    @SuppressWarnings({"unchecked", "rawtypes"})
    private static JsonDeserializer<?> wireNameReader(Class<?> type) {
      Class<Enum> enumType = (Class<Enum>) type;
      return reader(enumType, text -> WireName.parse((Class) enumType, text));
    }

    @Override
    public boolean hasDeserializerFor(DeserializationConfig config, Class<?> valueType) {
      return WireName.class.isAssignableFrom(valueType)
          || super.hasDeserializerFor(config, valueType);
    }
  }
}
