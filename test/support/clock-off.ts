/**
 * Does something while the clock of this process is wrong, and the database's is right.
 * @param aheadMs by how much it is ahead; below 0: it is behind
 */
export async function whileClockIsOff<T>(aheadMs: number, work: () => Promise<T>): Promise<T> {
  const clock = Date.now;
  Date.now = () => clock() + aheadMs;
  try {
    return await work();
  } finally {
    Date.now = clock;
  }
}
