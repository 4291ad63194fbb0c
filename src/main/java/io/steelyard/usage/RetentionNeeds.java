package io.steelyard.usage;

/** What still needs events, in SQL: rows of reason, merchant, subscription and a span of time. */
final class RetentionNeeds {
  // Only the earliest: whoever is later holds up no more.
  private static final String CLOCKS =
      """
      SELECT 'clock' AS reason, c.merchant_id, NULL::uuid AS subscription_id, c.since,
             timestamptz 'infinity' AS until
        FROM (SELECT m.id AS merchant_id, date_trunc('month', coalesce(m.clock_now, $4)) AS since
                FROM merchant m
               ORDER BY since, merchant_id
               LIMIT $2) c
      """;

  // The next period begins where this one ends, be it opened or not: so of each merchant the
  // earliest holds up all that is later. A period without end never closes, and needs what it has
  // counted no more.
  private static final String OPEN_PERIODS =
      """
      SELECT 'openPeriod', m.id, open.subscription_id, open.since, 'infinity'
        FROM merchant m
       CROSS JOIN LATERAL (
         SELECT s.id AS subscription_id, coalesce(p.period_start, s.start_date) AS since
           FROM subscription s
           LEFT JOIN subscription_period p
             ON p.merchant_id = s.merchant_id AND p.subscription_id = s.id
            AND p.period_index = s.period_index
          WHERE s.merchant_id = m.id AND s.status IN ('active', 'pendingActivation')
            AND p.period_end IS DISTINCT FROM $5
          ORDER BY since, s.id
          LIMIT 1) open
      """;

  private static final String INVOICES =
      """
      SELECT DISTINCT ON (m.id, p.period_start, p.period_end)
             'invoice', m.id, p.subscription_id, p.period_start, p.period_end
        FROM merchant m
        JOIN invoice i
          ON i.merchant_id = m.id AND i.status IN ('draft', 'pending', 'paused')
         AND i.issue_date IS NULL
        JOIN subscription_period p
          ON p.merchant_id = m.id AND p.subscription_id = i.subscription_id
         AND p.period_index = i.boundary_index - 1
      """;

  private static final String CORRECTIONS =
      """
      SELECT DISTINCT ON (r.merchant_id, p.period_start, p.period_end)
             'correction', r.merchant_id, r.subscription_id, p.period_start, p.period_end
        FROM rebill r
        JOIN subscription_period p
          ON p.merchant_id = r.merchant_id AND p.subscription_id = r.subscription_id
         AND p.period_index = r.period_index
       WHERE r.usage
      """;

  private static final String RECOUNTS =
      """
      SELECT 'recount', p.merchant_id, p.subscription_id, p.ready_until, p.period_end
        FROM subscription_period p
       WHERE p.ready_until < p.period_end
      """;

  // Nobody looks through a backlog of any size: a long one holds every month up.
  private static final String WAITING_EVENTS =
      """
      SELECT 'waitingEvents', w.merchant_id, NULL, w.since, w.since + interval '1 month'
        FROM (SELECT DISTINCT e.merchant_id, date_trunc('month', e.generated_at) AS since
                FROM waiting_event e
               WHERE (SELECT coalesce(sum(events), 0) FROM event_batch) <= $6) w
      UNION ALL
      SELECT DISTINCT 'waitingEvents', b.merchant_id, NULL::uuid, timestamptz '-infinity',
             timestamptz 'infinity'
        FROM event_batch b
       WHERE (SELECT coalesce(sum(events), 0) FROM event_batch) > $6
      """;

  private static final String OF_MONTHS =
      """
      WITH need (reason, merchant_id, subscription_id, since, until) AS MATERIALIZED (
      %s)
      SELECT to_char(m.since, 'YYYY-MM') AS month, n.reason, n.merchant_id, n.subscription_id
        FROM unnest($1::timestamptz[]) AS m (since)
       CROSS JOIN LATERAL (
         SELECT n.reason, n.merchant_id, n.subscription_id,
                row_number() OVER (PARTITION BY n.reason ORDER BY n.since, n.merchant_id) AS place
           FROM need n
          WHERE n.since < m.since + interval '1 month' AND n.until > m.since) n
       WHERE n.place <= $2
       ORDER BY m.since, array_position($3::text[], n.reason), n.place
      """;

  /**
   * The needs of months, by month and reason: $1 the months' first instants, $2 how many needs of a
   * month to tell of each reason, $3 the reasons in their order, $4 the system's time, $5 the end
   * of periods without one, $6 how many waiting events to look through.
   */
  static final String ALL =
      OF_MONTHS.formatted(
          String.join(
              "UNION ALL\n",
              CLOCKS,
              OPEN_PERIODS,
              bracketed(INVOICES),
              bracketed(CORRECTIONS),
              RECOUNTS,
              WAITING_EVENTS));

  /**
   * As {@link #ALL} with $1 to $3, but only those that may come up after a look at all: a
   * merchant's time goes forwards only and a closed period stays so, while an event that arrives
   * after that look is late, and counted as such.
   */
  static final String LATELY =
      OF_MONTHS.formatted(
          String.join("UNION ALL\n", bracketed(INVOICES), bracketed(CORRECTIONS), RECOUNTS));

  private RetentionNeeds() {}

  private static String bracketed(String select) {
    return "(" + select + ")\n";
  }
}
