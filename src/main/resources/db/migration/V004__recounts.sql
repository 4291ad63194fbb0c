-- How often what had been counted in the period was to be counted anew, since the period had been
-- cut short after that. It tells what an event draws then from what it had drawn before.
ALTER TABLE subscription_period ADD recounts integer NOT NULL DEFAULT 0;
