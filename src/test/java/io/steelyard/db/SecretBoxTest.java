package io.steelyard.db;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SecretBoxTest {
  private static final UUID MERCHANT = new UUID(1, 2);
  private static final String GATEWAY = "CardGateway";
  private static final String SECRET = "sk_test_4eC39HqLyjWDarjtT1zdp7dc";

  private final SecretBox box = new SecretBox(key((byte) 7));

  @Test
  void opensWhatItSealed() {
    byte[] sealed = box.seal(MERCHANT, GATEWAY, SECRET);

    assertThat(box.open(MERCHANT, GATEWAY, sealed)).contains(SECRET);
  }

  @Test
  void sealsTheSameSecretDifferentlyEachTimeAndNeverInClear() {
    byte[] first = box.seal(MERCHANT, GATEWAY, SECRET);
    byte[] second = box.seal(MERCHANT, GATEWAY, SECRET);

    assertThat(first).isNotEqualTo(second).hasSize(12 + SECRET.length() + 16);
    assertThat(new String(first, StandardCharsets.ISO_8859_1)).doesNotContain(SECRET);
  }

  @Test
  void doesNotOpenWhenAnyByteWasAltered() {
    byte[] sealed = box.seal(MERCHANT, GATEWAY, SECRET);

    for (int i = 0; i < sealed.length; i++) {
      byte[] altered = sealed.clone();
      altered[i] ^= 1;
      assertThat(box.open(MERCHANT, GATEWAY, altered)).as("byte %d", i).isEmpty();
    }
  }

  @Test
  void doesNotOpenWhatIsTooShortToBeSealed() {
    assertThat(box.open(MERCHANT, GATEWAY, new byte[27])).isEmpty();
  }

  @Test
  void doesNotOpenForAnotherMerchantOrGateway() {
    byte[] sealed = box.seal(MERCHANT, GATEWAY, SECRET);

    assertThat(box.open(new UUID(1, 3), GATEWAY, sealed)).isEmpty();
    assertThat(box.open(MERCHANT, "LedgerA", sealed)).isEmpty();
  }

  @Test
  void doesNotOpenWithAnotherKeyOrNone() {
    byte[] sealed = box.seal(MERCHANT, GATEWAY, SECRET);

    assertThat(new SecretBox(key((byte) 8)).open(MERCHANT, GATEWAY, sealed)).isEmpty();
    assertThat(new SecretBox(null).open(MERCHANT, GATEWAY, sealed)).isEmpty();
  }

  @Test
  void withoutKeySealsNothing() {
    SecretBox keyless = new SecretBox(null);

    assertThat(keyless.hasKey()).isFalse();
    assertThatThrownBy(() -> keyless.seal(MERCHANT, GATEWAY, SECRET))
        .isInstanceOf(IllegalStateException.class);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "c2hvcnQ=", "not*base64", "AAAAAAAAAAAAAAAAAAAAAA=="})
  void refusesKeyThatIsNot32Bytes(String bad) {
    assertThatThrownBy(() -> new SecretBox(bad))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("security.encryptionKey");
  }

  private static String key(byte fill) {
    byte[] bytes = new byte[32];
    java.util.Arrays.fill(bytes, fill);
    return Base64.getEncoder().encodeToString(bytes);
  }
}
