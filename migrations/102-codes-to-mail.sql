-- The mails with a code that are to be sent: few, among any number of others (decision 188, "Codes before bulk").
create index concurrently mail_outbox_codes on mail_outbox (id) where sent_at is null and wipe_after_sending;
