package io.steelyard.usage;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.config.Config;
import io.vertx.core.buffer.Buffer;
import java.nio.charset.StandardCharsets;
import java.util.UUID;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Keys and hashes that were stored: a difference here would count events twice. */
class EventKeysTest {
  private final EventDecoder decoder =
      new EventDecoder(
          new Config.Limits(1 << 20, 10, 1, 1, 8, 1024, 256, 1000, 1, 1, 1, 1, 2048, 50, 0, 0));

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          'generatedAt':'2026-01-01T00:00:00Z' | 5f1fa3c8-2cfa-0618-f225-9acf82598f81 | 393293166
          'generatedAt':'2026-01-01T00:00:00Z','userId':'u' | 0d955731-3140-c519-f9f6-069a9e8aa20a | -1527276569
          'generatedAt':'2026-01-01T00:00:00Z','data':{} | 8d805351-8c83-446b-dd5d-33bbe590020c | 2140161176
          'generatedAt':'2026-01-01T00:00:00Z','data':{'count':7,'b':'x','aa':[1.50,-20,true,null,{}]} | 9d5a507c-842e-25e3-b76e-5f9262c42c50 | 1098210980
          'generatedAt':'2026-01-01T00:00:00Z','data':{'a':1e-7,'é':'€😀','n':12345678901234567890} | ae7929ec-167d-40ee-e844-a801ab15865b | -1909118122
          'generatedAt':'2026-01-01T00:00:00Z','idempotencyKey':'order-1' | 3c5ba738-8885-c000-1691-bb2e2c18de64 | 393293166
          'generatedAt':'2026-01-01T00:00:00Z','idempotencyKey':'Bestellung é' | ab2abe8a-1bfd-5ed5-1e28-808a7d4cada8 | 393293166
          'generatedAt':'2026-01-01T00:00:00Z','idempotencyKey':'0190B9A0-7f3e-7c3a-8000-0123456789ab','data':{'count':1} | 0190b9a0-7f3e-7c3a-8000-0123456789ab | 815066592
          'generatedAt':'2026-01-01T00:00:00.1230400+01:00' | d6107968-f9ae-a73b-6a15-3309a2bc448d | -1837025008
          """)
  void neverChange(String members, UUID key, int payloadHash) {
    String customer = "{'customerId':'cus_01h455vb4pex5vsknk084sn02q','eventName':'request',";
    byte[] body = (customer + members + '}').replace('\'', '"').getBytes(StandardCharsets.UTF_8);

    for (Decoded decoded :
        new Decoded[] {decoder.decode(Buffer.buffer(body)), decoder.decodeStrictly(body)}) {
      EncodedEvents events = ((Decoded.Events) decoded).events();
      assertThat(events.key(0)).isEqualTo(key);
      assertThat(events.payloadHashes()[0]).isEqualTo(payloadHash);
    }
  }
}
