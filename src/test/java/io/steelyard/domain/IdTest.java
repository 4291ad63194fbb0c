package io.steelyard.domain;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Random;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class IdTest {
  @ParameterizedTest
  @CsvSource({
    "00000000-0000-0000-0000-000000000000, inv_00000000000000000000000000",
    "00000000-0000-0000-0000-000000000001, inv_00000000000000000000000001",
    "00000000-0000-0000-0000-00000000000a, inv_0000000000000000000000000a",
    "00000000-0000-0000-0000-000000000020, inv_00000000000000000000000010",
    "ffffffff-ffff-ffff-ffff-ffffffffffff, inv_7zzzzzzzzzzzzzzzzzzzzzzzzz",
    "01890a5d-ac96-774b-bcce-b302099a8057, inv_01h455vb4pex5vsknk084sn02q",
  })
  void isWrittenAsTypeIdSpecifies(UUID uuid, String text) {
    assertThat(new Id(IdKind.INVOICE, uuid)).hasToString(text);
    assertThat(Id.parse(IdKind.INVOICE, text)).contains(new Id(IdKind.INVOICE, uuid));
  }

  @ParameterizedTest
  @EnumSource(IdKind.class)
  void everyKindReadsWhatItWrites(IdKind kind) {
    Random random = new Random(kind.ordinal());
    for (int i = 0; i < 200; i++) {
      Id id = new Id(kind, new UUID(random.nextLong(), random.nextLong()));

      assertThat(Id.parse(kind, id.toString())).contains(id);
    }
  }

  @Test
  void noTwoKindsShareAPrefix() {
    assertThat(Stream.of(IdKind.values()).map(IdKind::prefix)).doesNotHaveDuplicates();
  }

  @Test
  void sortsByTheBytesOfItsUuid() {
    List<Id> ascending =
        Stream.of(
                "00000000-0000-0000-0000-000000000001",
                "01890a5d-ac96-774b-bcce-b302099a8057",
                "01890a5d-ac96-774b-bcce-b302099a8058",
                "01890a5d-ac97-7000-8000-000000000000",
                "7fffffff-ffff-ffff-ffff-ffffffffffff",
                "80000000-0000-0000-0000-000000000000")
            .map(text -> new Id(IdKind.EVENT, UUID.fromString(text)))
            .toList();

    assertThat(ascending.reversed().stream().sorted()).isEqualTo(ascending);
    assertThat(ascending.stream().map(Id::toString)).isSorted();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "inv",
        "inv_",
        "01h455vb4pex5vsknk084sn02q",
        "cus_01h455vb4pex5vsknk084sn02q",
        "INV_01h455vb4pex5vsknk084sn02q",
        "inv-01h455vb4pex5vsknk084sn02q",
        "inv_01H455VB4PEX5VSKNK084SN02Q",
        "inv_01h455vb4pex5vsknk084sn02",
        "inv_01h455vb4pex5vsknk084sn02qq",
        "inv_01h455vb4pex5vsknk084sn0-q",
        "inv_01h455vb4pex5vsknk084sn0iq",
        "inv_01h455vb4pex5vsknk084sn0lq",
        "inv_01h455vb4pex5vsknk084sn0oq",
        "inv_01h455vb4pex5vsknk084sn0uq",
        "inv_01h455vb4pex5vsknk084sn0éq",
        "inv_80000000000000000000000000",
        "inv_zzzzzzzzzzzzzzzzzzzzzzzzzz",
        "inv_ 1h455vb4pex5vsknk084sn02q",
      })
  void refusesWhatItWouldNotWrite(String text) {
    assertThat(Id.parse(IdKind.INVOICE, text)).isEmpty();
  }
}
