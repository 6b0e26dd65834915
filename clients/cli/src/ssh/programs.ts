/** Tells whether a program could not be run because it is not installed. */
export function isMissingProgram(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}
