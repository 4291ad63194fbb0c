package io.steelyard.usage;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.config.Config;
import io.vertx.core.buffer.Buffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.EdgeCasesMode;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.statistics.Statistics;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Whichever of the two readers takes a body, the same comes of it. */
class UsualEventsTest {
  private static final String EVENT =
      "{'customerId':'c','eventName':'n','generatedAt':'2026-01-01T00:00:00Z'}";
  private static final Config.Limits LIMITS = limits(1000);

  private static final Config.Limits WIDE = limits(1 << 16);

  private static Config.Limits limits(int dataBytes) {
    return new Config.Limits(
        1 << 20, 10, 1, 1, 8, 1024, 256, dataBytes, 1, 1, 1, 1, 2048, 50, 0, 0);
  }

  @Property(tries = 500)
  void usualBodiesAreTaken(@ForAll("usual") byte[] body) {
    assertThat(bothReadTheSame(body, WIDE)).as(text(body)).isTrue();
  }

  @Property(tries = 1500)
  void anyBodyIsReadAsTheStrictReaderDoes(@ForAll("any") byte[] body) {
    collect(bothReadTheSame(body));
  }

  @Property(tries = 800, edgeCases = EdgeCasesMode.NONE)
  void aDamagedBodyIsReadAsTheStrictReaderDoes(@ForAll("damaged") byte[] body) {
    collect(bothReadTheSame(body));
  }

  /** Neither is a property of much worth if only one reader has something to do. */
  private static void collect(boolean usual) {
    Statistics.label("reader")
        .collect(usual ? "usual" : "strict")
        .coverage(
            coverage -> {
              coverage.check("usual").percentage(share -> share > 5);
              coverage.check("strict").percentage(share -> share > 5);
            });
  }

  @Provide
  Arbitrary<byte[]> usual() {
    return SentBodies.usual();
  }

  @Provide
  Arbitrary<byte[]> any() {
    return SentBodies.any();
  }

  @Provide
  Arbitrary<byte[]> damaged() {
    return SentBodies.damaged();
  }

  @Test
  void theBodiesOfTheContractAreReadTheSame() {
    for (String body : EventBodies.all()) {
      bothReadTheSame(bytes(body));
    }
  }

  @Test
  void everyBeginningOfABodyIsReadTheSame() {
    byte[] body = bytes("[" + withData("{'a':[1.5,true,{'b':null}],'c':'d'}") + "," + EVENT + "]");

    for (int length = 0; length < body.length; length++) {
      assertThat(bothReadTheSame(Arrays.copyOf(body, length))).isFalse();
    }
    assertThat(bothReadTheSame(body)).isTrue();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{}",
        "{ }",
        "{'':0}",
        "{'a':-0.00,'b':[],'c':{}}",
        "{'b':1,'a':2,'aa':{'a':[{'b':true},false,null,'x']}}",
        "{'a':123456789012345678}",
        "{'a':-0.12345678901234567}",
        "{'a':[[[[[]]]]]}",
      })
  void plainDataIsTaken(String data) {
    assertThat(bothReadTheSame(bytes(withData(data)))).isTrue();
    assertThat(bothReadTheSame(bytes("[" + EVENT + "," + withData(data) + "]"))).isTrue();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{'a':1,'a':1}",
        "{'a':1,'\\u0061':1}",
        "{'a':'é'}",
        "{'é':1}",
        "{'a':'\\n'}",
        "{'a':1e2}",
        "{'a':1000000000000000000}",
        "{'a':01}",
        "{'a':-}",
        "{'a':1.}",
        "{'a':+1}",
        "{'a':1x}",
        "{'a':truex}",
        "{'a':tru}",
        "{'a':1,}",
        "{'a' 1}",
        "{,}",
        "[]",
        "5",
        "{'a':[1,]}",
        "{'a':[1 2]}",
        "{'a':[}",
        "{'a':'\t'}",
        "{'a':'\u007f\u0080'}",
        "{'a':[[[[[[[[]]]]]]]]}",
      })
  void otherDataIsLeftToTheStrictReader(String data) {
    assertThat(bothReadTheSame(bytes(withData(data)))).isFalse();
    assertThat(bothReadTheSame(bytes("[" + EVENT + "," + withData(data) + "]"))).isFalse();
  }

  @Test
  void aPlainStringEndsWhereItEndsWhateverItsPlaceAndNeighbours() {
    for (int length = 1; length < 20; length++) {
      for (char c = 1; c < 0x100; c++) {
        for (int at = 0; at < length; at++) {
          String text = "x".repeat(at) + c + "x".repeat(length - at - 1);
          boolean plain = c >= ' ' && c < 0x80 && c != '"' && c != '\\' && c != '\'';
          boolean taken = bothReadTheSame(bytes(withData("{'a':'" + text + "'}")));
          assertThat(taken).as("%d at %d of %d", (int) c, at, length).isEqualTo(plain);
        }
      }
    }
  }

  @Test
  void dataOfTheMostBytesIsTakenAndNoMore() {
    String data = "{'a':" + " ".repeat(100) + "1}";

    int size = data.length();
    assertThat(UsualEvents.of(bytes(withData(data)), limits(size))).isNotNull();
    assertThat(UsualEvents.of(bytes(withData(data)), limits(size - 1))).isNull();
  }

  @Test
  void asManyEventsAsAllowedAreTakenAndNoMore() {
    assertThat(bothReadTheSame(bytes("[" + EVENT + ("," + EVENT).repeat(9) + "]"))).isTrue();
    assertThat(bothReadTheSame(bytes("[" + EVENT + ("," + EVENT).repeat(10) + "]"))).isFalse();
  }

  /** Whether it was a usual body. */
  private static boolean bothReadTheSame(byte[] body) {
    return bothReadTheSame(body, LIMITS);
  }

  private static boolean bothReadTheSame(byte[] body, Config.Limits limits) {
    EventDecoder decoder = new EventDecoder(limits);
    Decoded strict = decoder.decodeStrictly(body);
    assertThat(decoder.decode(Buffer.buffer(body))).as(text(body)).isEqualTo(strict);
    return UsualEvents.of(body, limits) != null;
  }

  private static String withData(String data) {
    return EVENT.replace("}", ",'data':" + data + "}");
  }

  private static byte[] bytes(String body) {
    return body.replace('\'', '"').getBytes(StandardCharsets.UTF_8);
  }

  private static String text(byte[] body) {
    return new String(body, StandardCharsets.UTF_8);
  }
}
