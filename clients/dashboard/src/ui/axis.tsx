import { money } from '../format/money.js';

/** The amounts of a vertical axis, the highest first; each stands beside its height. */
export function Axis({ amounts }: { readonly amounts: readonly number[] }) {
  return (
    <div aria-hidden="true" className="-my-2.5 flex flex-col justify-between text-right leading-5">
      {amounts.map((cents, place) => (
        <span key={place}>{money(cents)}</span>
      ))}
    </div>
  );
}
