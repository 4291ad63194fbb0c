package io.steelyard.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class WebAddressTest {
  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "gateway.example",
        "/v1",
        "ftp://gateway.example",
        "javascript:alert(1)",
        "https://",
        "https:///path",
        "https://gateway.example:99999",
        "https://user:pass@gateway.example",
        "https://user@gateway.example",
        "https://gateway.example?x=1",
        "https://gateway.example#x",
        "https://gate way.example",
      })
  void isNoBaseOfAnApi(String text) {
    assertThat(WebAddress.asBase(text)).isEmpty();
  }

  @Test
  void baseLosesTheSlashesAtItsEnd() {
    assertThat(WebAddress.asBase("https://gateway.example/api//"))
        .contains("https://gateway.example/api");
    assertThat(WebAddress.asBase("HTTP://127.0.0.1:8080")).contains("HTTP://127.0.0.1:8080");
  }

  @Test
  void successUrlMayAskForTheSessionId() {
    assertThat(WebAddress.isSuccessUrl("https://shop.example/done?s={CHECKOUT_SESSION_ID}"))
        .isTrue();
    assertThat(WebAddress.isSuccessUrl("https://shop.example/done?s={OTHER}")).isFalse();
    assertThat(WebAddress.isSuccessUrl("javascript:alert(1)")).isFalse();
  }
}
