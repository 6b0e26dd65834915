interface SpendBarProps {
  /** What the bar shows, in words. */
  readonly label: string;
  readonly spentCents: number;
  /** What may still be spent by what is under way. */
  readonly reservedCents: number;
  readonly limitCents: number;
}

/** How much of a limit is spent, and how much of it is reserved beside. */
export function SpendBar({ label, spentCents, reservedCents, limitCents }: SpendBarProps) {
  const share = (cents: number): string => `${Math.min(100, (cents / Math.max(limitCents, 1)) * 100)}%`;
  return (
    <div role="img" aria-label={label} className="flex h-2 overflow-hidden rounded-full bg-line">
      <span className="bg-accent" style={{ width: share(spentCents) }} />
      <span className="bg-accent/40" style={{ width: share(reservedCents) }} />
    </div>
  );
}
