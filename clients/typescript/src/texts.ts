/** Escape sequences, control characters, and marks that turn the direction of writing or break a line. */
const dangerous = new RegExp(
  String.raw`\u001b\[[0-?]*[ -/]*[@-~]|[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]`,
  'g',
);

/** Takes out of a text what could move the cursor, change colours or turn other words around. */
export function plainText(text: string): string {
  return text.replace(dangerous, '');
}

/** Does the same to each text of an answer; line breaks stay. The answer is changed in place. */
export function plainAnswer<T>(answer: T): T {
  if (typeof answer === 'string') return answer.split('\n').map(plainText).join('\n') as T;
  if (typeof answer !== 'object' || answer === null) return answer;
  for (const [name, value] of Object.entries(answer)) {
    Object.assign(answer, { [name]: plainAnswer<unknown>(value) });
  }
  return answer;
}
