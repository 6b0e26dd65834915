-- Operators close the public ports of a rental (decision 180, "Ports closed by operators").
alter table operator_orders drop constraint operator_orders_kind_check, add constraint operator_orders_kind_check
  check (kind in ('refund', 'refund_rentals', 'adjust', 'issue_invoice', 'void_invoice', 'write_off_invoice',
                  'terminate_rental', 'close_ports', 'reconcile_restored'));

-- Reports that nobody judged are kept for a shorter time than others, so they are found by their age.
drop index machine_reports_unjudged;
create index machine_reports_unjudged on machine_reports (received_at) where verdict is null;
