package io.steelyard.web;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.steelyard.bus.Failure;
import io.steelyard.bus.Failure.Fault;
import io.steelyard.bus.FailureException;
import io.steelyard.domain.InvoiceStatus;
import io.steelyard.domain.Paging;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class QueryTest {
  private static final Set<String> ORDER_BY = Set.of("createdAt", "name");

  private static Query query(String raw) {
    return new Query(raw, List.of());
  }

  /** Faults of a list with the filter {@code name}, as {@code parameter code}. */
  private static List<String> faults(String raw) {
    Query query = query(raw);
    query.filters(List.of("name"));
    query.paging(ORDER_BY);
    return faults(query);
  }

  private static List<String> faults(Query query) {
    FailureException refused = catchThrowableOfType(FailureException.class, query::check);
    return refused == null
        ? List.of()
        : ((Failure.Invalid) refused.failure())
            .faults().stream().map(fault -> fault.parameter() + " " + fault.code()).toList();
  }

  @Test
  void whatIsLeftOutHasItsDefault() {
    for (String raw : new String[] {null, "", "&", "&&"}) {
      Query query = query(raw);

      assertThat(query.paging(ORDER_BY)).isEqualTo(new Paging(1, 20, false, "createdAt"));
      assertThat(query.filters(List.of("name"))).isEmpty();
      query.check();
    }
  }

  @Test
  void whatIsGivenIsDecodedAndTaken() {
    Query query = query("name=a+b%26%C3%A9&page=2147483647&pageSize=100&order=asc&orderBy=name");

    assertThat(query.filters(List.of("name", "email"))).isEqualTo(Map.of("name", "a b&é"));
    assertThat(query.paging(ORDER_BY)).isEqualTo(new Paging(2147483647, 100, true, "name"));
    query.check();
  }

  @ParameterizedTest
  @CsvSource({
    "page=0, page range",
    "page=-1, page type",
    "page=1.0, page type",
    "page=+1, page type",
    "page=２, page type",
    "page=2147483648, page range",
    "page=99999999999999999999, page range",
    "pageSize=0, pageSize range",
    "pageSize=101, pageSize range",
    "page, page min_length",
    "order=ASC, order enum",
    "orderBy=price, orderBy enum",
    "name=, name min_length",
    "name=a&name=a, name repeated",
    "name=%, name encoding",
    "name=%00, name encoding",
    "%ff=1, query encoding",
    "nam%65=a&name=b, name repeated",
    "Name=a, Name unknown_parameter",
    "=a, ' unknown_parameter'"
  })
  void aBadParameterIsAFault(String raw, String fault) {
    assertThat(faults(raw)).containsExactly(fault);
  }

  @Test
  void allFaultsComeTogetherWithThoseOfThePath() {
    Query query = new Query("page=0&x=1", List.of(Fault.parameter("id", "min_length", "Empty.")));
    query.paging(ORDER_BY);

    assertThat(faults(query)).containsExactly("id min_length", "page range", "x unknown_parameter");
  }

  @Test
  void aValueMayBeAsLongAsAnyTextAndNoLonger() {
    assertThat(faults("name=" + "x".repeat(8192))).isEmpty();
    assertThat(faults("name=" + "x".repeat(8193))).containsExactly("name max_length");
  }

  @Test
  void aNameOfAStateMustBeADocumentedOne() {
    Query good = query("status=readyToSync");
    good.mustName("status", InvoiceStatus.class);
    good.check();
    for (String value : new String[] {"READY_TO_SYNC", "readytosync", "lost"}) {
      Query bad = query("status=" + value);
      bad.mustName("status", InvoiceStatus.class);
      assertThat(faults(bad)).containsExactly("status enum");
    }
  }

  @Test
  void aListWithOneOrderHasNoOrderBy() {
    Query query = query("orderBy=createdAt");
    query.paging(Set.of());

    assertThat(faults(query)).containsExactly("orderBy unknown_parameter");
  }
}
