package io.steelyard.domain;

/**
 * Which page of a list, and in which order.
 *
 * @param page from 1
 * @param pageSize from 1 to 100
 * @param orderBy the documented name of the field to order by; ties break on the id
 */
public record Paging(int page, int pageSize, boolean ascending, String orderBy) {
  public long offset() {
    return (page - 1L) * pageSize;
  }

  /** How many pages {@code count} rows fill; 0 for none. */
  public long pages(long count) {
    return (count + pageSize - 1) / pageSize;
  }
}
