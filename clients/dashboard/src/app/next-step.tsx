import { Link } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { notedForm } from '../data/before-leaving.js';
import { familyName } from '../format/machine.js';
import { useBalance } from '../live/hooks.js';
import { readFamilySearch } from '../pages/rent/search.js';
import { nextTexts as t } from '../texts/next.js';
import { Callout } from '../ui/badge.js';
import { buttonClasses } from '../ui/button.js';

interface NextStepProps {
  /** What was done. */
  readonly title: string;
  readonly children: ReactNode;
}

/** Tells that a step towards a machine was done, and leads to the next one: to money, or with money to the machines. */
export function NextStep({ title, children }: NextStepProps) {
  const balance = useBalance();
  const hasMoney = balance !== undefined && balance.availableCents > 0;
  return (
    <Callout role="status" tone="good" title={title} actions={hasMoney ? <RentLink /> : <AddMoneyLink />}>
      {children}
    </Callout>
  );
}

function AddMoneyLink() {
  return (
    <Link to="/app/billing" className={buttonClasses('primary', 'small')}>
      {t.addMoney}
    </Link>
  );
}

/** Leads to the machines, or back to the form that was left for money. */
export function RentLink() {
  const [form] = useState(notedForm);
  const look = buttonClasses('primary', 'small');
  if (!form) {
    return (
      <Link to="/app/rent" className={look}>
        {t.rent}
      </Link>
    );
  }
  const { familyId } = form;
  const search = readFamilySearch({ ...form.search });
  return (
    <Link to="/app/rent/$familyId" params={{ familyId }} search={search} className={look}>
      {t.rentThat(familyName(familyId))}
    </Link>
  );
}
