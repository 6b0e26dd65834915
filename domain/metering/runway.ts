/**
 * How long a prepaid balance lasts.
 * @returns seconds; Infinity while nothing is spent, and 0 when nothing is left
 */
export function runwaySeconds(balanceCents: number, burnCentsPerHour: number): number {
  if (balanceCents <= 0) return 0;
  return burnCentsPerHour === 0 ? Infinity : (balanceCents / burnCentsPerHour) * 3_600;
}
