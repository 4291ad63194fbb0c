package io.steelyard;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.config.Config;
import io.steelyard.db.LentPrograms;
import io.steelyard.json.Json;
import io.steelyard.support.PostgresSupport;
import io.steelyard.support.TestConfig;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a first start says can be typed as it stands. */
class DemoIT {
  private static final Pattern WORD = Pattern.compile("'([^']*)'|(\\S+)");

  @TempDir Path data;
  private Service running;

  @AfterEach
  void stop() throws Exception {
    if (running != null) {
      assertThat(running.stop().await(60, TimeUnit.SECONDS)).isTrue();
      running = null;
    }
  }

  private void start() throws Exception {
    start(true);
  }

  private void start(boolean demo) throws Exception {
    LentPrograms.to(data);
    Config config =
        TestConfig.with(Map.of("database.dataDir", data.toString(), "demo.enabled", "" + demo));
    running = Service.start(config).await(120, TimeUnit.SECONDS);
  }

  private Optional<Demo.Introduction> demo() throws Exception {
    return running.demo().await(60, TimeUnit.SECONDS);
  }

  private String banner(Optional<Demo.Introduction> demo) {
    return Banner.text(
        running.publicUrl(),
        running.managementUrl(),
        Optional.of(running.config().operator().token()),
        demo,
        Instant.now());
  }

  /** The words of every line that begins with curl, quotes resolved as a shell does. */
  private static List<List<String>> commands(String text) {
    return text.lines()
        .map(String::strip)
        .filter(line -> line.startsWith("curl "))
        .map(
            line -> {
              List<String> words = new ArrayList<>();
              Matcher matcher = WORD.matcher(line);
              while (matcher.find()) {
                words.add(matcher.group(1) == null ? matcher.group(2) : matcher.group(1));
              }
              return words;
            })
        .toList();
  }

  private static HttpResponse<String> run(List<String> words) throws Exception {
    HttpRequest.Builder request = null;
    List<String> headers = new ArrayList<>();
    String body = null;
    for (int i = 1; i < words.size(); i++) {
      switch (words.get(i)) {
        case "-s" -> {}
        case "-H" -> headers.add(words.get(++i));
        case "-d" -> body = words.get(++i);
        default -> request = HttpRequest.newBuilder(URI.create(words.get(i)));
      }
    }
    for (String header : headers) {
      String[] parts = header.split(": ", 2);
      request.header(parts[0], parts[1]);
    }
    if (body != null) {
      request.POST(BodyPublishers.ofString(body));
    }
    try (HttpClient client = HttpClient.newHttpClient()) {
      return client.send(request.build(), HttpResponse.BodyHandlers.ofString());
    }
  }

  private List<String> merchants() {
    return PostgresSupport.column(running.database(), "SELECT name FROM merchant");
  }

  @Test
  void everyCommandOfTheBannerWorksAndTheNextStartShowsTheSame() throws Exception {
    start();
    Optional<Demo.Introduction> first = demo();
    List<List<String>> commands = commands(banner(first));
    assertThat(commands).hasSize(4);
    for (List<String> command : commands) {
      HttpResponse<String> answer = run(command);
      assertThat(answer.statusCode()).as(command + ": " + answer.body()).isBetween(200, 299);
    }
    assertThat(run(commands.get(3)).body()).contains("\"amount\":49");
    stop();

    start();
    Optional<Demo.Introduction> second = demo();

    assertThat(second).isEqualTo(first);
    assertThat(merchants()).containsExactly("Demo");
    assertThat(PostgresSupport.column(running.database(), "SELECT count(*) FROM customer"))
        .containsExactly("4");
    List<List<String>> again = commands(banner(second));
    assertThat(run(again.get(0)).statusCode()).isEqualTo(409);
    for (List<String> command : again.subList(1, 4)) {
      assertThat(run(command).statusCode()).isBetween(200, 299);
    }
  }

  @Test
  void seedingThatWasCutShortGoesOn() throws Exception {
    start();
    HttpResponse<String> created =
        run(
            List.of(
                "curl",
                running.managementUrl() + "/operator/merchants",
                "-H",
                "authorization: Bearer " + running.config().operator().token(),
                "-H",
                "content-type: application/json",
                "-d",
                "{\"name\": \"Demo\", \"environment\": \"test\"}"));
    Map<String, Object> merchant = Json.readMap(created.body());
    String key = (String) ((Map<?, ?>) merchant.get("apiKey")).get("key");
    assertThat(demo()).as("a merchant that is no demo is left alone").isEmpty();
    Files.writeString(data.resolve("demo-merchant.json.unfinished"), "{\"merch");
    Files.writeString(
        data.resolve("demo-merchant.json"),
        Json.encodeText(Map.of("merchantId", merchant.get("id"), "apiKey", key)));

    Demo.Introduction introduction = demo().orElseThrow();

    assertThat(introduction.apiKey()).isEqualTo(key);
    assertThat(merchants()).containsExactly("Demo");
    for (List<String> command : commands(banner(Optional.of(introduction)))) {
      assertThat(run(command).statusCode()).isBetween(200, 299);
    }
    assertThat(demo()).contains(introduction);
  }

  @Test
  void whatTheOwnerChangesStaysAndWhatIsMissingIsNotShown() throws Exception {
    start();
    demo();
    assertThat(Json.readMap(Files.readString(data.resolve("demo-merchant.json"))))
        .containsEntry("seeded", true);
    assertThat(Files.getPosixFilePermissions(data.resolve("demo-merchant.json")))
        .containsOnly(PosixFilePermission.OWNER_READ, PosixFilePermission.OWNER_WRITE);
    PostgresSupport.execute(
        running.database(), "UPDATE customer SET external_id = 'x-' || external_id");
    PostgresSupport.execute(running.database(), "DELETE FROM gateway_connection");
    stop();

    start();

    assertThat(commands(banner(demo()))).hasSize(1);
    assertThat(PostgresSupport.column(running.database(), "SELECT gateway FROM gateway_connection"))
        .isEmpty();
    assertThat(PostgresSupport.column(running.database(), "SELECT external_id FROM customer"))
        .hasSize(3)
        .allMatch(id -> id.startsWith("x-"));
  }

  @Test
  void aFileOfAnotherDatabaseOrABrokenOneDoesNotEndTheService() throws Exception {
    start();
    Files.writeString(data.resolve("demo-merchant.json"), "{\"merch");
    assertThat(demo()).isEmpty();
    assertThat(merchants()).isEmpty();
    Files.writeString(
        data.resolve("demo-merchant.json"),
        "{\"merchantId\": \"mrc_00000000000000000000000000\", \"apiKey\": \"sk_test_x\"}");

    assertThat(commands(banner(demo()))).hasSize(4);

    assertThat(merchants()).containsExactly("Demo");
  }

  @Test
  void aDemoThatIsNotWantedIsNotMade() throws Exception {
    start(false);

    assertThat(demo()).isEmpty();

    assertThat(merchants()).isEmpty();
    assertThat(commands(banner(Optional.empty()))).isEmpty();
  }
}
