-- The mails of one person, for the export of their account (decision 184, "One archive").
create index concurrently mail_outbox_of_recipient on mail_outbox (recipient, id);
