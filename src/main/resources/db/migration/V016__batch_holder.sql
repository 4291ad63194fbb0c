-- Which process of a cluster has the events of a batch in memory and means to count them itself, so
-- that the others leave them to it for a while; null where none does. A process that does not know
-- the column leaves it null, and claims what others hold.
ALTER TABLE event_batch ADD COLUMN held_by uuid;
