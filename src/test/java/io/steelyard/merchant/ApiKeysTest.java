package io.steelyard.merchant;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.db.Ids;
import io.steelyard.domain.Environment;
import io.steelyard.domain.IdKind;
import io.steelyard.domain.KeyType;
import io.steelyard.merchant.MerchantMessages.ApiKeyCreated;
import io.steelyard.merchant.MerchantMessages.ApiKeyView;
import io.steelyard.merchant.MerchantMessages.MerchantCreated;
import java.time.Instant;
import java.time.ZoneId;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ApiKeysTest {
  @ParameterizedTest
  @CsvSource({
    "LIVE, SECRET, sk_live_",
    "TEST, SECRET, sk_test_",
    "LIVE, PUBLISHABLE, pk_live_",
    "TEST, PUBLISHABLE, pk_test_"
  })
  void aKeySaysWhatItIsForAndHasAFixedLength(Environment environment, KeyType type, String prefix) {
    Set<String> keys = new HashSet<>();
    for (int i = 0; i < 1000; i++) {
      keys.add(ApiKeys.generate(environment, type));
    }

    assertThat(keys).hasSize(1000).allMatch(key -> key.matches(prefix + "[0-9A-Za-z]{49}"));
    assertThat(keys).allMatch(ApiKeys::hasForm);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"", "sk_live_", "sk_prod_%s", "ak_test_%s", "sk_test_%s0", "sk_test_%s\n"})
  void otherTextIsNoKey(String form) {
    assertThat(ApiKeys.hasForm(form.formatted("a".repeat(43)))).isFalse();
  }

  @Test
  void aKeyWithOneCharacterWrongIsNoKey() {
    String key = ApiKeys.generate(Environment.LIVE, KeyType.SECRET);
    for (int i = 0; i < key.length(); i++) {
      for (char other : "0Aaz".toCharArray()) {
        String mistyped = key.substring(0, i) + other + key.substring(i + 1);
        assertThat(ApiKeys.hasForm(mistyped)).as(mistyped).isEqualTo(mistyped.equals(key));
      }
    }
  }

  @Test
  void twoNeighboursExchangedAreNoKey() {
    String key = ApiKeys.generate(Environment.TEST, KeyType.PUBLISHABLE);
    for (int i = 0; i + 1 < key.length(); i++) {
      String mistyped =
          key.substring(0, i) + key.charAt(i + 1) + key.charAt(i) + key.substring(i + 2);
      assertThat(ApiKeys.hasForm(mistyped)).as(mistyped).isEqualTo(mistyped.equals(key));
    }
  }

  /** What a scanner for leaked secrets computes, by hand. */
  @Test
  void theChecksumIsTheCrc32OfAllBeforeIt() {
    String unchecked = "sk_test_" + "a".repeat(43);

    assertThat(ApiKeys.hasForm(unchecked + "000000")).isFalse();
    assertThat(ApiKeys.hasForm(unchecked + "3WjOHY")).isTrue();
  }

  @Test
  void aKeyFromBeforeThereWereChecksumsStillIsOne() {
    assertThat(ApiKeys.hasForm("sk_live_" + "a".repeat(43))).isTrue();
  }

  @Test
  void theHashIsSha256OfTheText() {
    assertThat(HexFormat.of().formatHex(ApiKeys.hash("abc")))
        .isEqualTo("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  }

  @Test
  void theKeyIsInNoText() {
    ApiKeyView view = new ApiKeyView(Ids.next(IdKind.API_KEY), KeyType.SECRET, "sk_live_hidden");
    ApiKeyCreated created =
        new ApiKeyCreated(view.id(), KeyType.SECRET, "ci", "sk_live_hidden", Instant.EPOCH);
    MerchantCreated merchant =
        new MerchantCreated(
            Ids.next(IdKind.MERCHANT), "Acme", Environment.LIVE, ZoneId.of("UTC"), view);

    assertThat(view + " " + created + " " + merchant).doesNotContain("hidden");
  }
}
