/**
 * Waits for work that can't be cancelled: it goes on all the same, and its late answer is dropped.
 * @param late makes the error of work that takes longer than `limitMs`
 */
export async function within<T>(
  limitMs: number,
  work: Promise<T>,
  late: () => Error = () => new Error(`no answer within ${limitMs} ms`),
): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(late()), limitMs);
  });
  try {
    return await Promise.race([work, limit]);
  } finally {
    clearTimeout(timer);
  }
}
