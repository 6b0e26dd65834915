/** Sends requests as before, and says of each that its answer has not begun after a while. */
export function tellingWhenLate(send: typeof fetch, lateMs: number, tell: () => void): typeof fetch {
  return async (input, init) => {
    const timer = setTimeout(tell, lateMs);
    try {
      return await send(input, init);
    } finally {
      clearTimeout(timer);
    }
  };
}
