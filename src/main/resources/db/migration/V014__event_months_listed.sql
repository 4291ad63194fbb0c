-- What listing the months asks, in a form that is answered also where other nodes keep the events.

-- The bytes of a month's table, on whichever nodes it is.
CREATE FUNCTION event_month_bytes(month regclass) RETURNS bigint LANGUAGE plpgsql STABLE AS $$
DECLARE
  distributed boolean := false;
  bytes bigint;
BEGIN
  IF to_regclass('pg_catalog.pg_dist_partition') IS NOT NULL THEN
    EXECUTE 'SELECT EXISTS (SELECT FROM pg_catalog.pg_dist_partition WHERE logicalrelid = $1)'
      INTO distributed USING month;
  END IF;
  IF distributed THEN
    EXECUTE 'SELECT citus_total_relation_size($1)' INTO bytes USING month;
  ELSE
    bytes := pg_total_relation_size(month);
  END IF;
  RETURN bytes;
END $$;

-- The months of the table for all others, found one by one, by its index.
CREATE FUNCTION event_months_of_others() RETURNS TABLE (since timestamptz, bytes bigint)
LANGUAGE plpgsql STABLE AS $$
BEGIN
  SELECT date_trunc('month', min(c.first_at)) INTO since FROM event_chunk_other c;
  WHILE since IS NOT NULL LOOP
    SELECT sum(pg_column_size(c.content) + 64) INTO bytes -- a row's other columns and its header
      FROM event_chunk_other c
     WHERE c.first_at >= since AND c.first_at < since + interval '1 month';
    RETURN NEXT;
    SELECT date_trunc('month', min(c.first_at)) INTO since FROM event_chunk_other c
     WHERE c.first_at >= since + interval '1 month';
  END LOOP;
END $$;
