/**
 * Ends a run of a type that no release since 0.2 starts; loops `upkeep:<duty>` do the work. `ops upgrade check` refuses
 * an upgrade while such a run is open.
 */
export const retired = (): Promise<void> => Promise.resolve();
