-- Months whose events were dropped. Their keys stay; what was counted of them can be counted by
-- nobody again.
CREATE TABLE event_month_dropped (
  month      date        NOT NULL PRIMARY KEY,  -- its first day, of UTC
  dropped_at timestamptz NOT NULL               -- for the last time, by the system's clock
);

-- To find and drop the months that are in there.
CREATE INDEX event_chunk_other_first_at ON event_chunk_other (first_at);
