-- When a key was last seen, to about a minute: an operator can tell which keys nobody uses any more.
-- Written in place: no index holds it. A process that does not know the column leaves it alone.
ALTER TABLE api_key ADD COLUMN last_used_at timestamptz;
